// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode/objects.h"

namespace icepath::decode {

void Objects::list(const std::vector<model::Connection> &open)
{
	++lists_;
	for (const model::Connection &connection : open)
		for (const model::ConnectionEnd &end : connection.ends)
			if (end.object != 0)
				use(end.object).listed = lists_;
}

Object &Objects::use(uint64_t name)
{
	Object &one = objects_[name];
	if (one.used_ns == now_ns_ && now_ns_ != 0)
		return one;
	one.used_ns = now_ns_;
	if (const auto other = objects_.find(one.other_end); other != objects_.end())
		other->second.used_ns = now_ns_; // as long as one end is used, both are
	return one;
}

const Object *Objects::find(uint64_t name) const
{
	const auto found = objects_.find(name);
	return found == objects_.end() ? nullptr : &found->second;
}

std::vector<uint64_t> Objects::forget()
{
	std::vector<uint64_t> over;
	std::erase_if(objects_, [&](const auto &one) {
		const bool is_over = one.second.listed != lists_ && one.second.used_ns + kLongestOpenNs < now_ns_;
		if (is_over)
			over.push_back(one.first);
		return is_over;
	});
	return over;
}

} // namespace icepath::decode
