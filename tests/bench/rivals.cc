// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/rivals.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "profiler/failure.h"
#include "tests/bench/child_program.h"
#include "tests/bench/report_text.h"

namespace icepath::bench {
namespace {

constexpr int kMeasureMs = 20000;

// Whether a line of a table in /proc/net has all of these words.
bool is_listed(const char *table, const std::vector<std::string> &words)
{
	std::ifstream file(table);
	for (std::string line; std::getline(file, line);)
		if (std::all_of(words.begin(), words.end(),
						[&](const std::string &word) { return line.find(word) != std::string::npos; }))
			return true;
	return false;
}

// A port of 127.0.0.1 that nobody has.
uint16_t free_port(int type)
{
	const Fd probe(socket(AF_INET, type | SOCK_CLOEXEC, 0));
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	socklen_t size = sizeof(address);
	auto *generic = reinterpret_cast<sockaddr *>(&address);
	if (bind(probe.get(), generic, size) || getsockname(probe.get(), generic, &size))
		throw Failure(ExitCode::MachineCannot, "127.0.0.1 has no free port");
	return ntohs(address.sin_port);
}

RivalReport sockperf(CpuPair cpus, bool tcp)
{
	const uint16_t port = free_port(tcp ? SOCK_STREAM : SOCK_DGRAM);
	const auto command = [&](std::vector<std::string> arguments) {
		arguments.insert(arguments.begin(), "sockperf");
		arguments.insert(arguments.end(), {"-i", "127.0.0.1", "-p", std::to_string(port)});
		if (tcp)
			arguments.emplace_back("--tcp");
		return arguments;
	};
	const Server server(command({"server"}), {.cpu = cpus.responder}, [&](const std::string &) {
		// 0A is TCP_LISTEN, 07 the state of a UDP socket that isn't connected.
		return is_listed(tcp ? "/proc/net/tcp" : "/proc/net/udp",
						 {fmt::format("0100007F:{:04X} 00000000:0000 {}", port, tcp ? "0A" : "07")});
	});
	const Ended client =
		run_to_end(command({"ping-pong", "-m", std::to_string(kPayloadBytes), "-t", "1", "--full-rtt"}),
				   {.cpu = cpus.initiator}, kMeasureMs);
	const auto report = parse_sockperf(client.output);
	if (client.code != 0 || !report)
		throw failure_of("sockperf ping-pong", client);
	return *report;
}

// For the names of sockets. A file system in memory that only this process and its children see: it goes with them,
// whatever kills them.
const std::string &private_folder()
{
	static const std::string folder = [] {
		const char *path = "/dev/shm";
		if (unshare(CLONE_NEWNS) || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) ||
			mount("icepath-bench", path, "tmpfs", 0, nullptr))
			throw Failure(ExitCode::MachineCannot,
						  fmt::format("cannot mount a folder for sockets: {}; root can", std::strerror(errno)));
		return path;
	}();
	return folder;
}

} // namespace

RivalReport sockperf_over_tcp(CpuPair cpus) { return sockperf(cpus, true); }
RivalReport sockperf_over_udp(CpuPair cpus) { return sockperf(cpus, false); }

RivalReport fio_over_uds(CpuPair cpus)
{
	static uint32_t calls = 0;
	const std::string socket = fmt::format("{}/{}", private_folder(), calls++);
	const auto command = [&](const std::string &name, const std::string &direction) {
		return std::vector<std::string>{"fio",
										"--name=" + name,
										"--thread",
										"--ioengine=net",
										"--protocol=unix",
										"--filename=" + socket,
										"--pingpong=1",
										"--rw=" + direction,
										fmt::format("--bs={}", kPayloadBytes),
										"--size=64g"};
	};
	// Who reads, listens. 00010000 is __SO_ACCEPTCON, the flag of a listening socket.
	const Server server(command("echo", "read"), {.cpu = cpus.responder},
						[&](const std::string &) { return is_listed("/proc/net/unix", {" 00010000 ", socket}); });
	auto arguments = command("ask", "write");
	arguments.insert(arguments.end(),
					 {"--runtime=1", "--ramp_time=400ms", "--percentile_list=50", "--output-format=json"});
	const Ended client = run_to_end(arguments, {.cpu = cpus.initiator}, kMeasureMs);
	// It ends with EISCONN: it takes leave by an address, as over UDP, after the last message.
	const auto report = parse_fio(client.output);
	if (!report)
		throw failure_of("fio", client);
	return *report;
}

std::optional<RivalReport> parse_sockperf(std::string_view output)
{
	const bool whole = output.find("Summary: Round trip is") != std::string_view::npos;
	if (!whole && output.find("Summary: Latency is") == std::string_view::npos)
		return std::nullopt;
	const auto p50_us = number<double>(output, "percentile 50.000 =");
	// What it counted in the middle of the run; the times before and after are its warm-up and cool-down.
	const size_t counted = output.find("[Valid Duration]");
	const auto trips = number<uint64_t>(output.substr(std::min(counted, output.size())), "ReceivedMessages=");
	for (const std::string_view bad : {"# dropped messages =", "# duplicated messages =", "# out-of-order messages ="})
		if (number<uint64_t>(output, bad) != 0u)
			return std::nullopt;
	if (!p50_us || !is_time(*p50_us) || !trips || *trips == 0)
		return std::nullopt;
	const auto version = field(output, "version #", " \n\x1b");
	return RivalReport{*p50_us * 1e3 * (whole ? 1 : 2), *trips, version ? std::string(*version) : ""};
}

std::optional<RivalReport> parse_fio(std::string_view output)
{
	using nlohmann::json;
	// Warnings may come before it, and what other threads say after it.
	const size_t begin = output.find('{'), end = output.rfind('}');
	if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
		return std::nullopt;
	const json told = json::parse(output.substr(begin, end - begin + 1), nullptr, false);
	const auto at = [&](const char *pointer) {
		const json::json_pointer path(pointer);
		return told.is_object() && told.contains(path) ? told.at(path) : json();
	};
	const json p50 = at("/jobs/0/write/clat_ns/percentile/50.000000"), trips = at("/jobs/0/write/total_ios"),
			   version = at("/fio version");
	if (!p50.is_number() || !is_time(p50.get<double>()) || !trips.is_number_unsigned() || trips.get<uint64_t>() == 0)
		return std::nullopt;
	return RivalReport{p50.get<double>(), trips.get<uint64_t>(), version.is_string() ? version.get<std::string>() : ""};
}

} // namespace icepath::bench
