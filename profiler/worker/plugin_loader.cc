// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/plugin_loader.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

#include "profiler/failure.h"
#include "profiler/worker/plugin_abi.h"

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
	const icepath_plugin *its = get();
	if (!its)
		refuse(fmt::format("{} has no interface: its icepath_plugin_get returned nothing", file_));
	const Abi built_for = abi_of(its->abi), own = abi_of(ICEPATH_PLUGIN_ABI);
	if (!can_load(built_for, own))
		refuse(fmt::format("{} was built for plug-in interface {}.{}, this icepath speaks {}.0 to {}.{}: {}", file_,
						   built_for.major_number, built_for.minor_number, own.major_number, own.major_number,
						   own.minor_number,
						   built_for.major_number < own.major_number ? "rebuild it" : "install a newer icepath"));
	calls_ = checked(its, kSmallestPlugin, "icepath_plugin");
	if (calls_.daemon) {
		daemon_ = checked(calls_.daemon, kSmallestDaemon, "icepath_daemon");
		calls_.daemon = &daemon_;
		if (!daemon_.program || !daemon_.ready || !*daemon_.ready || (daemon_.file && !daemon_.file_text))
			refuse(fmt::format("{} doesn't describe all of its daemon", file_));
	}
	if (!calls_.name || !calls_.target || !calls_.open || !calls_.connect || !calls_.send || !calls_.recv ||
		!calls_.cancel || !calls_.close || !calls_.error || !calls_.sockets)
		refuse(fmt::format("{} lacks a function that every plug-in must have", file_));
}

template <typename Struct> Struct Plugin::checked(const Struct *its, uint32_t smallest, const char *name) const
{
	const auto whole = whole_struct(its, smallest);
	if (!whole)
		refuse(fmt::format("{} was built with an {} of {} bytes, which no version of this interface has: rebuild it",
						   file_, name, its->size));
	return *whole;
}

std::optional<icepath_target> Plugin::target(uint32_t n) const
{
	const icepath_target *its = calls_.target(n);
	if (!its)
		return std::nullopt;
	const icepath_target target = checked(its, kSmallestTarget, "icepath_target");
	if (!target.name)
		refuse(fmt::format("{} has a target without a name", file_));
	if ((target.waits & ICEPATH_WAIT_CALLBACK) && !(target.mechanisms & ICEPATH_USES_LIBRARY_THREADS))
		refuse(
			fmt::format("{} has a target {} with callbacks, but without threads that make them", file_, target.name));
	if ((target.capabilities & ICEPATH_CAN_LOAN) &&
		(!calls_.loan || !calls_.send_loaned || !calls_.take || !calls_.give_back))
		refuse(fmt::format("{} lacks a function that its target {} must have to lend slots", file_, target.name));
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
