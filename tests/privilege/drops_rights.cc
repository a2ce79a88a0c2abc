// SPDX-License-Identifier: Apache-2.0
// drops_rights [fork] [PROGRAM...]: if it is set-uid, gives its rights up at once; then executes a program, or sleeps
// again and again. "fork": a child does, which begins with the rights, while the first process keeps them.
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

int main(int argc, char **argv)
{
	char **next = argv + 1;
	if (argc > 1 && std::strcmp(*next, "fork") == 0) {
		if (fork() != 0)
			for (;;)
				pause();
		next++;
	}
	if (setresgid(getgid(), getgid(), getgid()) || setresuid(getuid(), getuid(), getuid()))
		return 1;
	prctl(PR_SET_PDEATHSIG, SIGKILL); // after the change, which clears it
	if (*next)
		execv(*next, next);
	for (;;)
		usleep(20'000);
}
