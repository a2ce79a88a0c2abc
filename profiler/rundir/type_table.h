// SPDX-License-Identifier: Apache-2.0
#pragma once
// The TYPES chunk: what the binary chunks hold, so that a file explains itself and a reader of another build finds out.
#include <nlohmann/json.hpp>

namespace icepath::rundir {

// Byte order, and size and fields of icepath_record, SendStamp and RecvStamp as this build has them.
nlohmann::ordered_json type_table();

// Throws std::runtime_error with the first difference that would make this build misread the file. Fields that this
// build doesn't know are allowed: they lie where it reads nothing.
void check_type_table(const nlohmann::ordered_json &table);

} // namespace icepath::rundir
