// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that a reader finds whole or not at all.
#include <cstdio>
#include <filesystem>
#include <string>

namespace icepath::report {

// Written under another name, and given its own by done(); without that it is removed. Throws Failure(Usage) that names the
// file and why.
class WrittenFile {
public:
	explicit WrittenFile(std::filesystem::path path);
	~WrittenFile();
	WrittenFile(const WrittenFile &) = delete;
	WrittenFile &operator=(const WrittenFile &) = delete;

	// Throws as the constructor does where it can't be written; else nothing is changed. For what takes long to be made.
	static void check(const std::filesystem::path &path);

	void add(const std::string &text);
	void done();

private:
	[[noreturn]] void fail(int why);
	std::filesystem::path path_;
	std::string partial_;
	std::FILE *file_ = nullptr;
};

// The run directory; a run may also be given by its container.
std::filesystem::path directory_of(const std::string &run);

// Where files of a run go: `wanted`, made if it isn't there, or the run directory where that is empty.
std::filesystem::path output_directory(const std::string &run, const std::string &wanted);

} // namespace icepath::report
