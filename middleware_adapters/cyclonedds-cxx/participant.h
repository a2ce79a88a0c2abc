// SPDX-License-Identifier: Apache-2.0
#pragma once
// A participant by the C++ API of Cyclone DDS, with a topic for each direction. The API's headers of 0.10 are none of C++20, so that what
// includes them is compiled apart. Each function may throw a std::exception.
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
	std::function<void()> on_data; // called by the library's thread; empty: await() waits in a WaitSet
};

class CxxParticipant {
public:
	CxxParticipant();
	~CxxParticipant(); // throws nothing
	CxxParticipant(const CxxParticipant &) = delete;
	CxxParticipant &operator=(const CxxParticipant &) = delete;

	void join(const CxxSetup &setup);
	bool is_matched() const;
	dds_entity_t writer() const; // 0: there is none
	dds_entity_t reader() const;

	std::vector<uint8_t> &outgoing();
	// False where it waited for room for as long as it may.
	bool write();

	// What came, lent until the next call of this or give_back(); null: nothing, or only word of a writer.
	const std::vector<uint8_t> *take(bool &is_empty);
	void give_back();
	// Until there is something to take, or end_wait().
	void await();
	// By any thread; every later wait comes back at once. Throws nothing, but may fail.
	bool end_wait();

private:
	struct Entities;
	std::unique_ptr<Entities> entities_;
};

} // namespace icepath::plugin_kit
