// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes runs and reads them again, and returns the reader's complaints about others.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profiler/failure.h"
#include "profiler/rundir/container.h"
#include "tests/rundir/example_run.h"

namespace icepath::rundir {

inline testing::AssertionResult says(const std::string &text, const std::string &part)
{
	if (text.find(part) != std::string::npos)
		return testing::AssertionSuccess();
	return testing::AssertionFailure() << "\"" << text << "\" doesn't say \"" << part << "\"";
}

struct Seen {
	std::vector<model::Block> blocks;
	bool truncated = false;
	bool has_tail = false;
};

inline Seen read_all(const std::string &path)
{
	Reader reader(path);
	Seen seen;
	while (auto window = reader.next())
		seen.blocks.insert(seen.blocks.end(), window->blocks.begin(), window->blocks.end());
	seen.truncated = reader.truncated();
	seen.has_tail = reader.tail().has_value();
	return seen;
}

// The reader's complaint, or empty if it succeeds. Anything but Failure(Usage) fails the test.
inline std::string complaint(const std::string &path)
{
	try {
		read_all(path);
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		return failure.what();
	}
	return "";
}

class ContainerTest : public testing::Test {
protected:
	TemporaryDirectory temporary;
	const std::string run = temporary.path("run");
	const std::string whole = run + "/" + kContainerName, partial = run + "/" + kPartialName;

	void write_run(bool finish, const model::Head &head = example_head())
	{
		Writer writer(run, head);
		writer.add(example_block(0, false));
		writer.add(example_block(1, true));
		if (finish)
			writer.finish(example_tail());
	}
};

} // namespace icepath::rundir
