// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs icepath as a user would, and examines its output and leftovers.
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace icepath::end_to_end {

struct Outcome {
	int exit_code = -1; // 128 + signal if killed; -1: exceeded its limit and was killed
	std::string out, err;
	double seconds = 0;
};

// A running program; its destructor kills it and its process group.
class Running {
public:
	// `environment` is added to this process's.
	Running(const std::vector<std::string> &arguments, const std::filesystem::path &directory,
			const std::map<std::string, std::string> &environment = {});
	~Running();
	Running(const Running &) = delete;
	Running &operator=(const Running &) = delete;
	void signal(int number) const;
	Outcome wait(std::chrono::seconds limit);
	// Its stderr so far.
	std::string err_so_far() const;
	pid_t pid() const { return pid_; }

private:
	std::filesystem::path out_, err_;
	pid_t pid_ = -1;
	bool reaped_ = false;
	std::chrono::steady_clock::time_point started_;
};

Outcome run(const std::vector<std::string> &arguments, const std::filesystem::path &directory,
			std::chrono::seconds limit = std::chrono::seconds(60),
			const std::map<std::string, std::string> &environment = {});

// The test's own folder, where everybody may make files; removed at the end.
class Folder {
public:
	Folder();
	~Folder();
	const std::filesystem::path &path() const { return path_; }

private:
	std::filesystem::path path_;
};

// The program that was built, or an installed copy of it: installed.h.
std::string icepath_program();

// For -t: everything whose messages go from the sender's thread to the receiver's, in any process. Other tests cover
// targets that pass messages through their own threads, or work only within one process.
inline constexpr const char *kAllByTwoThreads = "all-transports,boost-mq,capnproto,iceoryx,iceoryx-c";
bool goes_by_two_threads(const nlohmann::json &target); // of `icepath list --json`
nlohmann::json read_json(const std::filesystem::path &file);
std::string first_line(const std::filesystem::path &file); // empty: there is none

// What a run might leave behind on this machine.
struct Traces {
	std::vector<std::string> processes, shm, mqueue, sysv_queues, cgroups;
	std::vector<std::string> bpf_programs; // including those that only a link holds
	std::vector<std::string> settings; // whatever --isolate full may change of the machine: "file=value"
	friend bool operator==(const Traces &, const Traces &) = default;
};
// Before a test. An earlier run's programs go only after the kernel's grace periods: waits up to 30 s for that.
Traces traces_before();
// Afterwards: equal to `before`, or the state after 30 s: what is left stays, what is slow to go needn't.
Traces traces_after(const Traces &before);
std::ostream &operator<<(std::ostream &out, const Traces &traces);

std::vector<pid_t> children_of(pid_t parent); // direct ones
std::string name_of_process(pid_t pid); // empty: it has ended
// Direct children of a process, by name.
std::vector<pid_t> children_named(pid_t parent, const std::string &name);

// Signals one process through a pidfd, never by name.
void kill_process(pid_t pid, int number);

} // namespace icepath::end_to_end
