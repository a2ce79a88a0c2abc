// SPDX-License-Identifier: Apache-2.0
#pragma once
// --qos POLICY=VALUE[,VALUE...]
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "icepath/plugin.h"

namespace icepath::cli {

std::vector<std::string> qos_examples(); // each policy with its possible values
// "reliability=reliable,best-effort" adds two values of reliability. Throws Failure(Usage).
void add_qos(const std::string &text, std::array<std::vector<uint64_t>, ICEPATH_QOS_POLICIES> &qos);

} // namespace icepath::cli
