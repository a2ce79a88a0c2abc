// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs icepath as a user would, and looks at what it said and left.
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace icepath::end_to_end {

struct Outcome {
	int exit_code = -1; // 128 + signal where it was killed; -1: it outlived its limit and was killed
	std::string out, err;
	double seconds = 0;
};

// A program that runs; killed (with its process group) when it goes out of scope.
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
	// What it has written to stderr so far.
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

// A folder of this test's own that everybody may enter, taken away at the end.
class Folder {
public:
	Folder();
	~Folder();
	const std::filesystem::path &path() const { return path_; }

private:
	std::filesystem::path path_;
};

std::string icepath_program();

// For -t: everything whose messages go from the sender's thread to the receiver's, in whatever process. What takes them through
// threads of its own, or goes only within one process, has tests of its own.
inline constexpr const char *kAllByTwoThreads = "all-transports,boost-mq,capnproto,iceoryx,iceoryx-c";
bool goes_by_two_threads(const nlohmann::json &target); // of `icepath list --json`
nlohmann::json read_json(const std::filesystem::path &file);

// What a run could leave behind on this machine.
struct Traces {
	std::vector<std::string> processes, shm, mqueue, sysv_queues, cgroups;
	std::vector<std::string> bpf_programs; // also those that only a link holds
	friend bool operator==(const Traces &, const Traces &) = default;
};
// Before a test. Programs of an earlier run go only after grace periods of the kernel's: waits 30 s for that, at most.
Traces traces_before();
// After it: as before, or what is there 3 s later.
Traces traces_after(const Traces &before);
std::ostream &operator<<(std::ostream &out, const Traces &traces);

// Children of a process (direct ones), by their names.
std::vector<pid_t> children_named(pid_t parent, const std::string &name);

// Ends one process through a pidfd, never by its name.
void kill_process(pid_t pid, int number);

} // namespace icepath::end_to_end
