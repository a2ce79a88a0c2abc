// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

namespace icepath::plan {

// Removes duplicates: a repeated wish is measured once, and a repeated notice appears once.
template <typename T> void add_once(std::vector<T> &list, T item)
{
	if (std::find(list.begin(), list.end(), item) == list.end())
		list.push_back(std::move(item));
}

template <typename T> std::vector<T> each_once(const std::vector<T> &items)
{
	std::vector<T> once;
	for (const T &item : items)
		add_once(once, item);
	return once;
}

} // namespace icepath::plan
