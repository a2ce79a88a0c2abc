// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/signals.h"

#include <csignal>

#include "profiler/run/session.h"

namespace icepath::cli {
namespace {

void on_signal(int number)
{
	run::interrupt_session();
	signal(number, SIG_DFL); // the second one ends icepath at once
}

} // namespace

void handle_signals()
{
	struct sigaction action{};
	action.sa_handler = on_signal;
	sigaction(SIGINT, &action, nullptr);
	sigaction(SIGTERM, &action, nullptr);
	signal(SIGPIPE, SIG_IGN);
}

} // namespace icepath::cli
