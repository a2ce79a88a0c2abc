// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/command.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <glob.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <thread>

#include "tests/end_to_end/installed.h"
#include "tests/folders.h"

namespace icepath::end_to_end {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string slurp(const fs::path &file)
{
	std::ifstream stream(file, std::ios::binary);
	std::ostringstream text;
	text << stream.rdbuf();
	return text.str();
}

fs::path temporary_file()
{
	std::string name = fs::temp_directory_path() / "icepath-test-XXXXXX";
	close(mkstemp(name.data()));
	return name;
}

std::string comm_of(const std::string &pid)
{
	std::string name = slurp("/proc/" + pid + "/comm");
	while (!name.empty() && name.back() == '\n')
		name.pop_back();
	return name;
}

bool is_pid(const std::string &name) { return !name.empty() && std::all_of(name.begin(), name.end(), ::isdigit); }

// By the program names in ebpf/capture.bpf.c, of which the kernel keeps 15 characters.
bool is_of_capture(std::string_view program)
{
	constexpr std::string_view kPrefixes[] = {"on_", "fentry_", "fexit_", "kprobe_", "kretprobe_"};
	return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return program.starts_with(prefix); });
}

std::vector<std::string> names_in(const fs::path &folder)
{
	std::vector<std::string> names;
	std::error_code none;
	for (const auto &entry : fs::directory_iterator(folder, none))
		names.push_back(entry.path().filename());
	std::sort(names.begin(), names.end());
	return names;
}

// State and parent of a process, of which nothing may be left.
struct Status {
	char state = 0; // 'Z' once it has ended and waits for its parent, 0 after that
	pid_t parent = 0;
};

Status status_of(const std::string &pid)
{
	Status status;
	const std::string stat = slurp("/proc/" + pid + "/stat");
	if (const size_t close = stat.rfind(')'); close != std::string::npos)
		std::istringstream(stat.substr(close + 1)) >> status.state >> status.parent;
	return status;
}

// Whether this process started it. What loses its parent becomes a child of this process (take_own_machine()).
bool is_descendant(const std::string &pid)
{
	pid_t parent = status_of(pid).parent;
	while (parent > 1 && parent != getpid())
		parent = status_of(std::to_string(parent)).parent;
	return parent == getpid();
}

// Those that processes of others hold, by a program or by its link.
std::set<uint32_t> bpf_programs_of_others()
{
	constexpr std::string_view kKey = "prog_id:";
	std::set<uint32_t> ids;
	std::error_code gone;
	for (const std::string &pid : names_in("/proc")) {
		if (!is_pid(pid) || is_descendant(pid))
			continue;
		for (const auto &entry : fs::directory_iterator("/proc/" + pid + "/fdinfo", gone)) {
			const std::string text = slurp(entry.path());
			if (const size_t at = text.find(kKey); at != std::string::npos)
				ids.insert(static_cast<uint32_t>(std::stoul(text.substr(at + kKey.size()))));
		}
	}
	return ids;
}

// Their ids, in this process's IPC namespace.
std::vector<std::string> sysv_queues()
{
	std::vector<std::string> queues;
	std::istringstream table(slurp("/proc/sysvipc/msg"));
	std::string line, key, id;
	for (std::getline(table, line); table >> key >> id && std::getline(table, line);)
		queues.push_back(id);
	return queues;
}

// By icepath's names for them, near the top of each hierarchy.
std::vector<std::string> cgroups()
{
	constexpr int kDeepest = 4;
	std::vector<std::string> found;
	std::error_code none;
	for (auto entry = fs::recursive_directory_iterator("/sys/fs/cgroup", none);
		 entry != fs::recursive_directory_iterator(); entry.increment(none)) {
		if (!entry->is_directory(none) || entry.depth() >= kDeepest)
			entry.disable_recursion_pending();
		else if (entry->path().filename().string().starts_with("icepath"))
			found.push_back(entry->path());
	}
	std::sort(found.begin(), found.end());
	return found;
}

// Read by itself, not by the list that the keeper has.
std::vector<std::string> settings_of_the_machine()
{
	std::vector<std::string> settings;
	for (const char *pattern :
		 {"/proc/irq/*/smp_affinity_list", "/proc/irq/default_smp_affinity", "/sys/devices/virtual/workqueue/cpumask",
		  "/proc/sys/vm/stat_interval", "/proc/sys/kernel/watchdog_cpumask", "/proc/sys/net/core/[rw]mem_*",
		  "/proc/sys/vm/nr_hugepages", "/proc/sys/fs/mqueue/*",
		  "/sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us",
		  "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
		  "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference",
		  "/sys/fs/cgroup/cgroup.subtree_control", "/sys/fs/cgroup/*/cpuset.cpus.partition", "/run/icepath.journal"}) {
		glob_t found{};
		if (glob(pattern, 0, nullptr, &found) == 0)
			for (size_t i = 0; i < found.gl_pathc; i++)
				settings.push_back(std::string(found.gl_pathv[i]) + "=" + slurp(found.gl_pathv[i]));
		globfree(&found);
	}
	std::erase(settings, "/run/icepath.journal="); // an empty one says that nothing is changed
	return settings;
}

// In the kernel, but for those that processes of others hold.
std::vector<std::string> bpf_programs_of_captures()
{
	std::map<uint32_t, std::string> names; // by id
	for (__u32 id = 0; bpf_prog_get_next_id(id, &id) == 0;) {
		const int program = bpf_prog_get_fd_by_id(id);
		bpf_prog_info info{};
		__u32 size = sizeof(info);
		if (program >= 0 && bpf_obj_get_info_by_fd(program, &info, &size) == 0 && is_of_capture(info.name))
			names[id] = info.name;
		close(program);
	}
	if (!names.empty())
		for (const uint32_t id : bpf_programs_of_others())
			names.erase(id);
	std::vector<std::string> programs;
	for (const auto &[id, name] : names)
		programs.push_back(name);
	return programs;
}

Traces traces_on_this_machine()
{
	Traces traces;
	for (const std::string &pid : names_in("/proc"))
		if (is_pid(pid) && is_descendant(pid) && status_of(pid).state != 'Z')
			traces.processes.push_back(comm_of(pid));
	traces.shm = names_in("/dev/shm");
	traces.mqueue = names_in("/dev/mqueue");
	traces.sysv_queues = sysv_queues();
	traces.cgroups = cgroups();
	traces.settings = settings_of_the_machine();
	traces.bpf_programs = bpf_programs_of_captures();
	std::sort(traces.processes.begin(), traces.processes.end());
	return traces;
}

} // namespace

Running::Running(const std::vector<std::string> &arguments, const fs::path &directory,
				 const std::map<std::string, std::string> &environment)
	: out_(temporary_file()), err_(temporary_file()), started_(std::chrono::steady_clock::now())
{
	pid_ = fork();
	if (pid_ == 0) {
		setpgid(0, 0);
		if (chdir(directory.c_str()))
			_exit(126);
		for (const auto &[name, value] : environment)
			setenv(name.c_str(), value.c_str(), 1);
		dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
		dup2(open(out_.c_str(), O_WRONLY | O_TRUNC), STDOUT_FILENO);
		dup2(open(err_.c_str(), O_WRONLY | O_TRUNC), STDERR_FILENO);
		std::vector<std::string> copies = arguments;
		std::vector<char *> argv;
		for (std::string &copy : copies)
			argv.push_back(copy.data());
		argv.push_back(nullptr);
		execvp(argv[0], argv.data());
		_exit(127);
	}
	setpgid(pid_, pid_);
}

Running::~Running()
{
	if (!reaped_) {
		kill(-pid_, SIGKILL);
		waitpid(pid_, nullptr, 0);
	}
	fs::remove(out_);
	fs::remove(err_);
}

void Running::signal(int number) const { kill(pid_, number); }

std::string Running::err_so_far() const { return slurp(err_); }

Outcome Running::wait(std::chrono::seconds limit)
{
	Outcome outcome;
	int status = 0;
	const auto give_up = std::chrono::steady_clock::now() + limit;
	while (!reaped_ && waitpid(pid_, &status, WNOHANG) == 0) {
		if (std::chrono::steady_clock::now() > give_up)
			break;
		std::this_thread::sleep_for(5ms);
	}
	outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
	if (std::chrono::steady_clock::now() <= give_up) {
		reaped_ = true;
		outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	outcome.out = slurp(out_);
	outcome.err = slurp(err_);
	return outcome;
}

Outcome run(const std::vector<std::string> &arguments, const fs::path &directory, std::chrono::seconds limit,
			const std::map<std::string, std::string> &environment)
{
	return Running(arguments, directory, environment).wait(limit);
}

Folder::Folder()
{
	std::string name = fs::temp_directory_path() / "icepath-test-XXXXXX";
	path_ = mkdtemp(name.data());
	chmod(path_.c_str(), 0777);
}

Folder::~Folder()
{
	std::error_code none;
	fs::remove_all(path_, none);
}

std::string icepath_program() { return installed_program(test::in_build("bin/icepath")); }

bool goes_by_two_threads(const nlohmann::json &target)
{
	return !target.at("by_other_threads").get<bool>() && target.at("between_processes").get<bool>();
}

nlohmann::json read_json(const fs::path &file) { return nlohmann::json::parse(slurp(file)); }

// Other tests make and remove files in memory, queues and processes as well, and nothing of a file or a queue tells
// whose library made it. So what this test starts has a /dev/shm, System V queues and a /dev/mqueue of its own, which
// end with the test, and this process becomes the parent of what loses its own.
void take_own_machine()
{
	static const bool taken = unshare(CLONE_NEWNS | CLONE_NEWIPC) == 0 &&
							  mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 &&
							  mount("of-a-test", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0 &&
							  prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
	EXPECT_TRUE(taken) << "the test's own machine: " << strerror(errno);
	mount("of-a-test", "/dev/mqueue", "mqueue", 0, nullptr); // where there is such a folder
}

// Those that are as wanted, or of 30 s later.
template <class IsWanted> Traces traces_once(const IsWanted &is_wanted)
{
	const auto give_up = std::chrono::steady_clock::now() + 30s;
	Traces traces = traces_on_this_machine();
	for (; !is_wanted(traces) && std::chrono::steady_clock::now() < give_up; traces = traces_on_this_machine())
		std::this_thread::sleep_for(10ms);
	return traces;
}

Traces traces_before()
{
	take_own_machine();
	return traces_once([](const Traces &traces) { return traces.bpf_programs.empty(); });
}

std::string first_line(const fs::path &file)
{
	std::string line;
	std::ifstream in(file);
	std::getline(in, line);
	return line;
}

Traces traces_after(const Traces &before)
{
	return traces_once([&](const Traces &traces) { return traces == before; });
}

std::ostream &operator<<(std::ostream &out, const Traces &traces)
{
	for (const auto &[what, names] : {std::pair{"processes", &traces.processes},
									  {"/dev/shm", &traces.shm},
									  {"/dev/mqueue", &traces.mqueue},
									  {"ipcs -q", &traces.sysv_queues},
									  {"cgroups", &traces.cgroups},
									  {"bpf", &traces.bpf_programs},
									  {"settings", &traces.settings}}) {
		out << what << ":";
		for (const std::string &name : *names)
			out << " " << name;
		out << "; ";
	}
	return out;
}

std::vector<pid_t> children_of(pid_t parent)
{
	std::vector<pid_t> found;
	std::istringstream children(
		slurp("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children"));
	for (pid_t child = 0; children >> child;)
		found.push_back(child);
	return found;
}

std::string name_of_process(pid_t pid) { return comm_of(std::to_string(pid)); }

std::vector<pid_t> children_named(pid_t parent, const std::string &name)
{
	std::vector<pid_t> found = children_of(parent);
	std::erase_if(found, [&](pid_t child) { return name_of_process(child) != name; });
	return found;
}

void kill_process(pid_t pid, int number)
{
	const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
	syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, 0);
	close(pidfd);
}

} // namespace icepath::end_to_end
