// SPDX-License-Identifier: Apache-2.0
#pragma once
// A participant with the C++ API of Cyclone DDS, with a topic for each direction. The headers of 0.10 aren't C++20, so
// their users are compiled separately. Each function may throw a std::exception.
#include <dds/dds.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace icepath::plugin_kit {

struct CxxSetup {
	std::string config; // XML
	const dds_qos_t *qos;
	std::string to, from; // topics; empty: none
	std::function<void()> on_data; // called by a library thread; empty: await() waits in a WaitSet
};

class CxxParticipant {
public:
	CxxParticipant();
	~CxxParticipant(); // never throws
	CxxParticipant(const CxxParticipant &) = delete;
	CxxParticipant &operator=(const CxxParticipant &) = delete;

	void join(const CxxSetup &setup);
	bool is_matched() const;
	dds_entity_t writer() const; // 0: none
	dds_entity_t reader() const;

	std::vector<uint8_t> &outgoing();
	// False after the longest wait for room.
	bool write();

	// The incoming message, lent until the next call of this or give_back(). NULL: none, or only a writer's state.
	const std::vector<uint8_t> *take(bool &is_empty);
	void give_back();
	// Waits until there is something to take, or end_wait() was called.
	void await();
	// Any thread; later waits return at once. Never throws, but may fail.
	bool end_wait();

private:
	struct Entities;
	std::unique_ptr<Entities> entities_;
};

} // namespace icepath::plugin_kit
