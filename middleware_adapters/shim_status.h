// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the functions of C have in common by which a library in Rust is called: c_calls.rs is its other side.
#include <cstdint>

constexpr uint64_t kShimWhyBytes = 256; // of a sentence that tells why a call failed

enum ShimStatus : int32_t { kShimFailed = -1, kShimNothing = 0, kShimDone = 1 };
