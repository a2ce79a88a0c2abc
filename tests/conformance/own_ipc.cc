// SPDX-License-Identifier: Apache-2.0
// As in a run (profiler/privilege/ipc_namespace.h), the workers under test have their own IPC objects: killed in the
// middle, they leave no System V queue on this machine. /dev/mqueue is mounted anew: otherwise a search for leftover
// names would read the machine's queues and find nothing. Without the right to do so, the suite runs without it.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

namespace icepath::test {
namespace {

class OwnIpc : public testing::Environment {
	void SetUp() override
	{
		if (unshare(CLONE_NEWIPC | CLONE_NEWNS) || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr))
			return;
		mount("mqueue", "/dev/mqueue", "mqueue", 0, nullptr);
	}
};

[[maybe_unused]] const auto *const own_ipc = testing::AddGlobalTestEnvironment(new OwnIpc);

} // namespace
} // namespace icepath::test
