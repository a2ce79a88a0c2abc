// SPDX-License-Identifier: Apache-2.0
#include "tests/privilege/signal_storm.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>

namespace icepath::privilege {

SignalStorm::SignalStorm(uid_t user, pid_t target, unsigned most_us) : target_(target), storm_(fork())
{
	if (storm_ != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setresuid(user, user, user))
		_exit(1);
	std::minstd_rand random(static_cast<unsigned>(target));
	while (kill(target, SIGSTOP) == 0 && kill(target, SIGCONT) == 0)
		usleep(static_cast<useconds_t>(random() % most_us));
	_exit(0);
}

SignalStorm::~SignalStorm()
{
	kill(storm_, SIGKILL);
	waitpid(storm_, nullptr, 0);
	kill(target_, SIGCONT);
}

} // namespace icepath::privilege
