// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace icepath::cli {

// Undoes what a parent may have left: blocked signals, and an ignored SIGCHLD, with which waiting for children doesn't
// work. Call it before anything else.
void reset_signals();

// SIGINT, SIGTERM and SIGHUP end a session in order; another SIGINT or SIGTERM, more than a second later, ends it at
// once. Call it before anything that takes time.
void handle_signals();

// For commands that read a run and write files: SIGINT, SIGTERM and SIGHUP end them at once, and no begun file remains.
void leave_no_begun_files();

// `directory`: of the run; a session that is ended at once reports what is kept there.
void name_kept_run(const std::string &directory);

} // namespace icepath::cli
