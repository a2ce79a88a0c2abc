// SPDX-License-Identifier: Apache-2.0
#pragma once
// One process sends messages to another, one at a time, over any kernel mechanism, with stamps around each call; in
// turns, between which probes are attached and detached.
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "tests/capture/player.h"

namespace icepath::capture {

enum class Mechanism : uint8_t { Stream, Datagram, SeqPacket, Tcp, Udp, Pipe, MessageQueue };
inline constexpr std::string_view kMechanismNames[] = {"stream", "dgram", "seqpacket", "tcp", "udp", "pipe", "mqueue"};

// What the receiver does while a message is sent.
enum class Receiver : uint8_t {
	Asleep, // in the taking call
	Away, // asks after the sending call has ended: both calls last as long as their work
};

inline constexpr int kTurns = 128, kMessagesOfTurn = 20, kMessages = kTurns * kMessagesOfTurn;
inline constexpr uint32_t kPayloadBytes = 8;

struct Stamps {
	uint64_t send_begin_ns, send_end_ns, take_begin_ns, take_end_ns;
};

class OneWay {
public:
	OneWay(Mechanism mechanism, Receiver receiver, std::pair<uint32_t, uint32_t> cpus);
	~OneWay();
	OneWay(const OneWay &) = delete;
	OneWay &operator=(const OneWay &) = delete;
	void play_turn();
	const Player &sender() const { return *sender_; }
	const Player &receiver() const { return *receiver_; }
	int in() const { return in_; } // the receiver's end
	std::span<const Stamps> stamps() const;

private:
	struct Shared;
	void open(Mechanism mechanism);
	bool send_turn(int turn);
	bool take_turn(int turn);

	const Mechanism mechanism_;
	const Receiver how_;
	int out_ = -1, in_ = -1;
	Shared *shared_ = nullptr; // mapped in both players
	std::unique_ptr<Player> receiver_, sender_;
};

} // namespace icepath::capture
