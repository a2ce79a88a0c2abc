// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the user must know about a run, each sentence once.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace icepath::run {

class Notices {
public:
	explicit Notices(std::vector<std::string> first) : all_(std::move(first)) {}
	void add(const std::string &notice)
	{
		if (std::ranges::find(all_, notice) == all_.end())
			all_.push_back(notice);
	}
	const std::vector<std::string> &all() const { return all_; }

private:
	std::vector<std::string> all_;
};

} // namespace icepath::run
