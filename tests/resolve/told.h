// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is told of watched programs, as text to compare.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "profiler/resolve/stream.h"

namespace icepath::resolve {

// What was resolved, as text that doesn't depend on the numbers of records.
struct Told : StreamVisitor {
	void message(const decode::CalledMessage &one, const path::Path &path, const path::Observations &) override
	{
		messages.push_back(fmt::format("{} {}..{} {}", decode::kIdentityNames[static_cast<size_t>(one.identity)],
									   one.send_ns, one.recv_ns, layers(path)));
		short_messages.push_back(fmt::format("{} {}..{}", decode::kIdentityNames[static_cast<size_t>(one.identity)],
											 one.send_ns, one.recv_ns));
	}
	void request(const decode::Request &one, const path::Path &path, const path::Observations &) override
	{
		requests.push_back(fmt::format("{} {}", tree(one), layers(path)));
		trees.push_back(tree(one));
		EXPECT_TRUE(path.complete()) << path::kReasonNames[static_cast<size_t>(path.reason)];
	}
	void over(uint64_t object) override { ended.push_back(object); }
	static std::string tree(const decode::Request &one)
	{
		std::string text = fmt::format("{}..{}", one.send_ns(), one.recv_ns());
		for (const decode::Request &inner : one.nested)
			text += " (" + tree(inner) + ")";
		return text + (one.beside ? fmt::format(" +{}", one.beside) : "");
	}
	static std::string layers(const path::Path &path)
	{
		std::string text;
		uint64_t sum_ns = 0;
		for (const path::Segment &segment : path.segments) {
			text += fmt::format("{}{}{}@{} ", segment.hop, model::name(segment.layer), model::name(segment.part),
								segment.end.at_ns);
			sum_ns += segment.duration_ns();
		}
		EXPECT_EQ(sum_ns, path.complete() ? path.recv_ns - path.send_ns : 0);
		return text + std::string(path::kReasonNames[static_cast<size_t>(path.reason)]);
	}
	std::vector<std::string> messages, short_messages, requests, trees;
	std::vector<uint64_t> ended;
};

struct Result {
	Told told;
	LeftOpen left;
	decode::Unpaired unpaired;
};

inline Result resolved(const std::vector<model::Window> &windows, const std::vector<model::Connection> &connections)
{
	Result result;
	Stream stream(connections, result.told);
	for (const model::Window &window : windows)
		stream.add(window);
	stream.finish();
	result.left = stream.left_open();
	for (const auto &[object, some] : stream.take_unpaired()) {
		result.unpaired.ambiguous += some.ambiguous;
		result.unpaired.too_old += some.too_old;
	}
	for (auto *lines : {&result.told.messages, &result.told.short_messages, &result.told.requests, &result.told.trees})
		std::ranges::sort(*lines);
	return result;
}

using Lines = std::vector<std::string>;

} // namespace icepath::resolve
