// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the slowed build of a plug-in adds to each message. It is many times what differs between two cells of one
// build, and short enough that the receiver sleeps no deeper for it.
#include <cstdint>

namespace icepath::end_to_end {

inline constexpr uint64_t kAddedNs = 20'000;

// A plug-in of this build has the file name of the plain one, and another folder: an arm of a run names the folder, so
// that icepath finds the same target in both.
//
// The delay comes before the system call and after the stamp of the message, so it belongs to the layer sender.user, of
// messages in both directions.
inline constexpr const char *kSlowedLayer = "sender.user";

} // namespace icepath::end_to_end
