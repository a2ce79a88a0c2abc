// SPDX-License-Identifier: Apache-2.0
// Makes the run directory of synthetic_run.h, or of hostile_run.h, for tests of the program from outside:
// small_run DIRECTORY [partial|hostile|ROUNDS]. A round has 900 messages; every second one is probed.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "tests/report/hostile_run.h"
#include "tests/report/synthetic_run.h"

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	try {
		if (argc > 2 && std::string_view(argv[2]) == "hostile") {
			icepath::write_hostile_run(argv[1], std::string(icepath::kHostile));
			return 0;
		}
		const int rounds = argc > 2 ? std::atoi(argv[2]) : 0;
		const bool partial = argc > 2 && rounds <= 0;
		icepath::write_small_run(argv[1], !partial, rounds > 0 ? static_cast<uint32_t>(rounds) : 8, 100'000'000);
	} catch (const std::exception &error) {
		std::fprintf(stderr, "small_run: %s\n", error.what());
		return 1;
	}
	return 0;
}
