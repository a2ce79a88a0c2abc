// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/added_time.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>

namespace icepath::selftest {
namespace {

class Stamps : public testing::Test {
protected:
	void SetUp() override
	{
		std::string name = testing::TempDir() + "/relay-stamps-XXXXXX";
		ASSERT_NE(mkdtemp(name.data()), nullptr);
		folder_ = name;
	}
	void TearDown() override { std::filesystem::remove_all(folder_); }

	void write(const char *name, const void *data, size_t bytes) const
	{
		std::ofstream(folder_ + "/" + name, std::ios::binary)
			.write(static_cast<const char *>(data), static_cast<std::streamsize>(bytes));
	}

	std::string folder_;
};

TEST_F(Stamps, AreReadAsFarAsTheyGo)
{
	const auto file = std::make_unique<RelayFile>();
	file->tid = 7;
	file->stamps[0] = {100, 200};
	file->stamps[1] = {300, 300};
	file->stamps[2] = {500, 0}; // killed in between
	file->stamps[3] = {600, 700};
	write("relay-1", file.get(), sizeof(*file));
	const auto relays = read_relay_stamps(folder_);
	ASSERT_EQ(relays.size(), 1u);
	EXPECT_EQ(relays[0].tid, 7u);
	ASSERT_EQ(relays[0].stamps.size(), 2u);
	EXPECT_EQ(relays[0].stamps[1].taken_ns, 300u);
}

TEST_F(Stamps, AFileThatIsTooShortIsNone)
{
	write("relay-1", "short", 5);
	EXPECT_TRUE(read_relay_stamps(folder_).empty());
	EXPECT_TRUE(read_relay_stamps(folder_ + "/nothing").empty());
}

} // namespace
} // namespace icepath::selftest
