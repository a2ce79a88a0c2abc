// SPDX-License-Identifier: Apache-2.0
// Requests to the root helper, with descriptors of every kind, after it has loaded its probes. It serves in a thread of
// this process, so that libFuzzer sees what it reaches; filter and capabilities apply to that thread alone. Needs root
// and BPF; without them, it says so and tests a helper that has loaded nothing.
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "profiler/privilege/root_helper.h"
#include "tests/fuzz/root_fuzzer.h"

namespace {

using namespace icepath;
using privilege::HelperReply, privilege::HelperRequest, privilege::HelperRequestKind;

Fd open_socket(int family, int type, int protocol = 0) { return Fd(socket(family, type, protocol)); }

Fd lingering_socket()
{
	Fd lingers = open_socket(AF_INET, SOCK_STREAM);
	const linger an_hour{1, 3600};
	setsockopt(lingers.get(), SOL_SOCKET, SO_LINGER, &an_hour, sizeof(an_hour));
	return lingers;
}

// The first ones are those that icepath sends; each other one ends the helper, which is then restarted.
constexpr size_t kProper = 6;

std::vector<Fd> make_descriptors()
{
	std::vector<Fd> all;
	all.push_back(pidfd_of(child_that_waits()));
	all.push_back(pidfd_of(child_that_waits()));
	all.push_back(open_socket(AF_UNIX, SOCK_STREAM));
	all.push_back(open_socket(AF_INET, SOCK_DGRAM));
	all.push_back(pidfd_of(getpid())); // accepted as a descriptor, but refused
	all.push_back(pidfd_of(1));
	all.push_back(lingering_socket());
	all.push_back(open_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
	all.emplace_back(open("/dev/null", O_RDONLY));
	all.emplace_back(open("/proc/self", O_RDONLY | O_DIRECTORY));
	all.emplace_back(open("/", O_PATH));
	all.emplace_back(memfd_create("file", 0));
	all.emplace_back(eventfd(0, 0));
	all.emplace_back(timerfd_create(CLOCK_MONOTONIC, 0));
	return all;
}

class Helper {
public:
	Helper()
	{
		auto [ours, theirs] = channel::open_pair();
		socket_ = std::move(ours);
		thread_ = std::thread([end = std::move(theirs)] { privilege::serve(end.get(), getpid(), getuid()); });
		HelperRequest load{};
		load.kind = HelperRequestKind::Load;
		load.cpu_count = 1;
		load.records_per_slot = 64;
		load.samples = 1;
		HelperReply reply{};
		if (!ask(load, {}, reply))
			fail("the helper ended while it loaded");
		static bool said = false;
		if (reply.exit_code != 0 && !std::exchange(said, true))
			std::fprintf(stderr, "helper_requests: nothing is loaded: %s\n", reply.message.data());
	}
	~Helper()
	{
		shutdown(socket_.get(), SHUT_RDWR);
		thread_.join();
	}

	// False: it has ended.
	bool ask(const HelperRequest &request, const std::vector<int> &fds, HelperReply &reply) const
	{
		constexpr int kAnswerMs = 30'000;
		std::vector<Fd> received;
		return channel::send(socket_.get(), &request, sizeof(request), fds) &&
			   channel::receive(socket_.get(), &reply, sizeof(reply), received, kAnswerMs);
	}

private:
	Fd socket_;
	std::thread thread_;
};

// The rest of the input, followed by zeros.
class Input {
public:
	Input(const uint8_t *data, size_t size) : data_(data), size_(size) {}
	bool is_over() const { return size_ == 0; }
	uint8_t byte()
	{
		uint8_t one = 0;
		take(&one, 1);
		return one;
	}
	void take(void *to, size_t count)
	{
		const size_t some = std::min(count, size_);
		std::memcpy(to, data_, some);
		data_ += some;
		size_ -= some;
	}

private:
	const uint8_t *data_;
	size_t size_;
};

// The beginnings of a request's fields; each is followed by as many input bytes as it takes.
HelperRequest request_from(Input &input)
{
	HelperRequest request{};
	request.kind = static_cast<HelperRequestKind>(input.byte() % 10);
	if (request.kind == HelperRequestKind::Load) // otherwise each loads anew, which takes all the time
		request.records_per_slot = 0;
	for (unsigned field = input.byte(); field != 0; field >>= 1)
		switch (field & 1 ? input.byte() % 8 : 8) {
		case 0:
			input.take(&request.cpu_count, sizeof(request.cpu_count));
			break;
		case 1:
			input.take(request.cpus.data(), 8);
			break;
		case 2:
			input.take(&request.key, sizeof(request.key));
			break;
		case 3:
			input.take(&request.probes, sizeof(request.probes));
			break;
		case 4:
			input.take(&request.worker_count, sizeof(request.worker_count));
			break;
		case 5:
			input.take(request.workers.data(), 12);
			break;
		case 6:
			input.take(&request.family_count, sizeof(request.family_count));
			break;
		case 7:
			input.take(request.families.data(), 12);
			break;
		default:
			break;
		}
	request.looks = input.byte();
	if (request.looks % 4 == 3)
		input.take(&request.sample_period_ns, sizeof(request.sample_period_ns));
	if (request.kind == HelperRequestKind::Claim) // another run may use this machine's CPUs
		request.cpu_count |= 1u << 31;
	return request;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const std::vector<Fd> descriptors = make_descriptors();
	static std::optional<Helper> helper;
	Input input(data, size);
	for (int requests = 0; requests < 16 && !input.is_over(); requests++) {
		if (!helper)
			helper.emplace();
		const HelperRequest request = request_from(input);
		std::vector<int> fds;
		bool strange = false;
		for (size_t count = input.byte() % 4; count > 0; count--) {
			// Rarely a strange one, because loading again takes half a second.
			const size_t which = input.byte();
			const size_t number = which < 250 ? which % kProper : which % descriptors.size();
			strange |= number >= kProper;
			fds.push_back(descriptors[number].get());
		}
		HelperReply reply{};
		if (!helper->ask(request, fds, reply)) {
			if (!strange)
				fail("the helper ended by a request whose descriptors were proper");
			helper.reset();
			continue;
		}
		if (strange)
			fail("the helper kept a descriptor that may take for ever to close");
		if (reply.message.back() != 0 || reply.skipped_count > reply.skipped.size() ||
			(reply.exit_code != 0 && reply.message.front() == 0))
			fail("its reply isn't one");
	}
	return 0;
}
