// SPDX-License-Identifier: Apache-2.0
#include "profiler/symbols/kernel_symbols.h"

#include <algorithm>
#include <charconv>

namespace icepath::symbols {
namespace {

constexpr size_t kMostNameBytes = size_t{256} << 20;

std::string_view word_of(std::string_view &line)
{
	const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
	const size_t end = std::min(line.find_first_of(" \t", begin), line.size());
	const std::string_view word = line.substr(begin, end - begin);
	line.remove_prefix(end);
	return word;
}

size_t underscores_before(std::string_view name) { return std::min(name.find_first_not_of('_'), name.size()); }

} // namespace

// Of two names of one address: system calls have two, for instance.
bool KernelSymbols::is_better(std::string_view name, std::string_view than)
{
	return underscores_before(name) < underscores_before(than);
}

// A line is "ffffffff81000000 T _text", perhaps with a tab and "[module]".
KernelSymbols::KernelSymbols(std::string_view kallsyms)
{
	while (!kallsyms.empty()) {
		const size_t end = std::min(kallsyms.find('\n'), kallsyms.size());
		std::string_view line = kallsyms.substr(0, end);
		kallsyms.remove_prefix(std::min(end + 1, kallsyms.size()));
		const std::string_view digits = word_of(line), type = word_of(line), name = word_of(line);
		uint64_t begin = 0;
		const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), begin, 16);
		if (error != std::errc() || stop != digits.data() + digits.size() || begin == 0 || type.size() != 1 ||
			name.empty() || names_.size() + name.size() > kMostNameBytes)
			continue;
		symbols_.push_back({begin, static_cast<uint32_t>(names_.size()), static_cast<uint32_t>(name.size()),
							type.find_first_of("tTwW") == 0});
		names_ += name;
	}
	std::ranges::stable_sort(symbols_, {}, &Symbol::begin);
	size_t kept = 0;
	for (const Symbol &symbol : symbols_) {
		const std::string_view name(names_.data() + symbol.name, symbol.name_bytes);
		if (kept == 0 || symbols_[kept - 1].begin != symbol.begin)
			symbols_[kept++] = symbol;
		else if (Symbol &before = symbols_[kept - 1];
				 symbol.is_function &&
				 (!before.is_function || is_better(name, {names_.data() + before.name, before.name_bytes})))
			before = symbol;
	}
	symbols_.resize(kept);
}

std::optional<size_t> KernelSymbols::find(uint64_t address) const
{
	const auto after = std::ranges::upper_bound(symbols_, address, {}, &Symbol::begin);
	if (after == symbols_.begin() || !std::prev(after)->is_function || address - std::prev(after)->begin >= kMostBytes)
		return std::nullopt;
	return static_cast<size_t>(std::prev(after) - symbols_.begin());
}

std::string_view KernelSymbols::name(size_t number) const
{
	return std::string_view(names_).substr(symbols_.at(number).name, symbols_[number].name_bytes);
}

} // namespace icepath::symbols
