// SPDX-License-Identifier: Apache-2.0
#pragma once
// Folders that look like /sys and /proc of another machine.
#include <cstdint>
#include <string>

#include "cpuset/topology.h"

namespace icepath::cpuset {

class FakeMachine {
public:
	explicit FakeMachine(const std::string &folder = ""); // within which; that for temporary files where it isn't said
	~FakeMachine(); // removes the folder
	FakeMachine(const FakeMachine &) = delete;
	FakeMachine &operator=(const FakeMachine &) = delete;

	void write(const std::string &path, const std::string &content); // `path`: "/sys/…"; appends a newline
	void cpu(uint32_t number, uint32_t package, const std::string &siblings, const std::string &llc);
	void irq(uint32_t number, const std::string &name, const std::string &effective_cpus);

	Machine read() const; // all online CPUs are allowed
	Machine read(const Permission &permission) const;
	const std::string &root() const { return root_; }

private:
	std::string root_;
};

// Four cores with two threads each, one package, enumerated as Intel does: siblings are N and N+4.
void make_laptop(FakeMachine &machine);
// Two packages of four cores without SMT, one last-level cache each; CPUs 2, 3, 6 and 7 isolated and without tick.
void make_server(FakeMachine &machine);
// The two-CPU virtual machine without cpufreq and SMT.
void make_virtual_machine(FakeMachine &machine);
void make_single(FakeMachine &machine);

} // namespace icepath::cpuset
