// SPDX-License-Identifier: Apache-2.0
// Bars of a report on one scale: their lengths, and what stands instead of them and beside them.
#include "profiler/text/time_scale.h"

#include <gtest/gtest.h>

#include "profiler/pages/html_report.h"
#include "profiler/text/columns.h"
#include "profiler/text/look.h"
#include "tests/report/one_screen.h"

namespace icepath::text {
namespace {

using model::Layer;
using model::Part;

TEST(TimeScale, EndsWhereItsQuartersAreEasyToRead)
{
	EXPECT_DOUBLE_EQ(scale_for(9290), 10'000);
	EXPECT_DOUBLE_EQ(scale_for(41'000), 50'000);
	EXPECT_DOUBLE_EQ(scale_for(1300), 1600) << "quarters of 0.4 µs";
	EXPECT_DOUBLE_EQ(scale_for(60'000), 60'000);
	EXPECT_DOUBLE_EQ(scale_for(0), 0);
}

TEST(TimeScale, BarsAreAsLongAsTheP50)
{
	const analysis::CellResult one = made_cell("a", {{Layer::SenderKernel, Part::None, 10'000}}),
							   half = made_cell(
								   "b", {{Layer::SenderKernel, Part::None, 2500}, {Layer::Wakeup, Part::None, 2500}}),
							   far = made_cell("c", {{Layer::SenderKernel, Part::None, 66'315},
													 {Layer::Wakeup, Part::None, 23'685}}),
							   tiny = made_cell("d", {{Layer::SenderUser, Part::None, 10}});
	TimeScale scale({&one, &half, &far, &tiny}, 40);
	const Look look{false, true};
	EXPECT_EQ(scale.axis(), "0         2.5       5         7.5  10 µs");
	EXPECT_EQ(columns(scale.axis()), 40u);
	const auto times = [](const char *glyph, size_t number) {
		std::string text;
		for (size_t i = 0; i < number; ++i)
			text += glyph;
		return text;
	};
	EXPECT_EQ(scale.bar(one, look), times("▓", 40));
	EXPECT_EQ(scale.bar(half, look), times("▓", 10) + times("░", 10) + std::string(20, ' '));
	EXPECT_EQ(scale.bar(tiny, look), "█" + std::string(39, ' ')) << "not nothing";
	EXPECT_EQ(scale.legend(look), (std::vector<std::string>{"█ your code", "▓ kernel", "░ waking"}));
	EXPECT_EQ(scale.bar(far, look), times("▓", 14) + "//" + times("▓", 14) + times("░", 10))
		<< "nine times the median would leave nothing of the others";
	EXPECT_EQ(scale.legend(look).back(), "// not to scale");
}

TEST(TimeScale, HasNoTextInsteadOfABarThatOnlyLacksAP50)
{
	const analysis::CellResult one = made_cell("a", {{Layer::SenderKernel, Part::None, 1000}});
	analysis::CellResult none = one;
	none.times.latency = {};
	TimeScale scale({&one, &none}, 20);
	EXPECT_EQ(scale.bar(none, {}), std::string(20, ' '));
	EXPECT_TRUE(scale.readings().empty());
	analysis::CellMode mode = made_mode(Layer::Wakeup, 1000, 60);
	mode.latency = {};
	EXPECT_EQ(scale.bar(one, mode, {}), std::string(20, ' '));
}

TEST(TimeScale, ExplainsWhatItsBarsHaveShownAndNothingElse)
{
	const analysis::CellResult whole = made_cell("a", {{Layer::SenderKernel, Part::None, 1000}});
	analysis::CellResult few = whole, none = whole, doubtful = whole, of_modes = whole;
	few.ranges.typical->messages = 1000;
	none.ranges.typical.reset();
	none.paths.deliveries = 400;
	doubtful.paths.deliveries = 200;
	of_modes.ranges.typical->messages = 1000;
	of_modes.modes.all = {made_mode(Layer::Wakeup, 1000, 60), made_mode(Layer::Wakeup, 1200, 40)};
	analysis::CellMode half = of_modes.modes.all[1];
	half.range.messages *= 2;
	const std::vector<const analysis::CellResult *> all = {&whole, &few, &none, &doubtful, &of_modes};
	const auto known = [](const std::string &of) {
		return std::vector<std::string>{"% known: share " + of + " with a known path, too few for a bar"};
	};
	const auto text_of = [](std::string bar) { return bar.erase(bar.find_last_not_of(' ') + 1); };
	TimeScale quiet(all, 20);
	quiet.bar(whole, {});
	EXPECT_EQ(text_of(quiet.bar(of_modes, {})), "");
	quiet.bar(of_modes, of_modes.modes.all[0], {});
	EXPECT_TRUE(quiet.readings().empty());
	TimeScale typical(all, 20), of_all(all, 20), of_mode(all, 20), both(all, 20), mark(all, 20);
	EXPECT_EQ(text_of(typical.bar(few, {})), "10 % known");
	EXPECT_EQ(typical.readings(), known("of the typical messages"));
	EXPECT_EQ(text_of(of_all.bar(none, {})), "25 % known");
	EXPECT_EQ(of_all.readings(), known("of all messages or of their time"));
	EXPECT_EQ(text_of(of_mode.bar(of_modes, half, {})), "50 % known");
	EXPECT_EQ(of_mode.readings(), known("of the mode's messages"));
	both.bar(few, {});
	both.bar(none, {});
	EXPECT_EQ(both.readings(), known("of the typical messages, or of all messages or of their time"));
	EXPECT_TRUE(text_of(mark.bar(doubtful, {})).ends_with("?"));
	ASSERT_EQ(mark.readings().size(), 1u);
	EXPECT_TRUE(mark.readings()[0].starts_with("?: "));
}

TEST(TimeScale, MarksModesOfACellOfWhichTooLittleIsKnown)
{
	analysis::CellResult cell = made_cell("a", {{Layer::Wakeup, Part::None, 1000}});
	cell.modes.all = {made_mode(Layer::Wakeup, 1000, 60), made_mode(Layer::Wakeup, 1200, 40)};
	EXPECT_EQ(pages::html_report(made_run({cell})).find(">?<"), std::string::npos);
	cell.paths.deliveries_ns = 2 * static_cast<double>(cell.paths.layers.total_ns());
	TimeScale scale({&cell}, 20);
	EXPECT_NE(scale.bar(cell, cell.modes.all[0], {}).find('?'), std::string::npos);
	const std::string page = pages::html_report(made_run({cell}));
	EXPECT_NE(page.find(">?<"), std::string::npos);
	EXPECT_NE(page.find(kDoubtReading), std::string::npos);
	for (analysis::CellMode &mode : cell.modes.all)
		mode.range.layers = {};
	EXPECT_EQ(pages::html_report(made_run({cell})).find(kDoubtReading), std::string::npos) << "no bar has it";
}

} // namespace
} // namespace icepath::text
