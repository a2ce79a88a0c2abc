// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/cpu_claim.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>

#include "claims.skel.h"
#include "profiler/capture/bpf_object.h"

namespace icepath::privilege {
namespace {

[[noreturn]] void refuse(const char *what, int error)
{
	throw NoClaims(ExitCode::MachineCannot, fmt::format("CPUs can't be claimed against other runs, so start no other "
														"run beside this one: {}: {}",
														what, std::strerror(error)));
}

// Ids rise by one with each map up to 2^31 - 2, and then begin again: of two maps, the earlier one is less than half of
// the ids behind.
bool was_made_before(uint32_t map, uint32_t other)
{
	constexpr uint32_t kIds = uint32_t{1} << 31;
	const uint32_t later_by = (other - map) % kIds;
	return later_by > 0 && later_by < kIds / 2;
}

// At most 15 characters, for CPUs to 9999 and the kernel's largest process id.
std::string name_of(uint32_t cpu, pid_t holder) { return fmt::format("ice{}_{}", cpu, holder); }

// The same for users to 4294967295: how many such maps there are is how many claims the user holds.
std::string name_of_member(uid_t user) { return fmt::format("icu_{}", user); }

// All claims on this machine.
class Claims {
public:
	struct Map {
		uint32_t id;
		std::string name;
	};
	Claims()
	{
		libbpf_set_print(nullptr); // the user gets one sentence
		for (int loads = 0; loads < capture::kMostLoads && !bpf_ && (loads == 0 || errno == EAGAIN); loads++)
			bpf_.reset(claims_bpf__open_and_load());
		if (!bpf_ && errno == EAGAIN)
			throw capture::LoadInterrupted();
		if (!bpf_)
			refuse("loading", errno);
		link_.reset(bpf_program__attach_iter(bpf_->progs.list_claims, nullptr));
		if (!link_)
			refuse("attaching", errno);
	}
	std::vector<Map> maps() const
	{
		std::istringstream lines(text());
		std::vector<Map> maps;
		for (Map map{}; lines >> map.id && std::getline(lines >> std::ws, map.name);)
			maps.push_back(map);
		return maps;
	}
	std::vector<Claim> read() const
	{
		std::vector<Claim> claims;
		for (const auto &[id, name] : maps()) {
			Claim claim{id, 0, 0};
			if (std::sscanf(name.c_str(), "ice%u_%d", &claim.cpu, &claim.holder) == 2 &&
				name == name_of(claim.cpu, claim.holder))
				claims.push_back(claim);
		}
		return claims;
	}

private:
	std::string text() const
	{
		const Fd list(bpf_iter_create(bpf_link__fd(link_.get())));
		std::string text;
		std::array<char, 4096> piece{};
		for (;;) {
			const ssize_t bytes = list ? ::read(list.get(), piece.data(), piece.size()) : -1;
			if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
				continue;
			if (bytes < 0)
				refuse("reading", errno);
			if (bytes == 0)
				return text;
			text.append(piece.data(), static_cast<size_t>(bytes));
		}
	}
	struct Close {
		void operator()(claims_bpf *bpf) const { claims_bpf__destroy(bpf); }
		void operator()(bpf_link *link) const { bpf_link__destroy(link); }
	};
	std::unique_ptr<claims_bpf, Close> bpf_;
	std::unique_ptr<bpf_link, Close> link_;
};

uint32_t id_of(const Fd &map)
{
	bpf_map_info info{};
	__u32 size = sizeof(info);
	if (bpf_obj_get_info_by_fd(map.get(), &info, &size))
		refuse("asking", errno);
	return info.id;
}

// True also for a process that can't be seen from here, because it is in another container.
bool has_ended(pid_t holder)
{
	const Fd pidfd = pidfd_of(holder);
	pollfd end{pidfd.get(), POLLIN, 0};
	return pidfd ? poll(&end, 1, 0) > 0 : errno == ESRCH;
}

Failure taken(const Claim &by, bool ended)
{
	return Failure(ExitCode::MachineCannot,
				   ended ? fmt::format("the helper of another icepath (pid {}), which has ended or is in another "
									   "container, holds CPU {}: end it, or take other CPUs with --cpus",
									   by.holder, by.cpu)
						 : fmt::format("another icepath (pid {}) is measuring on CPU {}, and two runs on one CPU "
									   "measure each other: wait until it has ended, or take other CPUs with --cpus",
									   by.holder, by.cpu));
}

// A killed icepath leaves a helper that ends soon afterwards, and holds its CPUs until then.
constexpr int kPatienceMs = 5000, kLookEveryMs = 20;

Fd make_map(const std::string &name)
{
	constexpr uint32_t kValueBytes = 4, kEntries = 1;
	Fd map(bpf_map_create(BPF_MAP_TYPE_QUEUE, name.c_str(), 0, kValueBytes, kEntries, nullptr));
	if (!map)
		refuse("making a map", errno);
	return map;
}

// Of two that come at the same time, one may be refused though there is room for it, but never too many are accepted.
Fd count_member(uid_t user, const Claims &all)
{
	const std::string name = name_of_member(user);
	Fd map = make_map(name);
	const std::vector<Claims::Map> maps = all.maps();
	const auto held = static_cast<size_t>(std::ranges::count(maps, name, &Claims::Map::name));
	if (held == 0)
		refuse("finding its own map", ENOENT);
	if (held > CpuClaim::kMostOfMember)
		throw Failure(
			ExitCode::MachineCannot,
			fmt::format("user {} has {} runs of icepath already, and each slows the whole machine: wait until "
						"one of them has ended",
						user, held - 1));
	return map;
}

Fd claim_cpu(uint32_t cpu, pid_t holder, const Claims &all)
{
	const std::vector<Claim> before = all.read();
	Fd map = make_map(name_of(cpu, holder));
	const uint32_t own = id_of(map);
	for (int waited_ms = 0;; waited_ms += kLookEveryMs) {
		const std::vector<Claim> claims = all.read();
		if (std::ranges::find(claims, own, &Claim::map) == claims.end())
			refuse("finding its own map", ENOENT); // as where the kernel keeps no names
		const std::optional<Claim> earlier = earlier_claim(claims, cpu, own, before);
		if (!earlier)
			return map;
		const bool ended = has_ended(earlier->holder);
		if (!ended || waited_ms >= kPatienceMs)
			throw taken(*earlier, ended);
		poll(nullptr, 0, kLookEveryMs);
	}
}

} // namespace

std::vector<Claim> read_claims() { return Claims().read(); }

std::optional<Claim> earlier_claim(const std::vector<Claim> &claims, uint32_t cpu, uint32_t own,
								   const std::vector<Claim> &before)
{
	const auto earlier = std::ranges::find_if(claims, [&](const Claim &claim) {
		return claim.cpu == cpu &&
			   (was_made_before(claim.map, own) || std::ranges::find(before, claim.map, &Claim::map) != before.end());
	});
	return earlier == claims.end() ? std::nullopt : std::optional(*earlier);
}

CpuClaim::CpuClaim(std::vector<uint32_t> cpus, pid_t holder, std::optional<uid_t> member)
{
	std::ranges::sort(cpus); // so that of two runs that begin at once one gets all of them
	cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
	const Claims all;
	if (member)
		maps_.push_back(count_member(*member, all));
	for (const uint32_t cpu : cpus)
		maps_.push_back(claim_cpu(cpu, holder, all));
}

} // namespace icepath::privilege
