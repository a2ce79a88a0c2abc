// SPDX-License-Identifier: Apache-2.0
#include "tests/privilege/taken_over.h"
#include "tests/folders.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/privilege/inside.h"

namespace icepath::privilege {
namespace {

// A BPF program that returns 0: r0 = 0; exit.
constexpr std::array<bpf_insn, 2> kNothing = {
	{{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0}, {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}}};

long load_program(Inside &inside)
{
	struct {
		bpf_attr attributes;
		std::array<bpf_insn, 2> program;
		char licence[16];
	} all{};
	const long address = inside.holding(&all, sizeof(all));
	all.program = kNothing;
	std::strcpy(all.licence, "GPL");
	all.attributes.prog_type = BPF_PROG_TYPE_TRACEPOINT;
	all.attributes.insn_cnt = all.program.size();
	all.attributes.insns = static_cast<uint64_t>(address) + offsetof(decltype(all), program);
	all.attributes.license = static_cast<uint64_t>(address) + offsetof(decltype(all), licence);
	return inside.call(SYS_bpf, {BPF_PROG_LOAD, inside.holding(&all, sizeof(all)), sizeof(bpf_attr)});
}

long find_program(Inside &inside)
{
	bpf_attr attributes{};
	return inside.call(SYS_bpf,
					   {BPF_PROG_GET_NEXT_ID, inside.holding(&attributes, sizeof(attributes)), sizeof(attributes)});
}

long watch_everything(Inside &inside)
{
	perf_event_attr attributes{};
	attributes.size = sizeof(attributes);
	attributes.type = PERF_TYPE_SOFTWARE;
	attributes.config = PERF_COUNT_SW_CPU_CLOCK;
	return inside.call(SYS_perf_event_open, {inside.holding(&attributes, sizeof(attributes)), -1, 0, -1, 0});
}

long connect_to(Inside &inside, int domain) { return inside.call(SYS_socket, {domain, SOCK_STREAM, 0}); }

long pin_init(Inside &inside)
{
	cpu_set_t cpus;
	CPU_ZERO(&cpus);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		CPU_SET(cpu, &cpus); // its present CPUs
	return inside.call(SYS_sched_setaffinity, {1, sizeof(cpus), inside.holding(&cpus, sizeof(cpus))});
}

long open_file(Inside &inside, const std::string &path, int flags)
{
	return inside.call(SYS_openat, {AT_FDCWD, inside.holding(path), flags | O_CLOEXEC, 0600});
}

long execute(Inside &inside)
{
	// Without arguments. If allowed, the process is gone, and with it this test.
	return inside.call(SYS_execve, {inside.holding("/bin/true"), 0, 0});
}

std::string file_to_make() { return "/tmp/icepath-taken-over-" + std::to_string(getpid()); }

// By their names in the table.
const std::map<std::string, std::function<long(Inside &)>> kAttempts = {
	{"read /etc/shadow", [](Inside &inside) { return open_file(inside, "/etc/shadow", O_RDONLY); }},
	{"read a file that everybody may read", [](Inside &inside) { return open_file(inside, "/etc/passwd", O_RDONLY); }},
	{"write /etc/passwd", [](Inside &inside) { return open_file(inside, "/etc/passwd", O_WRONLY); }},
	{"make a file in /tmp", [](Inside &inside) { return open_file(inside, file_to_make(), O_RDONLY | O_CREAT); }},
	{"remove a file of root's",
	 [](Inside &inside) { return inside.call(SYS_unlinkat, {AT_FDCWD, inside.holding("/etc/hostname"), 0}); }},
	{"signal process 1", [](Inside &inside) { return inside.call(SYS_kill, {1, 0}); }},
	{"trace process 1", [](Inside &inside) { return inside.call(SYS_ptrace, {PTRACE_SEIZE, 1, 0, 0}); }},
	{"set the affinity of process 1", pin_init},
	{"become root", [](Inside &inside) { return inside.call(SYS_setresuid, {0, 0, 0}); }},
	{"load a BPF program", load_program},
	{"find others' BPF programs", find_program},
	{"open a perf event on all tasks", watch_everything},
	{"map memory that is written and run",
	 [](Inside &inside) {
		 return inside.call(SYS_mmap,
							{0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0});
	 }},
	{"connect to a UNIX socket", [](Inside &inside) { return connect_to(inside, AF_UNIX); }},
	{"connect over the network", [](Inside &inside) { return connect_to(inside, AF_INET); }},
	{"mount",
	 [](Inside &inside) {
		 // Mounts nothing, because the source is checked last.
		 const long result = inside.call(SYS_mount, {0, inside.holding("/"), 0, MS_BIND, 0});
		 return result == -EINVAL ? 0 : result;
	 }},
	{"load a kernel module",
	 [](Inside &inside) {
		 const long result = inside.call(SYS_finit_module, {-1, inside.holding(""), 0});
		 return result == -EBADF ? 0 : result;
	 }},
	{"run a program", execute},
};

// The table's rows: the attempt, then a word for each process.
using Row = std::vector<std::string>;

std::string trimmed(const std::string &text)
{
	const size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
	return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

std::vector<Row> table()
{
	std::ifstream page(test::in_source("docs/privilege.md"));
	std::vector<Row> rows;
	bool within = false;
	for (std::string line; std::getline(page, line);) {
		if (line.starts_with("| if it were taken over"))
			within = true;
		else if (!line.starts_with("|"))
			within = false;
		if (!within)
			continue;
		Row row;
		std::istringstream cells(line.substr(1));
		for (std::string cell; std::getline(cells, cell, '|');)
			row.push_back(trimmed(cell));
		rows.push_back(row);
	}
	return rows;
}

} // namespace

void expect_as_the_page_says(const std::string &heading, pid_t pid)
{
	const std::vector<Row> rows = table();
	ASSERT_GT(rows.size(), 2u) << test::in_source("docs/privilege.md");
	const auto column = static_cast<size_t>(std::ranges::find(rows[0], heading) - rows[0].begin());
	ASSERT_LT(column, rows[0].size()) << heading;
	EXPECT_EQ(rows.size() - 2, kAttempts.size()) << "each attempt has its row";
	for (size_t row = 2; row < rows.size(); row++) {
		const auto attempt = kAttempts.find(rows[row][0]);
		ASSERT_NE(attempt, kAttempts.end()) << rows[row][0];
		if (rows[row][column] == "possible" && attempt->first == "run a program")
			continue; // would belong to another process
		usleep(1000); // sleeps again
		Inside inside(pid);
		const long result = attempt->second(inside);
		unlink(file_to_make().c_str());
		EXPECT_EQ(result >= 0 ? "possible" : "refused", rows[row][column])
			<< heading << ": " << attempt->first << ": " << result;
	}
}

} // namespace icepath::privilege
