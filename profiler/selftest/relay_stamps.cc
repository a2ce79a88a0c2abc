// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/relay_stamps.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

namespace icepath::selftest {

std::vector<RelayStamps> read_relay_stamps(const std::string &folder)
{
	std::vector<RelayStamps> relays;
	std::error_code none;
	const auto file = std::make_unique<RelayFile>();
	for (const auto &entry : std::filesystem::directory_iterator(folder, none)) {
		std::ifstream stream(entry.path(), std::ios::binary);
		if (!stream.read(reinterpret_cast<char *>(file.get()), sizeof(RelayFile)))
			continue;
		RelayStamps &relay = relays.emplace_back();
		relay.tid = file->tid;
		for (const RelayStamp &stamp : file->stamps) {
			if (stamp.taken_ns == 0 || stamp.given_ns < stamp.taken_ns)
				break;
			relay.stamps.push_back(stamp);
		}
	}
	return relays;
}

} // namespace icepath::selftest
