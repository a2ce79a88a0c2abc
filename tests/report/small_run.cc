// SPDX-License-Identifier: Apache-2.0
// Makes the run directory of synthetic_run.h, for tests of the program from outside: small_run DIRECTORY [partial]
#include <cstdio>
#include <exception>

#include "tests/report/synthetic_run.h"

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	try {
		icepath::report::write_small_run(argv[1], argc == 2);
	} catch (const std::exception &error) {
		std::fprintf(stderr, "small_run: %s\n", error.what());
		return 1;
	}
	return 0;
}
