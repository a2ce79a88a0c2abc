// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/ring_buffer_tracer.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "profiler/failure.h"
#include "tests/bench/child_program.h"
#include "tests/bench/tracer_output.h"

namespace icepath::bench {
namespace {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;

const fs::path kTracing = "/sys/kernel/tracing";
constexpr const char *kInstance = "icepath-bench";
constexpr const char *kBufferKib = "16384";

std::string read(const fs::path &file)
{
	std::ostringstream text;
	text << std::ifstream(file).rdbuf();
	return text.str();
}

bool write(const fs::path &file, const std::string &text)
{
	return static_cast<bool>(std::ofstream(file) << text << std::flush);
}

// Goes with what it holds; nobody else's tracing changes.
class Instance {
public:
	explicit Instance(uint32_t cpu) : cpu_(cpu), tracing_on_(read(kTracing / "tracing_on")) {}
	~Instance()
	{
		std::error_code error;
		fs::remove(path(), error);
		// trace-cmd stops the kernel's main buffer too, and where it fails it leaves it so.
		write(kTracing / "tracing_on", tracing_on_);
	}
	Instance(const Instance &) = delete;
	Instance &operator=(const Instance &) = delete;

	static fs::path path() { return kTracing / "instances" / kInstance; }
	static bool is_on() { return read(path() / "tracing_on").starts_with('1'); }
	uint64_t events() const
	{
		return events_in_ring_buffer(read(path() / "per_cpu" / fmt::format("cpu{}", cpu_) / "stats"));
	}

private:
	uint32_t cpu_;
	std::string tracing_on_;
};

std::string cpu_mask(uint32_t cpu)
{
	// Groups of eight hex digits, the highest first.
	std::string mask = fmt::format("{:x}", 1u << (cpu % 32));
	for (uint32_t i = 0; i < cpu / 32; i++)
		mask += ",00000000";
	return mask;
}

class InstanceAlone : public ExternalTracer {
public:
	explicit InstanceAlone(uint32_t cpu) : instance_(cpu)
	{
		std::error_code error;
		fs::create_directory(Instance::path(), error);
		bool made = !error && write(Instance::path() / "buffer_size_kb", kBufferKib) &&
					write(Instance::path() / "tracing_cpumask", cpu_mask(cpu));
		for (const std::string &event : captured_events()) {
			std::string folder = event;
			folder.replace(folder.find(':'), 1, "/");
			made = made && write(Instance::path() / "events" / folder / "enable", "1");
		}
		if (!made)
			throw Failure(ExitCode::MachineCannot, "tracefs takes no instance with icepath's events");
	}
	bool recording() override { return Instance::is_on(); }
	uint64_t end() override
	{
		write(Instance::path() / "tracing_on", "0");
		return instance_.events();
	}

private:
	Instance instance_;
};

class TraceCmd : public ExternalTracer {
public:
	TraceCmd(const Command &command, const fs::path &file, uint32_t cpu)
		: file_(file), instance_(cpu), output_(open_output()),
		  child_(command, {.cpu = {}, .output = output_.get(), .keep = {}, .end_signal = SIGINT, .with_children = true})
	{}
	bool recording() override
	{
		if (const auto code = child_.wait(0)) {
			child_.end();
			throw failure_of("trace-cmd", {*code, text_of(output_)});
		}
		return Instance::is_on();
	}
	uint64_t end() override
	{
		constexpr uint64_t kMostBytesOfEvent = 128;
		child_.end();
		std::error_code error;
		const auto bytes = fs::file_size(file_, error);
		fs::remove(file_);
		return error ? 0 : bytes / kMostBytesOfEvent;
	}

private:
	fs::path file_;
	Instance instance_; // outlives the program
	Fd output_;
	ChildProgram child_;
};

} // namespace

std::vector<TracerKind> ring_buffer_kinds(const std::string &folder, const Traced &traced)
{
	const std::string file = folder + "/trace.dat";
	Command record = {"trace-cmd", "record", "-B", kInstance, "-b", kBufferKib, "-M", cpu_mask(traced.cpu), "-o", file};
	for (const std::string &event : captured_events())
		record.insert(record.end(), {"-e", event});
	return {{"trace-cmd record",
			 "stores icepath's events of the CPU",
			 record,
			 {"trace-cmd", "--version"},
			 [=](const Command &command, const Traced &of) -> std::unique_ptr<ExternalTracer> {
				 return std::make_unique<TraceCmd>(command, file, of.cpu);
			 },
			 {}},
			{"tracefs instance",
			 "keeps icepath's events of the CPU in the kernel's ring buffer, as trace-cmd start does",
			 {},
			 {},
			 [](const Command &, const Traced &of) -> std::unique_ptr<ExternalTracer> {
				 return std::make_unique<InstanceAlone>(of.cpu);
			 },
			 {}}};
}

} // namespace icepath::bench
