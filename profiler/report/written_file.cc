// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/written_file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "profiler/failure.h"

namespace icepath::report {

namespace fs = std::filesystem;

// A name that nobody could know before, made anew: a link that somebody planted there isn't followed (open(2), O_EXCL). What already
// has the final name is replaced by rename(2), and if it is a link, that is and not what it leads to.
WrittenFile::WrittenFile(fs::path path) : path_(std::move(path)), partial_(path_.string() + ".XXXXXX")
{
	const int fd = mkostemp(partial_.data(), O_CLOEXEC);
	if (fd < 0)
		fail(errno);
	const mode_t mask = umask(0);
	umask(mask);
	file_ = fchmod(fd, 0666 & ~mask) == 0 ? fdopen(fd, "w") : nullptr;
	if (!file_) {
		const int why = errno;
		close(fd);
		std::remove(partial_.c_str());
		fail(why);
	}
}

WrittenFile::~WrittenFile()
{
	if (!file_)
		return;
	std::fclose(file_);
	std::remove(partial_.c_str());
}

void WrittenFile::check(const fs::path &path)
{
	WrittenFile tried(path);
	std::error_code none;
	if (fs::is_directory(path, none))
		tried.fail(EISDIR);
}

void WrittenFile::add(const std::string &text)
{
	if (std::fwrite(text.data(), 1, text.size(), file_) != text.size())
		fail(errno);
}

void WrittenFile::done()
{
	std::FILE *file = file_;
	file_ = nullptr;
	if (std::fclose(file) != 0 || std::rename(partial_.c_str(), path_.c_str()) != 0) {
		const int why = errno;
		std::remove(partial_.c_str());
		fail(why);
	}
}

void WrittenFile::fail(int why)
{
	throw Failure(ExitCode::Usage, fmt::format("{} can't be written: {}; choose another directory with -o",
											   path_.string(), std::strerror(why)));
}

fs::path directory_of(const std::string &run)
{
	return fs::is_directory(run) ? fs::path(run) : fs::path(run).parent_path();
}

fs::path output_directory(const std::string &run, const std::string &wanted)
{
	if (wanted.empty())
		return directory_of(run);
	std::error_code error; // shows when the first file is opened
	fs::create_directories(wanted, error);
	return wanted;
}

} // namespace icepath::report
