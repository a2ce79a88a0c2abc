// SPDX-License-Identifier: Apache-2.0
#include "profiler/calibrate/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>

#include "icepath/plugin.h"
#include "profiler/failure.h"
#include "profiler/model/printable.h"
#include "profiler/rundir/json_field.h"
#include "profiler/rundir/json_text.h"

namespace icepath::calibrate {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint32_t kSchemaVersion = 1;
constexpr size_t kMostTargets = 64, kMostSizes = 64;
constexpr size_t kMostFileBytes = 1 << 20;

Host host_from(const Json &json)
{
	return {rundir::text_field(json, "kernel"), rundir::text_field(json, "kernel_version"),
			rundir::text_field(json, "cpu_model")};
}

Json to_json(const Share &share) { return {{"share", share.value}, {"low", share.low}, {"high", share.high}}; }

Share share_of(const Json &object, const char *key)
{
	const Json &json = rundir::object_field(object, key);
	const Share share{rundir::share_field(json, "share"), rundir::share_field(json, "low"),
					  rundir::share_field(json, "high")};
	if (share.low > share.value || share.value > share.high)
		rundir::wrong(key, "isn't within its own bounds");
	return share;
}

model::CallShares between(const CalibratedSize &one, const CalibratedSize &other, uint64_t bytes)
{
	const auto log = [](uint64_t size) { return std::log2(static_cast<double>(size)); };
	const double weight =
		one.payload_bytes == other.payload_bytes
			? 0
			: (log(bytes) - log(one.payload_bytes)) / (log(other.payload_bytes) - log(one.payload_bytes));
	return {std::lerp(one.ready.value, other.ready.value, weight),
			std::lerp(one.taken.value, other.taken.value, weight)};
}

std::optional<model::CallShares> shares_at(const std::vector<CalibratedSize> &sizes, uint64_t bytes)
{
	const auto above = std::ranges::lower_bound(sizes, bytes, {}, &CalibratedSize::payload_bytes);
	if (above == sizes.end() || (above == sizes.begin() && above->payload_bytes != bytes))
		return {};
	return between(above == sizes.begin() ? *above : *std::prev(above), *above, bytes);
}

} // namespace

Host host_of(const model::Host &host)
{
	return {model::printable(host.kernel), model::printable(host.kernel_version), model::printable(host.cpu_model)};
}

Json to_json(const Calibration &calibration)
{
	Json targets = Json::array();
	for (const CalibratedTarget &target : calibration.targets) {
		Json sizes = Json::array();
		for (const CalibratedSize &size : target.sizes)
			sizes.push_back({{"payload_bytes", size.payload_bytes},
							 {"ready", to_json(size.ready)},
							 {"taken", to_json(size.taken)}});
		targets.push_back({{"target", target.target}, {"sizes", sizes}, {"why_not", target.why_not}});
	}
	return {{"schema_version", kSchemaVersion},
			{"icepath_version", calibration.icepath_version},
			{"made_utc", calibration.made_utc},
			{"host",
			 {{"kernel", calibration.host.kernel},
			  {"kernel_version", calibration.host.kernel_version},
			  {"cpu_model", calibration.host.cpu_model}}},
			{"targets", targets}};
}

Calibration from_json(const Json &json)
{
	if (rundir::u32_field(json, "schema_version") != kSchemaVersion)
		rundir::wrong("schema_version", "is one that this icepath doesn't know");
	Calibration calibration;
	calibration.icepath_version = rundir::text_field(json, "icepath_version");
	calibration.made_utc = rundir::text_field(json, "made_utc");
	calibration.host = host_from(rundir::object_field(json, "host"));
	for (const Json &one : rundir::array_field(json, "targets", kMostTargets)) {
		CalibratedTarget target{rundir::text_field(one, "target"), {}, rundir::text_field(one, "why_not")};
		for (const Json &size : rundir::array_field(one, "sizes", kMostSizes)) {
			target.sizes.push_back(
				{rundir::unsigned_field(size, "payload_bytes"), share_of(size, "ready"), share_of(size, "taken")});
			if (target.sizes.back().payload_bytes == 0)
				rundir::wrong("payload_bytes", "is 0");
		}
		const auto unordered = [](const CalibratedSize &a, const CalibratedSize &b) {
			return a.payload_bytes >= b.payload_bytes;
		};
		if (std::ranges::adjacent_find(target.sizes, unordered) != target.sizes.end())
			rundir::wrong("sizes", "isn't ascending");
		calibration.targets.push_back(std::move(target));
	}
	return calibration;
}

Calibration read_calibration(const std::string &path, const Host &host)
{
	const auto refuse = [&](const std::string &why) {
		return Failure(ExitCode::Usage,
					   fmt::format("--calibration: {} {}: make one with `icepath calibrate`", path, why));
	};
	std::ifstream file(path, std::ios::binary);
	if (!file)
		throw refuse("can't be read");
	std::string text(kMostFileBytes + 1, '\0');
	file.read(text.data(), static_cast<std::streamsize>(text.size()));
	text.resize(static_cast<size_t>(file.gcount()));
	if (text.size() > kMostFileBytes)
		throw refuse("is too large for a calibration");
	Calibration calibration;
	try {
		calibration = from_json(rundir::parse_json(text));
	} catch (const std::runtime_error &error) {
		throw refuse(fmt::format("is no calibration ({})", error.what()));
	}
	if (calibration.host != host)
		throw refuse("was made on another kernel or CPU, and is valid only there");
	return calibration;
}

size_t tell_cells(const Calibration &calibration, std::vector<model::Cell> &cells)
{
	size_t placed = 0;
	for (model::Cell &cell : cells) {
		const auto target = std::ranges::find(calibration.targets, cell.target, &CalibratedTarget::target);
		// If user space publishes the message, stamps show when.
		if (target == calibration.targets.end() || cell.parts != 1 || cell.mechanisms.has(model::Mechanism::UserSlot))
			continue;
		cell.calibrated = shares_at(target->sizes, cell.payload_bytes);
		placed += cell.calibrated.has_value();
	}
	return placed;
}

} // namespace icepath::calibrate
