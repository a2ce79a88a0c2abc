// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/ranks.h"

#include <algorithm>
#include <numeric>

namespace icepath::stats {

std::vector<double> corrected(const std::vector<double> &p)
{
	std::vector<size_t> ascending(p.size());
	std::iota(ascending.begin(), ascending.end(), size_t{0});
	std::ranges::stable_sort(ascending, {}, [&](size_t i) { return p[i]; });
	std::vector<double> result(p.size());
	double least = 0; // what came before: a larger probability mustn't be corrected to a smaller one
	for (size_t i = 0; i < ascending.size(); ++i) {
		least = std::max(least, std::min(1.0, p[ascending[i]] * static_cast<double>(ascending.size() - i)));
		result[ascending[i]] = least;
	}
	return result;
}

void correct(const std::vector<double *> &p)
{
	std::vector<double> values;
	for (const double *one : p)
		values.push_back(*one);
	values = corrected(values);
	for (size_t i = 0; i < p.size(); ++i)
		*p[i] = values[i];
}

std::vector<Rank> ranks_of(size_t count, const std::vector<Order> &told)
{
	std::vector<Rank> ranks(count, Rank{1, count});
	for (const Order &pair : told) {
		++ranks.at(pair.slower).first;
		--ranks.at(pair.faster).last;
	}
	return ranks;
}

} // namespace icepath::stats
