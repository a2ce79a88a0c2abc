// SPDX-License-Identifier: Apache-2.0
#pragma once
// The common part of the C functions that call a Rust library; c_calls.rs is the other side.
#include <cstdint>

constexpr uint64_t kShimWhyBytes = 256; // size of the sentence about a failed call

enum ShimStatus : int32_t { kShimFailed = -1, kShimNothing = 0, kShimDone = 1 };
