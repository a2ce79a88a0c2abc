// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace icepath::run {

// Lets icepath hold as many descriptors as the machine allows: each side of a cell takes some.
void raise_descriptor_limit();

// In a child that was forked: the limit is what it was before raise_descriptor_limit(). Libraries that use select(2), or that close
// every number there may be, don't bear a high one. Async-signal-safe.
void restore_descriptor_limit();

} // namespace icepath::run
