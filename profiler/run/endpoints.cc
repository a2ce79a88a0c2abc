// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/endpoints.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "profiler/failure.h"
#include "profiler/model/cell_title.h"
#include "profiler/model/graph.h"
#include "profiler/plan/plan.h"

namespace icepath::run {
namespace {

std::vector<int> numbers(const std::vector<Fd> &fds)
{
	std::vector<int> result;
	for (const Fd &fd : fds)
		result.push_back(fd.get());
	return result;
}

// Files of transports have it, in folders where any user could take a name first.
std::string unguessable_name()
{
	uint64_t random = 0;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		throw Failure(ExitCode::MachineCannot, fmt::format("no random numbers: {}", std::strerror(errno)));
	return fmt::format("icepath-{:016x}", random);
}

} // namespace

Endpoints::Endpoints(const model::Cell &cell, const std::vector<std::unique_ptr<Worker>> &workers,
					 std::vector<int> shared)
	: cell_(cell), workers_(workers), shared_(std::move(shared)), sockets_(cell.graph.channels.size()),
	  threads_(workers.size())
{}

void Endpoints::open(const std::string &plugin, uint32_t max_messages)
{
	plugin.copy(request_.plugin, sizeof(request_.plugin) - 1);
	cell_.target.copy(request_.open.target, sizeof(request_.open.target) - 1);
	request_.open.channels = static_cast<uint32_t>(sockets_.size());
	request_.open.wait = targets::bit_of(cell_.wait);
	request_.open.payload_bytes = cell_.payload_bytes;
	request_.open.max_messages = max_messages;
	request_.open.may_lose = cell_.traits.has(model::Trait::Lossy);
	request_.open.qos = model::for_plugin(cell_.qos);
	request_.open.levels = cell_.levels;
	request_.open.peers = static_cast<uint32_t>(model::senders_of(cell_));
	if (is_fan_in(cell_))
		open_fan_in();
	else
		for (uint32_t channel = 0; channel < sockets_.size(); channel++)
			open_channel(channel, sockets_[channel]);
	for (uint32_t idle = 0; idle < cell_.levels.idle_channels; idle++) {
		Sockets silent;
		open_channel(request_.open.channels + idle, silent);
	}
}

void Endpoints::open_channel(uint32_t channel, Sockets &sockets)
{
	const uint32_t idle = channel - std::min(channel, request_.open.channels - 1); // idle channels count from 1
	const model::Channel &shape = cell_.graph.channels[idle ? 0 : channel];
	const std::array<uint32_t, 2> sides = {shape.begins, shape.receives};
	std::array<Address, 2> addresses;
	for (const uint32_t end : {0u, 1u})
		addresses[end] = open_end(channel, end, sides[end], sockets[end]);
	for (const uint32_t end : {1u, 0u})
		connect_end(end == 0 && !is_fan_in(cell_) ? channel : idle, sides[end], addresses[1 - end], sockets[end]);
}

void Endpoints::open_fan_in()
{
	const uint32_t receiver = cell_.graph.channels[0].receives;
	std::vector<Address> senders;
	for (uint32_t channel = 0; channel < sockets_.size(); channel++)
		senders.push_back(open_end(channel, 0, channel, sockets_[channel][0]));
	const Address one = open_end(0, 1, receiver, sockets_[0][1]);
	for (uint32_t channel = 0; channel < sockets_.size(); channel++) {
		connect_end(0, receiver, senders[channel], sockets_[channel][1]);
		connect_end(0, channel, one, sockets_[channel][0]);
	}
}

Endpoints::Address Endpoints::open_end(uint32_t channel, uint32_t end, uint32_t side, std::vector<Fd> &sockets)
{
	Worker &worker = *workers_[side];
	worker::Request request = request_;
	names_.try_emplace(channel, unguessable_name())
		.first->second.copy(request.open.name, sizeof(request.open.name) - 1);
	request.kind = worker::RequestKind::Open;
	request.open.channel = channel;
	request.open.side = end;
	request.open.sends = sends_from(cell_, end == 0);
	request.open.receives = receives_at(cell_, end == 0);
	model::side_name(cell_, side).copy(request.open.thread, sizeof(request.open.thread) - 1);
	Address address;
	const worker::Reply opened = worker.ask(request, shared_, address.fds);
	if (model::between(cell_) == model::Between::Threads)
		threads_[side] = opened.tid;
	if (opened.address.fds_used > std::min<size_t>(4, address.fds.size()))
		throw WorkerFailed(fmt::format("the {} sent an impossible address", worker.what()));
	const auto rest = address.fds.begin() + static_cast<ptrdiff_t>(opened.address.fds_used);
	std::move(rest, address.fds.end(), std::back_inserter(sockets));
	address.fds.erase(rest, address.fds.end());
	address.value = opened.address;
	return address;
}

void Endpoints::connect_end(uint32_t endpoint, uint32_t side, const Address &peer, std::vector<Fd> &sockets)
{
	worker::Request request{};
	request.kind = worker::RequestKind::Connect;
	request.index = endpoint;
	request.address = peer.value;
	std::vector<Fd> more;
	const worker::Reply connected = workers_[side]->ask(request, numbers(peer.fds), more);
	// A listening socket doesn't carry messages: the reply to Connect has those that accept() made.
	for (uint32_t i = 0; i < connected.sockets && i < more.size(); i++)
		sockets.push_back(std::move(more[i]));
	// Side 1 connects first: its values stay, unless another end's differ from those asked for.
	model::add_granted(cell_.qos, model::believable(connected.granted), granted_);
}

} // namespace icepath::run
