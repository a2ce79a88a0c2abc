// SPDX-License-Identifier: Apache-2.0
#pragma once
// A program whose messages name themselves: connection, writer, number and length stand in the payload. So its receiver
// knows which call took which message, whatever icepath makes of it. What happened is in memory that the test shares.
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "profiler/model/attached.h"

namespace icepath::attach {

struct Sending {
	uint32_t tid = 0, connection = 0, writer = 0, number = 0, bytes = 0;
	uint64_t before_ns = 0, after_ns = 0; // around its call
};
struct Receipt { // of a message's last byte
	uint32_t tid = 0, connection = 0, writer = 0, number = 0;
	uint64_t before_ns = 0, after_ns = 0;
};

struct Truth {
	static constexpr uint32_t kMost = 400'000;
	std::atomic<uint32_t> sendings{0}, receipts{0}, broken{0};
	std::array<Sending, kMost> sent;
	std::array<Receipt, kMost> received;
};

struct Load {
	const char *name = "";
	model::StreamKind kind = model::StreamKind::UnixStream;
	uint32_t connections = 1, writers = 1; // writers of each connection
	uint32_t messages = 2000; // of each writer
	uint32_t longest = 4000;
	uint32_t ring = 1u << 17; // records of each CPU; a small one loses some
	bool begins_before = false; // its queues aren't empty as the watching begins
	bool peeks = false; // before it takes
	bool passes_on = false; // the writers' end goes to another process in between, over a socket
	bool forks = false; // each writer's second half is written by a child
	bool threads_end = false; // a writer's thread is another one every 100 messages
	bool sends_files = false; // by sendfile() and splice()
	bool floods = false; // its writers never wait
	uint32_t life = 0; // messages after which the writer connects anew, and awaits a greeting; 0: never
};

struct Shared;
// The program: runs until all is received.
void run_load(const Load &load, Truth &truth, Shared &shared);

// Memory that a child shares; freed with the pointer.
std::shared_ptr<Truth> shared_truth();

} // namespace icepath::attach
