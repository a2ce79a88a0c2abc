// SPDX-License-Identifier: Apache-2.0
#include "profiler/isolation/knobs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "profiler/isolation/partition.h"

namespace icepath::isolation {
namespace {

constexpr size_t kLongest = 4096; // text: a list of every second of 1600 CPUs
constexpr uint32_t kHighestNumber = 999'999; // of an interrupt, a CPU or a policy

std::string_view trimmed(std::string_view text)
{
	constexpr std::string_view kBlank = " \t\n";
	const size_t first = text.find_first_not_of(kBlank);
	return first == std::string_view::npos ? std::string_view()
										   : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

bool has_word(std::string_view text, std::string_view word)
{
	for (size_t at = 0; at < text.size();) {
		const size_t end = std::min(text.find(' ', at), text.size());
		if (text.substr(at, end - at) == word)
			return true;
		at = end + 1;
	}
	return false;
}

// Nothing: errno says why.
std::optional<std::string> read_from(int file)
{
	std::array<char, kLongest> text{};
	// From the beginning, so that the kernel makes the text anew. Writable seq files refuse pread().
	if (lseek(file, 0, SEEK_SET) < 0)
		return std::nullopt;
	size_t filled = 0;
	for (ssize_t bytes = 0; filled < text.size(); filled += static_cast<size_t>(bytes)) {
		bytes = ::read(file, text.data() + filled, text.size() - filled);
		if (bytes < 0)
			return std::nullopt;
		if (bytes == 0)
			return std::string(trimmed({text.data(), filled}));
	}
	errno = EFBIG;
	return std::nullopt;
}

class OpenFile : public OpenKnob {
public:
	OpenFile(Form form, Fd file, Fd asked) : form_(form), file_(std::move(file)), asked_(std::move(asked)) {}

	std::optional<std::string> read() override
	{
		auto text = read_from(asked_ ? asked_.get() : file_.get());
		if (!text || form_ != Form::Controller)
			return text;
		return has_word(*text, "cpuset") ? kWithCpusets : kWithoutCpusets;
	}

	// As echo(1) does: in one call, with a newline, into an empty file.
	int write(const std::string &value) override
	{
		const std::string line = value + "\n";
		(void)!ftruncate(file_.get(), 0); // which the kernel's files ignore
		if (lseek(file_.get(), 0, SEEK_SET) < 0 ||
			::write(file_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
			return errno;
		return 0;
	}

private:
	const Form form_;
	const Fd file_, asked_;
};

} // namespace

std::string Place::path() const
{
	std::string path = knob->path;
	if (const size_t at = path.find('#'); at != std::string::npos)
		path.replace(at, 1, std::to_string(number));
	return path;
}

std::optional<Place> place_of(std::string_view name, uint64_t number)
{
	const auto knob = std::ranges::find(kKnobs, name, [](const Knob &one) { return std::string_view(one.name); });
	if (knob == std::end(kKnobs) || number > kHighestNumber)
		return std::nullopt;
	if (std::string_view(knob->path).find('#') == std::string_view::npos && number != 0)
		return std::nullopt;
	return Place{knob, static_cast<uint32_t>(number)};
}

std::optional<cpuset::CpuList> parse_mask(std::string_view text)
{
	constexpr size_t kWordBits = 32, kWordDigits = kWordBits / 4;
	cpuset::CpuList cpus;
	text = trimmed(text);
	for (size_t word = 0;; word++) {
		const size_t comma = text.rfind(',');
		const std::string_view digits = comma == std::string_view::npos ? text : text.substr(comma + 1);
		uint32_t bits = 0;
		const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
		if (error != std::errc() || end != digits.data() + digits.size() || digits.size() > kWordDigits)
			return std::nullopt;
		for (size_t bit = 0; bit < kWordBits; bit++)
			if ((bits >> bit & 1) != 0)
				cpus.push_back(static_cast<uint32_t>(word * kWordBits + bit));
		if (comma == std::string_view::npos)
			return cpus;
		text = text.substr(0, comma);
	}
}

std::string format_mask(const cpuset::CpuList &cpus)
{
	std::string text;
	for (uint32_t word = cpus.empty() ? 0 : cpus.back() / 32;; word--) {
		uint32_t bits = 0;
		for (const uint32_t cpu : cpus)
			if (cpu / 32 == word)
				bits |= uint32_t{1} << cpu % 32;
		text += text.empty() ? fmt::format("{:x}", bits) : fmt::format(",{:08x}", bits);
		if (word == 0)
			return text;
	}
}

std::optional<cpuset::CpuList> cpus_in(Form form, std::string_view text)
{
	if (form == Form::CpuList)
		return cpuset::parse_cpulist(text);
	return form == Form::CpuMask ? parse_mask(text) : std::nullopt;
}

std::string text_of(Form form, const cpuset::CpuList &cpus)
{
	return form == Form::CpuMask ? format_mask(cpus) : cpuset::format_cpulist(cpus);
}

bool is_value(Form form, std::string_view text)
{
	switch (form) {
	case Form::CpuList:
	case Form::CpuMask:
		return text.size() < kLongest && cpus_in(form, text).has_value();
	case Form::Word:
		return !text.empty() && text.size() < 64 &&
			   std::ranges::all_of(
				   text,
				   [](char c) {
					   return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '/';
				   });
	case Form::Number:
		return !text.empty() && text.size() < 20 &&
			   std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
	case Form::Controller:
		return text == kWithCpusets || text == kWithoutCpusets;
	case Form::Group:
		return text == kGroupThere || text == kGroupAbsent;
	}
	return false;
}

bool same(Form form, std::string_view one, std::string_view other)
{
	const auto left = cpus_in(form, one), right = cpus_in(form, other);
	return left && right ? *left == *right : trimmed(one) == trimmed(other);
}

Fd Tree::open(const std::string &path, int flags, unsigned mode) const
{
	const Fd top(::open(root.empty() ? "/" : root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
	open_how how{};
	how.flags = static_cast<uint64_t>(flags | O_CLOEXEC | O_NOFOLLOW);
	how.mode = mode;
	how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
	return Fd(static_cast<int>(syscall(SYS_openat2, top.get(), path.c_str(), &how, sizeof(how))));
}

std::optional<std::string> Tree::read(const std::string &path) const
{
	const Fd file = open(path, O_RDONLY);
	return file ? read_from(file.get()) : std::nullopt;
}

int Tree::change(const std::string &path, const std::function<int()> &by) const
{
	if (at_change)
		if (const int refused = at_change(path, false))
			return refused;
	const int error = by();
	if (at_change)
		at_change(path, true);
	return error;
}

std::unique_ptr<OpenKnob> open_knob(const Tree &tree, const Place &place)
{
	if (place.knob->form == Form::Group)
		return Partition::open(tree);
	Fd file = tree.open(place.path(), O_RDWR);
	if (!file)
		return nullptr;
	Fd asked;
	if (place.knob->asked_path)
		asked = tree.open(place.knob->asked_path, O_RDONLY);
	return std::make_unique<OpenFile>(place.knob->form, std::move(file), std::move(asked));
}

} // namespace icepath::isolation
