// SPDX-License-Identifier: Apache-2.0
// A publisher of Zenoh with `express` puts each message into a batch of its own: many messages in quick succession take
// as many bytes of the connection as they would one by one. Those of other publishers share batches, and their headers.
#include <gtest/gtest.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tests/conformance/targets.h"
#include "tests/conformance/worker_pair.h"

namespace icepath::test {
namespace {

class Batches : public testing::TestWithParam<Case> {};

// What a process has written to its TCP connections so far.
uint64_t bytes_sent(pid_t pid)
{
	const Fd process = pidfd_of(pid);
	uint64_t bytes = 0;
	for (const auto &entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
		const Fd file(static_cast<int>(syscall(SYS_pidfd_getfd, process.get(), std::stoi(entry.path().filename()), 0)));
		tcp_info info{};
		socklen_t size = sizeof(info);
		if (file && getsockopt(file.get(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0)
			bytes += info.tcpi_bytes_sent;
	}
	return bytes;
}

TEST_P(Batches, HaveOneMessageEach)
{
	constexpr uint32_t kMessages = 500;
	WorkerPair pair(GetParam().plan());
	ASSERT_EQ(pair.open(), "");
	const auto bytes_of = [&](uint32_t messages) {
		const uint64_t before = bytes_sent(pair.side(0).pid());
		EXPECT_EQ(pair.run(pair.block(messages))[1].block.recvs, messages);
		return bytes_sent(pair.side(0).pid()) - before;
	};
	// What the library says for itself may come beside one of them.
	const uint64_t of_one = std::min({bytes_of(1), bytes_of(1), bytes_of(1)});
	ASSERT_GT(of_one, GetParam().payload_bytes);
	EXPECT_GE(bytes_of(kMessages), kMessages * of_one);
}

std::vector<Case> cases_without_batching()
{
	std::vector<Case> cases = cases_of_size(64);
	std::erase_if(cases, [](const Case &each) { return each.target != "zenoh/tcp-express" || !each.one_way; });
	return cases;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Batches);
INSTANTIATE_TEST_SUITE_P(Every, Batches, testing::ValuesIn(cases_without_batching()),
						 [](const auto &each) { return each.param.test_name(); });

} // namespace
} // namespace icepath::test
