// SPDX-License-Identifier: Apache-2.0
// Any command line, one word per line of input: it is accepted, or Failure(Usage).
#include <cstdlib>
#include <string>
#include <vector>

#include "profiler/cli/options.h"
#include "profiler/failure.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	using namespace icepath;
	std::vector<std::string> words = {"icepath", ""};
	for (size_t i = 0; i < size; i++)
		if (data[i] == '\n')
			words.emplace_back();
		else if (data[i] != 0) // no word can hold it
			words.back() += static_cast<char>(data[i]);
	std::vector<char *> arguments;
	for (std::string &word : words)
		arguments.push_back(word.data());
	arguments.push_back(nullptr);
	try {
		cli::parse(static_cast<int>(words.size()), arguments.data());
	} catch (const Failure &failure) {
		if (failure.code() != ExitCode::Usage)
			std::abort();
	}
	return 0;
}
