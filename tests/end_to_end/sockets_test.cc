// SPDX-License-Identifier: Apache-2.0
// What decides a result outside of the program is in its report: congestion control, and where the kernel drops.
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

// This thread, and what it starts, in a network namespace with this congestion control.
void enter_network_with(const std::string &control)
{
	ASSERT_EQ(unshare(CLONE_NEWNET), 0) << std::strerror(errno);
	const int any = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ifreq up{};
	std::strcpy(up.ifr_name, "lo");
	up.ifr_flags = IFF_UP;
	ASSERT_EQ(ioctl(any, SIOCSIFFLAGS, &up), 0) << std::strerror(errno);
	close(any);
	std::ofstream("/proc/sys/net/ipv4/tcp_congestion_control") << control << std::flush;
	ASSERT_EQ(first_line("/proc/sys/net/ipv4/tcp_congestion_control"), control);
}

// The line of the short report that begins so.
std::string line_of(const std::string &report, const std::string &begin)
{
	const size_t at = report.find("\n" + begin);
	return at == std::string::npos ? "" : report.substr(at + 1, report.find('\n', at + 1) - at - 1);
}

Outcome run_tcp(const std::string &control, const std::filesystem::path &folder)
{
	Outcome outcome;
	std::thread([&] {
		enter_network_with(control);
		outcome =
			run({icepath_program(), "run", "-t", "tcp", "-s", "64", "--patterns", "pingpong", "-d", "3", "-o", control},
				folder);
	}).join();
	return outcome;
}

TEST(Sockets, TheReportTellsCongestionControl)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root, for a network namespace whose congestion control it may choose";
	const Folder folder;
	std::map<std::string, std::string> lines;
	std::istringstream allowed(first_line("/proc/sys/net/ipv4/tcp_allowed_congestion_control"));
	const std::vector<std::string> controls{std::istream_iterator<std::string>(allowed), {}};
	if (controls.size() < 2)
		GTEST_SKIP() << "a new network namespace may have one congestion control only: " << controls.at(0);
	for (const std::string &control : {controls[0], controls[1]}) {
		const Outcome outcome = run_tcp(control, folder.path());
		ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
		lines[control] = line_of(outcome.out, "sockets ");
		EXPECT_NE(lines[control].find("tcp: " + control + " "), std::string::npos) << outcome.out;
		const Json cell = read_json(folder.path() / control / "run.json")["cells"][0];
		for (const char *end : {"sender", "receiver"}) {
			ASSERT_EQ(cell["sockets"][end].size(), 1u) << cell["sockets"];
			EXPECT_EQ(cell["sockets"][end][0]["congestion_control"], control);
			EXPECT_EQ(cell["sockets"][end][0]["name"], "TCP");
			EXPECT_EQ(cell["sockets"][end][0]["no_delay"], true) << "as docs/transports.md has it";
		}
	}
	EXPECT_NE(lines[controls[0]], lines[controls[1]]);
}

// Bursts that the receive buffer can't hold.
TEST(Sockets, LostDatagramsHaveAPlace)
{
	const Folder folder;
	const Outcome outcome = run({icepath_program(), "run", "-t", "udp", "-s", "8k", "--patterns", "burst", "--demand",
								 "4000", "--recovery", "20ms", "-d", "4", "-o", "out"},
								folder.path());
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	const Json cell = read_json(folder.path() / "out/run.json")["cells"][0];
	const uint64_t lost = cell["messages"]["lost"];
	ASSERT_GT(lost, 0u) << cell["messages"];
	const uint64_t dropped = cell["sockets"]["receiver"][0]["dropped"];
	EXPECT_GE(dropped, lost) << "each lost message, and those of the warm-up";
	EXPECT_GE(cell["sockets"]["kernel_counts"]["udp_receive_buffer_full"], dropped);
	EXPECT_EQ(cell["sockets"]["sender"][0]["dropped"], 0);
	EXPECT_NE(line_of(outcome.out, "          lost ").find("messages lost: receive buffers full"), std::string::npos)
		<< outcome.out;
	const Outcome full = run({icepath_program(), "report", "-v", "out"}, folder.path());
	EXPECT_NE(full.out.find("full receive buffers"), std::string::npos) << full.out;
}

TEST(Sockets, ATargetWithoutSocketsHasNone)
{
	const Folder folder;
	const Outcome outcome =
		run({icepath_program(), "run", "-t", "pipe", "-s", "64", "--patterns", "pingpong", "-d", "3", "-o", "out"},
			folder.path());
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	EXPECT_TRUE(read_json(folder.path() / "out/run.json")["cells"][0]["sockets"].is_null());
	EXPECT_EQ(line_of(outcome.out, "sockets "), "");
}

} // namespace
} // namespace icepath::end_to_end
