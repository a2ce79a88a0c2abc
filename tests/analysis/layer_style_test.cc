// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/layer_style.h"
#include "profiler/text/columns.h"
#include "profiler/text/look.h"

#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <set>

namespace icepath::analysis {
namespace {

using model::Layer;
using model::Part;

TEST(Apportion, AddsUpToTheTotal)
{
	EXPECT_EQ(apportion({1, 1, 1}, 10), (std::vector<uint64_t>{4, 3, 3}));
	EXPECT_EQ(apportion({999, 1}, 10), (std::vector<uint64_t>{10, 0}));
	EXPECT_EQ(apportion({0, 0}, 10), (std::vector<uint64_t>{0, 0}));
	EXPECT_EQ(apportion({}, 10), (std::vector<uint64_t>{}));
	std::mt19937_64 random(1);
	for (int i = 0; i < 1000; ++i) {
		std::vector<uint64_t> weights(1 + random() % 14);
		for (uint64_t &weight : weights)
			weight = random() >> (random() % 64);
		weights[0] |= 1;
		const auto parts = apportion(weights, 1000);
		EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), uint64_t{0}), 1000u);
	}
}

std::vector<LayerRow> rows()
{
	return {{Layer::SenderKernel, Part::None, 0, path::Role::Sender, "a", 30, {}, 30},
			{Layer::SenderKernel, Part::Notify, 0, path::Role::Sender, "a", 20, {}, 20},
			{Layer::Preempted, Part::None, 1, path::Role::Receiver, "b", 50, {}, 50}};
}

TEST(LayerKind, IsThatOfTheLayerUnlessItsPartDiffers)
{
	EXPECT_EQ(kind_of(Layer::SenderUser, Part::None, false), LayerKind::YourCode);
	EXPECT_EQ(kind_of(Layer::SenderUser, Part::None, true), LayerKind::Library);
	EXPECT_EQ(kind_of(Layer::SenderKernel, Part::Notify, true), LayerKind::Kernel)
		<< "a library's calls are the kernel's";
	EXPECT_EQ(kind_of(Layer::Runqueue, Part::None, false), LayerKind::WaitingForCpu);
	EXPECT_EQ(kind_of(Layer::Runqueue, Part::IdleExit, false), LayerKind::Waking);
	EXPECT_EQ(kind_of(Layer::Queue, Part::Busy, false), LayerKind::Queued);
	EXPECT_EQ(kind_of(Layer::Queue, Part::Preempted, false), LayerKind::Disturbed);
	EXPECT_EQ(kind_of(Layer::Blocked, Part::Lock, false), LayerKind::Disturbed);
	EXPECT_EQ(kind_of(Layer::Blocked, Part::Backpressure, false), LayerKind::Queued);
	EXPECT_EQ(kind_of(Layer::Network, Part::Held, false), LayerKind::Queued);
	EXPECT_EQ(kind_of(Layer::RelayKernel, Part::None, true), LayerKind::Relay);
}

TEST(LayerKind, SumsAreThoseOfTheRows)
{
	const auto sums = by_kind(rows(), false);
	EXPECT_EQ(sums[static_cast<size_t>(LayerKind::Kernel)], 50);
	EXPECT_EQ(sums[static_cast<size_t>(LayerKind::Disturbed)], 50);
	EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0.0), 100);
}

TEST(LayerKind, HasAWordOfItsOwnAndAtMostSixGlyphs)
{
	std::set<std::string> words, blocks, colours;
	std::set<char> letters;
	for (const KindStyle &style : kKindStyles) {
		EXPECT_EQ(text::columns(style.block), 1u);
		words.insert(style.word);
		blocks.insert(style.block);
		letters.insert(style.letter);
		colours.insert(style.colour);
	}
	EXPECT_EQ(words.size(), kLayerKinds);
	EXPECT_EQ(letters.size(), kLayerKinds);
	EXPECT_EQ(colours.size(), kLayerKinds);
	EXPECT_LE(blocks.size(), 6u);
	EXPECT_EQ(text::kind_symbol(LayerKind::Waking, 2, {true, true}), "\033[38;5;141m░░\033[0m");
	EXPECT_EQ(text::kind_symbol(LayerKind::Waking, 2, {false, false}), "ww");
}

TEST(LayerStyle, NoTwoLayersLookAlike)
{
	std::set<std::string> colours;
	for (const LayerStyle &style : kLayerStyles)
		colours.insert(style.colour);
	EXPECT_EQ(colours.size(), model::kLayerCount);
}

} // namespace
} // namespace icepath::analysis
