// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which targets a run measures, by the names that the user gave.
#include <algorithm>
#include <utility>
#include <vector>

#include "profiler/plan/plan.h"

namespace icepath::plan {

// Whether it stands for its kind: a local socket, the network, shared memory, nothing but stamps.
bool is_first_of_kind(const Target &target);
bool is_middleware(const Target &target);

// Whether the user gave the target's own name.
bool is_named(const Wishes &wishes, const Target &target);

// Each once, in the order of the names. Targets that don't work here become notices of the plan; named ones are also in
// `missing`. Throws Failure: Usage for an unknown name, MachineCannot if no named target works here.
std::vector<const Target *> choose(const Wishes &wishes, const std::vector<Target> &targets, Plan &plan);

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
