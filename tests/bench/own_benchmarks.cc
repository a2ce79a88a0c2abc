// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/own_benchmarks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "profiler/failure.h"
#include "tests/bench/child_program.h"
#include "tests/bench/report_text.h"

namespace icepath::bench {
namespace {

constexpr int kBenchmarkMs = 30000, kSoonMs = 5000;
constexpr uint32_t kTrips = 20000;

ChildProgram::How on(const Place &place, uint32_t cpu) { return {.cpu = cpu, .space = &place.space}; }

std::string version_of(const char *package)
{
	const Ended version = run_to_end({"dpkg-query", "-W", "-f", "${Version}", package}, {}, kSoonMs);
	return version.code == 0 ? version.output : "";
}

// Split at `separator`, without blanks around them.
std::vector<std::string_view> words_of(std::string_view line, char separator)
{
	std::vector<std::string_view> words;
	for (size_t end = 0; end != std::string_view::npos; line.remove_prefix(std::min(line.size(), end + 1))) {
		end = line.find(separator);
		std::string_view word = line.substr(0, end);
		word.remove_prefix(std::min(word.size(), word.find_first_not_of(' ')));
		word.remove_suffix(word.size() - (word.find_last_not_of(" \r") + 1));
		words.push_back(word);
	}
	return words;
}

// The words of each line after the first that has `heading`.
std::vector<std::vector<std::string_view>> rows_after(std::string_view text, std::string_view heading, char separator)
{
	std::vector<std::vector<std::string_view>> rows;
	text.remove_prefix(std::min(text.size(), text.find(heading)));
	for (size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
		text.remove_prefix(end + 1);
		rows.push_back(words_of(text.substr(0, text.find('\n')), separator));
	}
	return rows;
}

template <class Number> std::optional<Number> value_of(std::string_view word)
{
	Number value{};
	const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
	return error == std::errc() && end == word.data() + word.size() ? std::optional(value) : std::nullopt;
}

// A file of that text, which a child reads as /proc/self/fd/N.
Fd file_of(std::string_view text)
{
	Fd file = open_output();
	if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
		throw Failure(ExitCode::MachineCannot, "no memory for a program's input");
	return file;
}

} // namespace

std::optional<RivalReport> parse_ddsperf(std::string_view output)
{
	constexpr std::string_view kMedian = " 50% ", kCount = " cnt ";
	const size_t last = output.rfind(kMedian);
	if (last == std::string_view::npos)
		return std::nullopt;
	const auto half_us = number<double>(output.substr(last), kMedian, "u");
	const auto trips = number<uint64_t>(output.substr(last), kCount);
	if (!half_us || !is_time(*half_us) || !trips || *trips == 0)
		return std::nullopt;
	return RivalReport{*half_us * 2e3, *trips, ""};
}

RivalReport ddsperf(const Place &place, DdsMode mode, const std::string &config)
{
	const auto command = [&](std::vector<std::string> arguments) {
		arguments.insert(arguments.begin(), {"env", "CYCLONEDDS_URI=" + config, "ddsperf"});
		arguments.emplace_back(mode == DdsMode::Listener ? "listener" : "waitset");
		return arguments;
	};
	const Server pong(command({"pong"}), on(place, place.cpus.responder),
					  [](const std::string &) { return true; }); // ping discovers it
	const Ended ping = run_to_end(command({"-D", "3", "ping", "size", std::to_string(kPayloadBytes)}),
								  on(place, place.cpus.initiator), kBenchmarkMs);
	auto report = parse_ddsperf(ping.output);
	if (ping.code != 0 || !report)
		throw failure_of("ddsperf ping", ping);
	report->version = version_of("cyclonedds-tools");
	return *report;
}

std::optional<RivalReport> parse_iceperf(std::string_view output)
{
	constexpr std::string_view kResult = "#### Measurement Result ####", kRows = "| Payload Size [kB] |";
	const size_t begin = output.find(kResult);
	if (begin == std::string_view::npos)
		return std::nullopt;
	output.remove_prefix(begin);
	const auto trips = number<uint64_t>(output, "####\n", " ");
	for (const auto &row : rows_after(output, kRows, '|'))
		if (row.size() == 4 && value_of<uint64_t>(row[1]) == kIceperfBytes / 1024)
			if (const auto half_us = value_of<double>(row[2]); half_us && is_time(*half_us) && trips && *trips > 0)
				return RivalReport{*half_us * 2e3, *trips, ""};
	return std::nullopt;
}

RivalReport iceperf(const Place &place, const std::string &folder)
{
	// Its chunks are as the library has them by default: of up to 4 MiB, which iceperf asks for.
	const Server roudi({"iox-roudi"}, {.space = &place.space}, [](const std::string &output) {
		return output.find("RouDi is ready for clients") != std::string::npos;
	});
	const Server follower({folder + "/iceperf-bench-follower"}, on(place, place.cpus.responder),
						  [](const std::string &) { return true; }); // the leader waits for it
	const Ended leader = run_to_end(
		{folder + "/iceperf-bench-leader", "-b", "latency", "-t", "iceoryx-cpp-api", "-n", std::to_string(kTrips)},
		on(place, place.cpus.initiator), kBenchmarkMs);
	auto report = parse_iceperf(leader.output);
	if (leader.code != 0 || !report)
		throw failure_of("iceperf-bench-leader", leader);
	report->version = version_of("iceoryx"); // of iox-roudi
	return *report;
}

std::optional<RivalReport> parse_latency_test(std::string_view output)
{
	enum Column { Bytes, Samples, Deviation, Mean, Minimum, Median, Columns = 10 };
	for (const auto &row : rows_after(output, "Printing round-trip times", ',')) {
		if (row.size() != Columns || value_of<uint64_t>(row[Bytes]) != kPayloadBytes)
			continue;
		const auto half_us = value_of<double>(row[Median]);
		const auto trips = value_of<uint64_t>(row[Samples]);
		if (half_us && is_time(*half_us) && trips && *trips > 0)
			return RivalReport{*half_us * 2e3, *trips, ""};
	}
	return std::nullopt;
}

RivalReport latency_test(const Place &place, FastTransport transport, const std::string &program)
{
	const Fd sizes = file_of(fmt::format("{};", kPayloadBytes));
	const auto command = [&](const char *side) {
		return std::vector<std::string>{
			program,
			side,
			"--reliability=reliable",
			fmt::format("--samples={}", kTrips),
			fmt::format("--shared_memory={}", transport == FastTransport::Udp ? "off" : "on"),
			"--data_sharing=off",
			fmt::format("--file=/proc/self/fd/{}", sizes.get())};
	};
	const auto how = [&](uint32_t cpu) {
		ChildProgram::How it = on(place, cpu);
		it.keep = {sizes.get()};
		return it;
	};
	ChildProgram subscriber(command("subscriber"), how(place.cpus.responder));
	const Ended publisher = run_to_end(command("publisher"), how(place.cpus.initiator), kBenchmarkMs);
	auto report = parse_latency_test(publisher.output);
	if (publisher.code != 0 || !report)
		throw failure_of("LatencyTest publisher", publisher);
	subscriber.wait(kSoonMs); // it takes its shared memory away
	report->version = version_of("libfastrtps2.9");
	return *report;
}

std::optional<RivalReport> parse_z_ping(std::string_view output)
{
	constexpr std::string_view kMicroseconds = "\xc2"; // the first byte of their sign
	const std::string head = fmt::format("{} bytes: seq=", kPayloadBytes);
	std::vector<double> trips_ns;
	for (size_t at = output.find(head); at != std::string_view::npos; at = output.find(head, at + 1)) {
		const std::string_view line = output.substr(at, output.find('\n', at) - at);
		const auto us = number<uint64_t>(line, " rtt=", kMicroseconds);
		if (number<uint64_t>(line, head) != trips_ns.size() || !us)
			return std::nullopt;
		trips_ns.push_back(static_cast<double>(*us) * 1e3 + 500);
	}
	if (trips_ns.empty())
		return std::nullopt;
	const uint64_t trips = trips_ns.size();
	return RivalReport{median(std::move(trips_ns)), trips, ""};
}

RivalReport z_ping(const Place &place, bool express, const std::string &folder)
{
	constexpr int kAnswerMs = 1000, kMostTries = 5;
	const auto command = [&](const char *program, const char *end, std::vector<std::string> more) {
		std::vector<std::string> all = {fmt::format("{}/{}", folder, program), "--no-multicast-scouting",
										"--cfg=scouting/gossip/enabled:false", end, "tcp/127.0.0.1:7447"};
		if (!express)
			all.emplace_back("--no-express");
		all.insert(all.end(), more.begin(), more.end());
		return all;
	};
	const auto ping = [&](uint32_t trips, const char *warm_up_s) {
		// Without --cfg it listens on IPv6 as well, which may be missing.
		return command("z_ping", "-e",
					   {"--cfg=listen/endpoints:[]", fmt::format("-n{}", trips), fmt::format("-w{}", warm_up_s),
						std::to_string(kPayloadBytes)});
	};
	const Server pong(command("z_pong", "-l", {}), on(place, place.cpus.responder),
					  [](const std::string &) { return true; }); // it says nothing
	// A ping waits forever if z_pong had no subscriber yet.
	for (int tries = 1; ChildProgram(ping(1, "0"), on(place, place.cpus.initiator)).wait(tries * kAnswerMs) != 0;
		 tries++)
		if (tries == kMostTries)
			throw Failure(ExitCode::Invalid, fmt::format("no z_ping in {0} gets an answer of z_pong in {0}", folder));
	const Ended told = run_to_end(ping(kTrips, "1"), on(place, place.cpus.initiator), kBenchmarkMs);
	const auto report = parse_z_ping(told.output);
	if (told.code != 0 || !report)
		throw failure_of("z_ping", told);
	return *report;
}

} // namespace icepath::bench
