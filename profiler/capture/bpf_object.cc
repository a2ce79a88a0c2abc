// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/bpf_object.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace icepath::capture {
namespace {

// libbpf would print pages to stderr.
void silence()
{
	libbpf_set_print([](enum libbpf_print_level, const char *, va_list) { return 0; });
}

bpf_program *program_named(const capture_bpf *bpf, std::string_view name)
{
	return bpf_object__find_program_by_name(bpf->obj, std::string(name).c_str());
}

// A program's target, by its section: "tp_btf/sk_data_ready".
std::string target_of(std::string_view program)
{
	static const BpfObject unloaded = open_bpf_object({});
	const std::string_view section = bpf_program__section_name(program_named(unloaded.get(), program));
	return std::string(section.substr(section.find('/') + 1));
}

// Parsed once, because it is large. Null if the kernel has none.
const btf *kernel_types()
{
	silence();
	static const std::unique_ptr<btf, decltype(&btf__free)> types(btf__load_vmlinux_btf(), &btf__free);
	return types.get();
}

bool has_type(const std::string &name, uint32_t kind)
{
	const btf *types = kernel_types();
	return types && btf__find_by_name_kind(types, name.c_str(), kind) > 0;
}

// libbpf looks in modules for what the kernel lacks, which takes CAP_SYS_ADMIN. Without that, libbpf 1.1 refuses to
// load the object, such as a member's on Linux 6.1, which lacks bpf_cast_to_kern_ctx(). It looks once for each object,
// so this makes it look now, for a function that no kernel has.
void give_up_on_modules(const capture_bpf *bpf)
{
	__u32 first = 0;
	if (bpf_btf_get_next_id(0, &first) != 0 && errno == EPERM)
		(void)bpf_program__set_attach_target(bpf->progs.on_sample, 0, "icepath_no_function");
}

// Whether the log ends with why the program was refused. After other errors, such as ENOMEM, it ends anywhere.
bool is_verdict(int error)
{
	constexpr int kNotSupported = 524; // ENOTSUPP, which user space has no name for
	for (const int verdict : {EACCES, EINVAL, EPERM, E2BIG, EOPNOTSUPP, kNotSupported})
		if (error == verdict)
			return true;
	return false;
}

bool is_hex_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// The kernel's place in memory is random from the 21st bit on, which five hexadecimal digits don't reach. Of letters
// alone, up to eight are taken for a word, such as "added".
bool is_long_number(std::string_view digits)
{
	constexpr size_t kMostDigits = 5, kLongestWord = 8;
	const bool is_word = std::ranges::none_of(digits, [](char c) { return c >= '0' && c <= '9'; });
	return digits.size() > (is_word ? kLongestWord : kMostDigits);
}

std::string without_long_numbers(std::string_view text)
{
	std::string result;
	while (!text.empty()) {
		const auto end = std::ranges::find_if_not(text, is_hex_digit);
		const std::string_view digits = text.substr(0, static_cast<size_t>(end - text.begin()));
		if (digits.empty())
			result += text.front();
		else
			result += is_long_number(digits) ? "..." : digits;
		text.remove_prefix(std::max<size_t>(digits.size(), 1));
	}
	return result;
}

} // namespace

BpfObject open_bpf_object(const std::vector<Candidate> &wanted)
{
	silence();
	BpfObject bpf(capture_bpf__open());
	if (!bpf)
		throw Failure(ExitCode::Internal, fmt::format("cannot open the BPF object: {}", std::strerror(errno)));
	give_up_on_modules(bpf.get());
	for (bpf_program *program = nullptr; (program = bpf_object__next_program(bpf->obj, program));)
		bpf_program__set_autoload(program, false);
	for (const Candidate &candidate : wanted) {
		std::vector<bpf_program *> programs = beside(bpf.get(), candidate);
		programs.push_back(program_of(bpf.get(), candidate));
		if (bpf_program *second = second_of(bpf.get(), candidate))
			programs.push_back(second);
		for (bpf_program *program : programs)
			bpf_program__set_autoload(program, true);
	}
	return bpf;
}

LoadInterrupted::LoadInterrupted()
	: Failure(ExitCode::MachineCannot, "BPF programs can't be loaded while this process gets signals again and again: "
									   "stop what sends them, and start anew")
{}

BpfObject load_despite_signals(const std::function<BpfObject()> &open)
{
	for (int loads = 0; loads < kMostLoads; loads++) {
		BpfObject bpf = open();
		const int error = capture_bpf__load(bpf.get());
		if (!error)
			return bpf;
		if (error == -EAGAIN)
			continue;
		bpf.reset();
		errno = -error;
		return nullptr;
	}
	throw LoadInterrupted();
}

std::string verdict_of(std::string_view verifier_log)
{
	constexpr size_t kMostLines = 2, kMostBytes = 240;
	std::string verdict;
	for (size_t lines = 0; lines < kMostLines && !verifier_log.empty();) {
		const size_t before = verifier_log.find_last_of('\n');
		const std::string_view line = verifier_log.substr(before == std::string_view::npos ? 0 : before + 1);
		verifier_log = before == std::string_view::npos ? "" : verifier_log.substr(0, before);
		// "processed 12 insns (limit 1000000) …", "verification time 40 usec", "stack depth 0"
		if (line.empty() || line.starts_with("processed ") || line.starts_with("verification time") ||
			line.starts_with("stack depth"))
			continue;
		verdict = without_long_numbers(line) + (verdict.empty() ? "" : "; ") + verdict;
		lines++;
	}
	return verdict.substr(0, kMostBytes);
}

std::string why_not_loaded(capture_bpf *bpf, const Candidate &only)
{
	// The largest that kernels before 6.4 allow: a log that doesn't fit makes ENOSPC the reason. Only written pages
	// take memory.
	constexpr size_t kMostBytes = UINT32_MAX >> 8;
	const std::unique_ptr<char[]> log(new char[kMostBytes]);
	log[0] = '\0';
	// libbpf loads without a log first, and repeats with one if that fails.
	bpf_program__set_log_buf(program_of(bpf, only), log.get(), kMostBytes);
	const int error = capture_bpf__load(bpf);
	bpf_program__set_log_buf(program_of(bpf, only), nullptr, 0);
	if (!error)
		return {};
	if (error == -EAGAIN)
		throw LoadInterrupted();
	const std::string verdict = is_verdict(-error) ? verdict_of(log.get()) : "";
	return fmt::format("loading: {}{}", std::strerror(-error),
					   verdict.empty() ? "" : fmt::format(" (verifier: {})", verdict));
}

bpf_program *program_of(const capture_bpf *bpf, const Candidate &candidate)
{
	return program_named(bpf, candidate.program);
}

bpf_program *second_of(const capture_bpf *bpf, const Candidate &candidate)
{
	return candidate.second.empty() ? nullptr : program_named(bpf, candidate.second);
}

std::vector<bpf_program *> beside(const capture_bpf *bpf, const Candidate &candidate)
{
	std::vector<bpf_program *> programs;
	for (const std::string_view name : candidate.beside)
		if (!name.empty() && has_type(target_of(name), BTF_KIND_FUNC))
			programs.push_back(program_named(bpf, name));
	return programs;
}

bool is_in_kernel(const Candidate &candidate)
{
	if (candidate.tier == Tier::Kprobe)
		return true;
	const std::string target = target_of(candidate.program);
	// A tracepoint is the typedef of its handlers (include/trace/bpf_probe.h).
	return candidate.tier == Tier::Tracepoint ? has_type("btf_trace_" + target, BTF_KIND_TYPEDEF)
											  : has_type(target, BTF_KIND_FUNC);
}

} // namespace icepath::capture
