// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace icepath::cli {

// What a parent left: blocked signals, and an ignored SIGCHLD, with which no end of a child could be told. Called before anything else.
void reset_signals();

// SIGINT, SIGTERM and SIGHUP end a session in order; SIGINT or SIGTERM once more, a second later or after that, ends it at once. Called
// before anything that takes time: whenever Ctrl-C comes, the run ends so.
void handle_signals();

// Who is ended at once says what is kept of the run in `directory`.
void name_kept_run(const std::string &directory);

} // namespace icepath::cli
