// SPDX-License-Identifier: Apache-2.0
#include "tests/isolation/fake_host.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "profiler/isolation/full.h"
#include "profiler/isolation/tune.h"

namespace icepath::isolation {

namespace fs = std::filesystem;

FakeHost::FakeHost(Cgroups version)
	: machine_("/dev/shm") // where a journal that is on disk at each entry takes no time
{
	tree.root = machine_.root();
	fs::create_directories(tree.root + "/run");
	machine_.write("/sys/devices/system/cpu/online", "0-3");
	machine_.write("/sys/devices/system/cpu/present", "0-3");
	machine_.write("/proc/sys/kernel/random/boot_id", "7d2c4f0e");
	for (uint32_t cpu = 0; cpu < 4; cpu++) {
		machine_.cpu(cpu, 0, std::to_string(cpu), "0-3");
		const std::string number = std::to_string(cpu), policy = "/sys/devices/system/cpu/cpufreq/policy" + number;
		machine_.write("/sys/devices/system/cpu/cpu" + number + "/power/pm_qos_resume_latency_us", "0");
		machine_.write(policy + "/affected_cpus", number);
		machine_.write(policy + "/scaling_governor", cpu == 3 ? "performance" : "schedutil");
		machine_.write(policy + "/energy_performance_preference", "balance_performance");
	}
	machine_.irq(24, "nvme0q0", "1");
	machine_.irq(25, "nvme0q1", "2");
	machine_.irq(26, "eth0", "0");
	write("/proc/irq/24/smp_affinity_list", "0,1,2,3"); // as no kernel writes it, which is put back all the same
	write("/proc/irq/25/smp_affinity_list", "2-3");
	write("/proc/irq/26/smp_affinity_list", "0");
	write("/proc/irq/default_smp_affinity", "0000000f");
	write("/sys/devices/virtual/workqueue/cpumask", "f");
	write("/proc/sys/vm/stat_interval", "1");
	write("/proc/sys/kernel/watchdog_cpumask", "0-3");
	for (const char *limit : {"rmem_max", "wmem_max", "rmem_default", "wmem_default"})
		write(std::string("/proc/sys/net/core/") + limit, "212992");
	write("/proc/sys/vm/nr_hugepages", "3");
	write("/proc/meminfo", "MemTotal:        4194304 kB\nMemAvailable:    1048576 kB\nHugepagesize:       2048 kB");
	if (version == Cgroups::V2) {
		cgroups.emplace(tree.root);
		tree.at_change = [this](const std::string &path, bool after) { return cgroups->at_change(path, after); };
	}
}

Head FakeHost::head() const { return {boot_of(tree), getpid(), 1000, {2, 3}}; }

cpuset::Machine FakeHost::machine() const { return cpuset::read_machine({}, tree.root); }

std::vector<cpuset::Step> FakeHost::isolate(Changes &changes) const
{
	const cpuset::Machine now = machine();
	auto steps = isolation::isolate(changes, now, cpus_to_isolate(now, {2, 3}), "6.12.0");
	std::ranges::move(tune(changes, {{0, 0, 1 << 20}, {4, 0, 4}}), std::back_inserter(steps));
	return steps;
}

bool FakeHost::isolate_and_die(const std::function<bool(const std::string &path, bool after)> &dies,
							   rlim_t longest_file)
{
	const pid_t child = fork();
	if (child == 0) {
		const rlimit longest{longest_file, RLIM_INFINITY}, no_core{0, 0};
		setrlimit(RLIMIT_FSIZE, &longest);
		setrlimit(RLIMIT_CORE, &no_core);
		Tree watched{tree.root, [&](const std::string &path, bool after) {
						 if (!after && dies(path, after))
							 _exit(1);
						 const int refused = tree.at_change ? tree.at_change(path, after) : 0;
						 if (after && dies(path, after))
							 _exit(1);
						 return refused;
					 }};
		{
			Changes changes(watched, head());
			isolate(changes);
		}
		_exit(0);
	}
	int status = 0;
	waitpid(child, &status, 0);
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

std::map<std::string, std::string> FakeHost::files() const
{
	std::map<std::string, std::string> all;
	for (const auto &entry : fs::recursive_directory_iterator(tree.root)) {
		const std::string path = fs::relative(entry.path(), tree.root);
		if (path != kJournalPath)
			all[path] = entry.is_regular_file() ? read(path) : "";
	}
	return all;
}

std::string FakeHost::read(const std::string &path) const
{
	std::ifstream file(fs::path(tree.root + "/" + path), std::ios::binary);
	std::ostringstream bytes;
	bytes << file.rdbuf();
	return bytes.str();
}

void FakeHost::write(const std::string &path, const std::string &content) { machine_.write(path, content); }

void FakeHost::write_journal(const std::string &bytes)
{
	const std::string path = tree.root + "/" + kJournalPath;
	std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
	chmod(path.c_str(), 0600);
}

} // namespace icepath::isolation
