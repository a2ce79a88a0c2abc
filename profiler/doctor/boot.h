// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who decides what this machine's kernel is booted with.
#include <cstdint>
#include <string>

#include "profiler/doctor/doctor.h"

namespace icepath::doctor {

enum class BootedBy : uint8_t {
	ItsLoader, // a boot loader that is set up here
	Unknown, // no boot loader's configuration is found
	ItsHost, // none, and it is a virtual machine without firmware that would start one
	ContainersHost,
};

// `root` is put before paths, for tests.
BootedBy look_at_boot(bool is_virtual, bool is_container, const std::string &root = "");

// A remedy that takes a reboot names who can have it.
Check as_booted(Check check, BootedBy booted_by);

} // namespace icepath::doctor
