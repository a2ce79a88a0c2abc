// SPDX-License-Identifier: Apache-2.0
// While a socket of icepath's has a name in a folder that is everybody's, its user alone may send to it.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "icepath/plugin.h"

namespace {

TEST(SocketName, IsItsUsersAloneWhateverTheUmask)
{
	void *library = dlopen(UDS_PLUGIN, RTLD_NOW);
	ASSERT_NE(library, nullptr) << dlerror();
	const auto get = reinterpret_cast<const icepath_plugin *(*)()>(dlsym(library, "icepath_plugin_get"));
	ASSERT_NE(get, nullptr);
	const icepath_plugin *uds = get();

	icepath_open how{};
	how.size = sizeof(how);
	how.target = "uds-dgram";
	how.name = "icepath-socket-name-test";
	how.side = 1;
	how.receives = 1;
	how.wait = ICEPATH_WAIT_BLOCK;
	how.payload_bytes = 64;
	how.peers = 2; // a fan-in, to whose receiver senders connect by a name
	icepath_endpoint *endpoint = nullptr;
	icepath_address address{};
	const mode_t before = umask(0);
	const int opened = uds->open(&how, &endpoint, &address);
	umask(before);
	ASSERT_EQ(opened, ICEPATH_OK) << uds->error(nullptr);

	int named = 0;
	for (uint32_t i = 0; i < address.fds_used; i++) {
		struct stat status{};
		ASSERT_EQ(fstat(address.fds[i], &status), 0);
		if (S_ISSOCK(status.st_mode)) {
			named++;
			EXPECT_EQ(status.st_mode & 07777u, 0600u);
		}
		close(address.fds[i]);
	}
	EXPECT_EQ(named, 1);
	uds->close(endpoint);
}

} // namespace
