// SPDX-License-Identifier: Apache-2.0
#pragma once
// The TYPES chunk describes the binary chunks, so the file explains itself and a reader of another build notices
// differences.
#include <nlohmann/json.hpp>

namespace icepath::rundir {

// Byte order, and this build's size and fields of icepath_record, SendStamp and RecvStamp.
nlohmann::ordered_json type_table();

// Throws std::runtime_error with the first difference that would make this build misread the file. Unknown fields are
// allowed: they lie where this build reads nothing.
void check_type_table(const nlohmann::ordered_json &table);

} // namespace icepath::rundir
