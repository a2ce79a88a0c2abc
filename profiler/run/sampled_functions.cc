// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/sampled_functions.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ebpf/user_stack.h"
#include "profiler/capture/named_stacks.h"
#include "profiler/capture/sampling_timers.h"
#include "profiler/failure.h"
#include "profiler/model/printable.h"
#include "profiler/rundir/limits.h"

namespace icepath::run {
namespace {

constexpr const char *kCallersUnknown = "[callers unknown]", *kOtherFunctions = "[other functions]";

// The window's tables of functions and stacks, as they grow.
class Tables {
public:
	explicit Tables(model::Window &window) : window_(window) {}

	uint32_t function(const std::string &name)
	{
		const std::string shown = model::printable(name, model::kLongestName);
		const bool is_full = window_.functions.size() + 1 >= rundir::kMaxFunctions || names_bytes_ > kMostBytes;
		const auto [at, is_new] =
			functions_.try_emplace(is_full && !functions_.contains(shown) ? kOtherFunctions : shown,
								   static_cast<uint32_t>(window_.functions.size()));
		if (is_new) {
			window_.functions.push_back(at->first);
			names_bytes_ += 2 * at->first.size() + 3; // each character may be escaped
		}
		return at->second;
	}

	// Without room, the stack has only its innermost function.
	uint32_t stack(std::vector<uint32_t> functions)
	{
		if (stacks_bytes_ > kMostBytes && !stacks_.contains(functions))
			functions = {function(kCallersUnknown), functions.back()};
		const auto [at, is_new] = stacks_.try_emplace(functions, static_cast<uint32_t>(window_.stacks.size()));
		if (is_new) {
			window_.stacks.push_back(functions);
			stacks_bytes_ += 6 * functions.size() + 3; // five digits and a comma
		}
		return at->second;
	}

private:
	static constexpr size_t kMostBytes = rundir::kMaxJsonBytes / 3; // of either table as JSON, but for what comes last

	model::Window &window_;
	size_t names_bytes_ = 0, stacks_bytes_ = 0;
	std::map<std::string, uint32_t> functions_;
	std::map<std::vector<uint32_t>, uint32_t> stacks_;
};

// The file in "file!function" or "file+0x1234".
std::string file_of(const std::string &function)
{
	const size_t end = function.find('!');
	return function.substr(0, end == std::string::npos ? function.rfind('+') : end);
}

// The functions at addresses of a window's user code.
class NamedAddresses {
public:
	NamedAddresses(symbols::UserFunctions &functions, symbols::UserStacks &unwound, Tables &tables)
		: functions_(functions), unwound_(unwound), tables_(tables)
	{}

	// The function there, then those that are inlined there.
	const std::vector<uint32_t> &functions(uint32_t process, uint64_t address)
	{
		const auto [at, is_new] = named_.try_emplace({process, address});
		if (is_new) {
			const std::string name = functions_.name(process, address);
			at->second.push_back(tables_.function(name));
			for (const std::string &inlined : unwound_.inlined(process, address))
				at->second.push_back(tables_.function(file_of(name) + "!" + inlined + " (inlined)"));
		}
		return at->second;
	}

private:
	symbols::UserFunctions &functions_;
	symbols::UserStacks &unwound_;
	Tables &tables_;
	std::map<std::pair<uint32_t, uint64_t>, std::vector<uint32_t>> named_;
};

// Appends the kernel's functions to `functions`, from the outermost one on.
void add_kernel_stack(const capture::NamedStack &stack, const capture::FunctionNames &names, Tables &tables,
					  std::vector<uint32_t> &functions)
{
	for (uint32_t i = std::min<uint32_t>(stack.depth, ICEPATH_STACK_DEPTH); i-- > 0;) {
		const auto &name = names.names[std::min<size_t>(stack.functions[i], capture::kMostFunctions - 1)];
		functions.push_back(tables.function({name.data(), strnlen(name.data(), name.size())}));
	}
}

bool has_stack(const icepath_record &record)
{
	return record.type == ICEPATH_RECORD_SAMPLE || record.type == ICEPATH_RECORD_SLEEP_STACK ||
		   record.type == ICEPATH_RECORD_WAKER_STACK;
}

} // namespace

uint64_t sampling_period_ns(std::optional<double> rate_hz, uint64_t block_ns)
{
	constexpr double kUsualNs = 250'000, kTickNs = 4'000'000, kGolden = 0.618034;
	constexpr double kRoom = capture::kStacksOfCpu * 0.5; // a golden period may be so much shorter than wanted
	const double wanted_ns = std::max(kUsualNs, static_cast<double>(block_ns) / kRoom);
	const double of_ns = rate_hz && *rate_hz > 0 ? 1e9 / *rate_hz : kTickNs;
	const auto golden = [](double ratio) { return std::max(0.0, std::round(ratio - kGolden)) + kGolden; };
	const double period_ns = of_ns > wanted_ns ? of_ns / golden(of_ns / wanted_ns) : of_ns * golden(wanted_ns / of_ns);
	return static_cast<uint64_t>(std::llround(std::min(period_ns, double{capture::kLongestPeriodNs})));
}

MappedForReading::MappedForReading(const Fd &fd, size_t bytes) : bytes_(bytes)
{
	void *memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd.get(), 0);
	if (memory == MAP_FAILED)
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("cannot map the sampled functions: {}", std::strerror(errno)));
	memory_ = memory;
}

MappedForReading::~MappedForReading()
{
	if (memory_)
		munmap(const_cast<void *>(memory_), bytes_);
}

SampledFunctions::SampledFunctions(const Fd &named, const Fd &user_stacks)
{
	struct stat status{};
	if (fstat(named.get(), &status) == 0 && status.st_size >= static_cast<off_t>(capture::named_bytes(0)))
		room_ = (static_cast<size_t>(status.st_size) - capture::named_bytes(0)) / sizeof(capture::NamedStack);
	named_ = MappedForReading(named, capture::named_bytes(room_));
	user_room_ = std::min<size_t>(room_, capture::kMostUserStacks);
	user_stacks_ = MappedForReading(user_stacks, user_room_ * sizeof(icepath_user_stack));
}

symbols::UserFrames SampledFunctions::user_frames(uint32_t process, uint32_t number)
{
	if (number == 0 || number > user_room_)
		return {};
	const auto &copy = static_cast<const icepath_user_stack *>(user_stacks_.memory())[number - 1];
	symbols::UserState state;
	static_assert(symbols::UserState::kRegisters == ICEPATH_USER_REGISTERS);
	std::copy_n(copy.registers, state.registers.size(), state.registers.begin());
	state.stack = std::as_bytes(std::span(copy.memory, std::min<size_t>(copy.bytes, sizeof(copy.memory))));
	return state.stack.empty() ? symbols::UserFrames() : unwound_.frames(process, state);
}

void SampledFunctions::name(model::Window &window)
{
	user_.look_again();
	Tables tables(window);
	NamedAddresses user(user_, unwound_, tables);
	const auto *names = static_cast<const capture::FunctionNames *>(named_.memory());
	const auto *stacks = reinterpret_cast<const capture::NamedStack *>(names + 1);
	for (model::SlotCapture &slot : window.slots)
		for (icepath_record &record : slot.records) {
			if (!has_stack(record))
				continue;
			const uint32_t process = record.sample.tgid, number = std::exchange(record.sample.stack, 0);
			const uint64_t address = std::exchange(record.sample.user_address, 0);
			const bool in_kernel = address == 0;
			if (in_kernel && (number == 0 || number > room_ || stacks[number - 1].depth == 0))
				continue; // nothing shows where it was
			const bool of_kernel = in_kernel && (process == 0 || stacks[number - 1].of_interrupt != 0); // alone
			symbols::UserFrames frames = of_kernel ? symbols::UserFrames{{}, true} : user_frames(process, number);
			if (frames.addresses.empty() && !in_kernel)
				frames.addresses = {address};
			std::vector<uint32_t> functions; // from the outermost one on
			for (const uint64_t frame : std::views::reverse(frames.addresses))
				std::ranges::copy(user.functions(process, frame), std::back_inserter(functions));
			if (in_kernel)
				add_kernel_stack(stacks[number - 1], *names, tables, functions);
			const bool fits = functions.size() < rundir::kMaxStackDepth;
			if (!fits)
				functions.erase(functions.begin(), functions.end() - (rundir::kMaxStackDepth - 1));
			if (!fits || !frames.is_whole)
				functions.insert(functions.begin(), tables.function(kCallersUnknown));
			record.sample.stack = tables.stack(functions) + 1;
		}
	unwound_.look_again();
}

} // namespace icepath::run
