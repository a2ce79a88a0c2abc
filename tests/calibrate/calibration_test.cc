// SPDX-License-Identifier: Apache-2.0
// The calibration file: read as written, refused with a message if invalid, and the source of cells' shares.
#include "profiler/calibrate/calibration.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "icepath/plugin.h"
#include "profiler/failure.h"

namespace icepath::calibrate {
namespace {

const Host kHost{"6.1.0-56-cloud-amd64", "#1 SMP Debian", "some CPU"};

Calibration example()
{
	const auto size = [](uint64_t bytes, double ready, double taken) {
		return CalibratedSize{bytes, {ready, ready / 2, 1}, {taken, 0, taken}};
	};
	return {"0.1.0",
			"2026-01-02T03:04:05Z",
			kHost,
			{{"pipe", {size(1, 0.25, 0.5), size(64, 0.5, 0.5), size(4096, 0.75, 0.125)}, ""},
			 {"mqueue", {}, "this kernel has none"}}};
}

class CalibrationFile : public testing::Test {
protected:
	void TearDown() override { std::filesystem::remove(path_); }
	std::string written(const std::string &text) const
	{
		std::ofstream(path_) << text;
		return path_;
	}
	std::string complaint(const std::string &text, const Host &host = kHost) const
	{
		try {
			read_calibration(written(text), host);
		} catch (const Failure &failure) {
			EXPECT_EQ(failure.code(), ExitCode::Usage);
			return failure.what();
		}
		return "it was taken";
	}
	// Unique to this process: tests run in parallel.
	std::string path_ = testing::TempDir() + "icepath-calibration-" + std::to_string(getpid()) + ".json";
};

TEST_F(CalibrationFile, ComesBackAsItWas)
{
	const Calibration before = example(), after = read_calibration(written(to_json(before).dump(1)), kHost);
	EXPECT_EQ(after.made_utc, before.made_utc);
	EXPECT_EQ(after.icepath_version, before.icepath_version);
	ASSERT_EQ(after.targets.size(), 2u);
	EXPECT_EQ(after.targets[1].why_not, "this kernel has none");
	ASSERT_EQ(after.targets[0].sizes.size(), 3u);
	const CalibratedSize &size = after.targets[0].sizes[2];
	EXPECT_EQ(size.payload_bytes, 4096u);
	EXPECT_EQ(size.ready.value, 0.75);
	EXPECT_EQ(size.ready.low, 0.375);
	EXPECT_EQ(size.taken.value, 0.125);
}

TEST_F(CalibrationFile, OfAnotherMachineIsRefused)
{
	Host other = kHost;
	other.kernel_version = "#2 SMP Debian";
	EXPECT_NE(complaint(to_json(example()).dump(), other).find("was made on another kernel or CPU"), std::string::npos);
}

TEST_F(CalibrationFile, WhatIsNoneIsRefusedInASentence)
{
	EXPECT_NE(complaint("").find("is no calibration"), std::string::npos);
	EXPECT_NE(complaint("[[[[").find("is no calibration"), std::string::npos);
	EXPECT_NE(complaint("{}").find("\"schema_version\" is missing"), std::string::npos);
	EXPECT_NE(complaint(std::string(2 << 20, ' ')).find("is too large"), std::string::npos);
	try {
		read_calibration("/nowhere/calibration.json", kHost);
		ADD_FAILURE();
	} catch (const Failure &failure) {
		EXPECT_NE(std::string(failure.what()).find("/nowhere/calibration.json can't be read"), std::string::npos);
	}
	const auto changed = [&](const std::string &pointer, const nlohmann::ordered_json &value) {
		nlohmann::ordered_json json = to_json(example());
		json[nlohmann::ordered_json::json_pointer(pointer)] = value;
		return complaint(json.dump());
	};
	EXPECT_NE(changed("/schema_version", 2).find("\"schema_version\" is one that"), std::string::npos);
	for (const nlohmann::ordered_json &bad : {nlohmann::ordered_json(-0.1), nlohmann::ordered_json(1.5),
											  nlohmann::ordered_json("x"), nlohmann::ordered_json(nullptr)})
		EXPECT_NE(changed("/targets/0/sizes/0/ready/share", bad).find("\"share\""), std::string::npos) << bad;
	EXPECT_NE(changed("/targets/0/sizes/0/ready/low", 0.9).find("isn't within its own bounds"), std::string::npos);
	EXPECT_NE(changed("/targets/0/sizes/1/payload_bytes", 1).find("isn't ascending"), std::string::npos);
	EXPECT_NE(changed("/targets/0/sizes/0/payload_bytes", 0).find("is 0"), std::string::npos);
}

TEST(Calibration, TellsCellsWhoseMessagesGoInOneCall)
{
	const auto shares_of = [](const std::string &target, uint64_t bytes, uint32_t parts = 1,
							  model::Mechanisms mechanisms = {}) {
		model::Cell cell;
		cell.target = target;
		cell.payload_bytes = bytes;
		cell.parts = parts;
		cell.mechanisms = mechanisms;
		std::vector<model::Cell> cells = {cell};
		const size_t told = tell_cells(example(), cells);
		EXPECT_EQ(told, cells[0].calibrated ? 1u : 0u);
		return cells[0].calibrated;
	};
	EXPECT_EQ(shares_of("pipe", 1), (model::CallShares{0.25, 0.5}));
	EXPECT_EQ(shares_of("pipe", 64), (model::CallShares{0.5, 0.5}));
	EXPECT_EQ(shares_of("pipe", 4096), (model::CallShares{0.75, 0.125}));
	const auto between = shares_of("pipe", 512); // halfway from 64 to 4096 by the logarithm
	ASSERT_TRUE(between);
	EXPECT_DOUBLE_EQ(between->ready, 0.625);
	EXPECT_DOUBLE_EQ(between->taken, 0.3125);
	EXPECT_FALSE(shares_of("pipe", 4097)) << "larger than what was tried";
	EXPECT_FALSE(shares_of("pipe", 64, 2));
	EXPECT_FALSE(shares_of("pipe", 64, 1, {model::Mechanism::UserSlot})) << "its publisher stamps";
	EXPECT_FALSE(shares_of("mqueue", 64));
	EXPECT_FALSE(shares_of("splice", 64));
}

} // namespace
} // namespace icepath::calibrate
