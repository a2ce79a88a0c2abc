// SPDX-License-Identifier: Apache-2.0
// Requests to the keeper, with descriptors of several kinds, before and after it has isolated the CPUs of a machine of
// files. It serves in a thread of this process, so that libFuzzer sees what it reaches; its filter applies to that
// thread alone. Whatever is asked, in the end the machine is as before, and no descriptor is left open.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <thread>
#include <vector>

#include "profiler/channel.h"
#include "profiler/isolation/keeper.h"
#include "tests/fuzz/root_fuzzer.h"
#include "tests/isolation/fake_host.h"

namespace {

using namespace icepath;
using isolation::KeeperReply, isolation::KeeperRequest;

// Pidfds first. Any other descriptor ends the keeper.
constexpr size_t kPidfds = 3;

std::vector<Fd> make_descriptors()
{
	std::vector<Fd> all;
	all.push_back(pidfd_of(child_that_waits()));
	all.push_back(pidfd_of(getpid()));
	all.push_back(pidfd_of(1));
	all.emplace_back(open("/dev/null", O_RDONLY));
	all.emplace_back(open("/", O_PATH));
	all.emplace_back(eventfd(0, 0));
	all.emplace_back(socket(AF_UNIX, SOCK_STREAM, 0));
	return all;
}

size_t open_descriptors()
{
	const auto all = std::filesystem::directory_iterator("/proc/self/fd");
	return static_cast<size_t>(std::distance(begin(all), end(all)));
}

class Keeper {
public:
	explicit Keeper(const isolation::FakeHost &host)
	{
		auto [ours, theirs] = channel::open_pair();
		socket_ = std::move(ours);
		thread_ = std::thread([&host, end = std::move(theirs)] {
			const Fd never(eventfd(0, EFD_CLOEXEC));
			isolation::keep_machine(host.tree, end.get(), getpid(), getuid(), never, {});
		});
	}
	~Keeper()
	{
		shutdown(socket_.get(), SHUT_RDWR);
		thread_.join();
	}
	Keeper(const Keeper &) = delete;
	Keeper &operator=(const Keeper &) = delete;

	// False: it has ended.
	bool ask(const KeeperRequest &request, const std::vector<int> &fds) const
	{
		constexpr int kAnswerMs = 30'000;
		std::vector<Fd> none;
		KeeperReply reply{};
		if (!channel::send(socket_.get(), &request, sizeof(request), fds))
			return false;
		for (uint32_t left = 1; left > 0; left--) {
			if (!channel::receive(socket_.get(), &reply, sizeof(reply), none, kAnswerMs))
				return false;
			if (reply.follow > 0)
				left += reply.follow;
			if (reply.name.back() != 0 || reply.text.back() != 0 || reply.remedy.back() != 0 ||
				(reply.exit_code != 0 && reply.text.front() == 0) || left > 1000)
				fail("its reply isn't one");
		}
		return true;
	}

private:
	Fd socket_;
	std::thread thread_;
};

} // namespace

// Each request: its kind, the number of its CPUs, four of these, the number of its descriptors, these.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const std::vector<Fd> descriptors = make_descriptors();
	const isolation::FakeHost host;
	const auto before = host.files();
	const size_t open_before = open_descriptors();
	const auto byte = [&]() -> uint8_t {
		if (size == 0)
			return 0;
		--size;
		return *data++;
	};
	{
		const Keeper keeper(host);
		for (int requests = 0; requests < 16 && size > 0; requests++) {
			KeeperRequest request{};
			request.kind = static_cast<KeeperRequest::Kind>(byte() % 7);
			const uint8_t count = byte();
			request.cpu_count = count < 250 ? count % 66 : count << 24;
			for (size_t i = 0; i < 4; i++) {
				const uint8_t cpu = byte();
				request.cpus[i] = cpu < 250 ? cpu % 6 : cpu << 24;
			}
			if (request.kind == KeeperRequest::Kind::Tune) { // by the same bytes
				request.tuning_count = request.cpu_count;
				for (size_t i = 0; i < 4; i++)
					request.tunings[i] = {request.cpus[i], 0, uint64_t{request.cpus[(i + 1) % 4]} << (8 * i)};
			}
			std::vector<int> fds;
			bool strange = false;
			for (size_t some = byte() % 4; some > 0; some--) {
				const size_t which = byte() % descriptors.size();
				strange |= which >= kPidfds;
				fds.push_back(descriptors[which].get());
			}
			if (keeper.ask(request, fds) == strange)
				fail(strange ? "the keeper kept a descriptor that may take for ever to close"
							 : "the keeper ended by a request whose descriptors were proper");
			if (strange)
				break;
		}
	}
	if (host.files() != before)
		fail("the machine isn't as before");
	if (!host.journal().empty())
		fail("the journal isn't empty");
	if (open_descriptors() != open_before)
		fail("a descriptor was left open");
	return 0;
}
