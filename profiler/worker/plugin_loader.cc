// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/plugin_loader.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

#include "profiler/failure.h"

namespace icepath::worker {
namespace {

[[noreturn]] void refuse(const std::string &sentence) { throw Failure(ExitCode::MachineCannot, sentence); }

std::string sentence_of(const icepath_plugin &plugin, const icepath_endpoint *endpoint)
{
	const char *text = plugin.error(endpoint);
	return text && *text ? text : fmt::format("the plug-in {} gave no reason", plugin.name);
}

} // namespace

Plugin::Plugin(const std::string &path) : file_(path.substr(path.rfind('/') + 1))
{
	// Without a slash in the path, dlopen() would search the system's library folders.
	if (path.find('/') == std::string::npos)
		refuse(fmt::format("the plug-in \"{}\" was given without its folder", path));
	void *object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
	if (!object)
		refuse(fmt::format("{} cannot be loaded: {}", file_, dlerror()));
	const auto get = reinterpret_cast<const icepath_plugin *(*)()>(dlsym(object, "icepath_plugin_get"));
	if (!get)
		refuse(fmt::format("{} isn't a plug-in of icepath: it has no icepath_plugin_get", file_));
	plugin_ = get();
	if (!plugin_)
		refuse(fmt::format("{} has no interface: its icepath_plugin_get returned nothing", file_));
	if (plugin_->abi != ICEPATH_PLUGIN_ABI)
		refuse(fmt::format("{} was built for plug-in interface {}, this icepath speaks {}: rebuild it", file_,
						   plugin_->abi, ICEPATH_PLUGIN_ABI));
	if (plugin_->size != sizeof(icepath_plugin))
		refuse(fmt::format("{} was built with an icepath_plugin of {} bytes, this icepath has {}: rebuild it", file_,
						   plugin_->size, sizeof(icepath_plugin)));
	if (const icepath_daemon *daemon = plugin_->daemon) {
		if (daemon->size != sizeof(icepath_daemon))
			refuse(fmt::format("{} was built with an icepath_daemon of {} bytes, this icepath has {}: rebuild it",
							   file_, daemon->size, sizeof(icepath_daemon)));
		if (!daemon->program || !daemon->ready || !*daemon->ready || (daemon->file && !daemon->file_text))
			refuse(fmt::format("{} doesn't describe all of its daemon", file_));
	}
	const icepath_plugin &calls = *plugin_;
	if (!calls.name || !calls.target || !calls.open || !calls.connect || !calls.send || !calls.recv || !calls.cancel ||
		!calls.close || !calls.error || !calls.sockets)
		refuse(fmt::format("{} lacks a function that every plug-in must have", file_));
}

const icepath_target *Plugin::target(uint32_t n) const
{
	const icepath_target *target = plugin_->target(n);
	if (!target)
		return nullptr;
	if (target->size != sizeof(icepath_target))
		refuse(fmt::format("{} was built with an icepath_target of {} bytes, this icepath has {}: rebuild it", file_,
						   target->size, sizeof(icepath_target)));
	if (!target->name)
		refuse(fmt::format("{} has a target without a name", file_));
	if ((target->waits & ICEPATH_WAIT_CALLBACK) && !(target->mechanisms & ICEPATH_USES_LIBRARY_THREADS))
		refuse(
			fmt::format("{} has a target {} with callbacks, but without threads that make them", file_, target->name));
	const icepath_plugin &calls = *plugin_;
	if ((target->capabilities & ICEPATH_CAN_LOAN) &&
		(!calls.loan || !calls.send_loaned || !calls.take || !calls.give_back))
		refuse(fmt::format("{} lacks a function that its target {} must have to lend slots", file_, target->name));
	return target;
}

Endpoint::Endpoint(const Plugin &plugin, const icepath_open &how, icepath_address &address) : calls_(plugin.calls())
{
	if (calls_.open(&how, &endpoint_, &address) != ICEPATH_OK)
		throw Failure(ExitCode::MachineCannot, sentence_of(calls_, nullptr));
	if (address.fds_used > std::size(address.fds) || address.bytes_used > std::size(address.bytes))
		throw Failure(ExitCode::Internal, fmt::format("{} gave an address that is too long", plugin.file()));
}

void Endpoint::connect(const icepath_address &peer)
{
	if (calls_.connect(endpoint_, &peer) != ICEPATH_OK)
		throw Failure(ExitCode::MachineCannot, error());
}

std::string Endpoint::error() const { return sentence_of(calls_, endpoint_); }

icepath_qos Endpoint::granted() const
{
	icepath_qos qos{};
	if (calls_.granted)
		calls_.granted(endpoint_, &qos);
	return qos;
}

uint32_t Endpoint::sockets(int *fds, uint32_t capacity) const
{
	return std::min(calls_.sockets(endpoint_, fds, capacity), capacity);
}

} // namespace icepath::worker
