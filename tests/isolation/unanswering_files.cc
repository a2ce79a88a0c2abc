// SPDX-License-Identifier: Apache-2.0
#include "tests/isolation/unanswering_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>

namespace icepath::isolation {
namespace {

// Answers the first request, which asks for the protocol's version. Then only reads: a request that was read isn't
// given up, even by who gets SIGKILL (request_wait_answer() of fs/fuse/dev.c).
[[noreturn]] void serve(int device)
{
	std::array<char, 1 << 17> request{};
	for (bool begun = false; read(device, request.data(), request.size()) > 0; begun = true) {
		if (begun)
			continue;
		fuse_in_header asked{};
		std::memcpy(&asked, request.data(), sizeof(asked));
		struct {
			fuse_out_header header;
			fuse_init_out init;
		} answer{};
		answer.header = {sizeof(answer), 0, asked.unique};
		answer.init.major = FUSE_KERNEL_VERSION;
		answer.init.minor = FUSE_KERNEL_MINOR_VERSION;
		answer.init.max_write = 4096;
		if (write(device, &answer, sizeof(answer)) != sizeof(answer))
			_exit(1);
	}
	_exit(0);
}

} // namespace

UnansweringFiles::UnansweringFiles() : folder_("/tmp/icepath-unanswering")
{
	const int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	EXPECT_GE(device, 0) << "/dev/fuse: " << std::strerror(errno);
	mkdir(folder_.c_str(), 0755);
	const std::string options = "fd=" + std::to_string(device) + ",rootmode=40000,user_id=0,group_id=0,allow_other";
	EXPECT_EQ(mount("icepath-test", folder_.c_str(), "fuse", 0, options.c_str()), 0) << std::strerror(errno);
	server_ = fork();
	if (server_ == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(device);
	}
	close(device);
}

UnansweringFiles::~UnansweringFiles()
{
	end();
	umount2(folder_.c_str(), MNT_DETACH);
	rmdir(folder_.c_str());
}

void UnansweringFiles::end()
{
	if (server_ > 0) {
		kill(server_, SIGKILL);
		waitpid(server_, nullptr, 0);
	}
	server_ = -1;
}

} // namespace icepath::isolation
