// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernel's functions by address.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace icepath::symbols {

// Of the text of /proc/kallsyms, which has no sizes. Lines that can't be read are left out.
class KernelSymbols {
public:
	KernelSymbols() = default;
	explicit KernelSymbols(std::string_view kallsyms);

	// Whether it knows any address: the kernel shows them as 0 to readers without rights (kernel.kptr_restrict).
	bool empty() const { return symbols_.empty(); }
	// The number of the function around the address, below size(); nothing where no function is known to be.
	std::optional<size_t> find(uint64_t address) const;
	std::string_view name(size_t number) const;
	size_t size() const { return symbols_.size(); }

private:
	static constexpr uint64_t kMostBytes =
		64 * 1024; // no function is longer; after a module or BPF program there is a gap
	struct Symbol {
		uint64_t begin = 0; // it ends where the next one begins, or after kMostBytes
		uint32_t name = 0, name_bytes = 0; // in names_
		bool is_function = false;
	};
	static bool is_better(std::string_view name, std::string_view than);

	std::vector<Symbol> symbols_; // by begin, which differ
	std::string names_;
};

} // namespace icepath::symbols
