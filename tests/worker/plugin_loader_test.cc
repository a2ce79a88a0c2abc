// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/plugin_loader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "profiler/failure.h"

namespace icepath::worker {
namespace {

std::string refusal(const std::string &path)
{
	try {
		const Plugin plugin(path);
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::MachineCannot);
		return failure.what();
	}
	return "loaded";
}

TEST(PluginLoader, LoadsAPluginAndItsTargets)
{
	const Plugin plugin(NULL_PLUGIN);
	EXPECT_EQ(plugin.file(), "icepath-null.so");
	ASSERT_TRUE(plugin.target(0));
	EXPECT_STREQ(plugin.target(0)->name, "null");
	EXPECT_FALSE(plugin.target(1));
}

TEST(PluginLoader, RefusesAnotherInterfaceByName)
{
	EXPECT_EQ(
		refusal(BAD_PLUGINS "/icepath-other-abi.so"),
		fmt::format("icepath-other-abi.so was built for plug-in interface 8.0, this icepath speaks {0}.0 to {0}.{1}: "
					"rebuild it",
					ICEPATH_PLUGIN_ABI_MAJOR, ICEPATH_PLUGIN_ABI_MINOR));
	EXPECT_EQ(refusal(BAD_PLUGINS "/icepath-newer-abi.so"),
			  fmt::format("icepath-newer-abi.so was built for plug-in interface {0}.99, this icepath speaks {0}.0 to "
						  "{0}.{1}: install a newer icepath",
						  ICEPATH_PLUGIN_ABI_MAJOR, ICEPATH_PLUGIN_ABI_MINOR));
}

TEST(PluginLoader, RefusesATableOfAnotherSizeByName)
{
	for (const auto &[name, size] : {std::pair{"other-size", 8}, {"longer", 1000}})
		EXPECT_EQ(refusal(fmt::format(BAD_PLUGINS "/icepath-{}.so", name)),
				  fmt::format("icepath-{}.so was built with an icepath_plugin of {} bytes, which no version of this "
							  "interface has: rebuild it",
							  name, size));
}

TEST(PluginLoader, RefusesATableWithoutFunctions)
{
	EXPECT_EQ(refusal(BAD_PLUGINS "/icepath-no-functions.so"),
			  "icepath-no-functions.so lacks a function that every plug-in must have");
}

TEST(PluginLoader, RefusesCallbacksWithoutThreadsThatMakeThem)
{
	const Plugin plugin(BAD_PLUGINS "/icepath-no-threads.so");
	try {
		plugin.target(0);
		ADD_FAILURE() << "accepted";
	} catch (const Failure &failure) {
		EXPECT_STREQ(failure.what(),
					 "icepath-no-threads.so has a target bad with callbacks, but without threads that make them");
	}
}

TEST(PluginLoader, RefusesASharedObjectThatIsNoPlugin)
{
	const std::string told = refusal(BAD_PLUGINS "/icepath-no-symbol.so");
	EXPECT_TRUE(told.starts_with("icepath-no-symbol.so isn't a plug-in of icepath")) << told;
}

TEST(PluginLoader, RefusesAFileThatCannotBeLoaded)
{
	EXPECT_TRUE(refusal("/nowhere/icepath-x.so").starts_with("icepath-x.so cannot be loaded: "));
	EXPECT_TRUE(refusal("/dev/null").starts_with("null cannot be loaded: "));
}

// dlopen() would search the system's library folders for a bare name.
TEST(PluginLoader, RefusesANameWithoutAFolder)
{
	EXPECT_NE(refusal("icepath-null.so").find("without its folder"), std::string::npos);
}

} // namespace
} // namespace icepath::worker
