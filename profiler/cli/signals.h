// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace icepath::cli {

// SIGINT and SIGTERM end a session in order. Called before anything that takes time: whenever Ctrl-C comes, the run ends so.
void handle_signals();

} // namespace icepath::cli
