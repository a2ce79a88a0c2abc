// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/written_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>

#include "profiler/failure.h"

namespace icepath::exports {
namespace {

namespace fs = std::filesystem;

// The temporary names of files that were begun, where a signal's handler finds them: it may neither allocate nor lock.
class BegunFiles {
public:
	// Beyond kMost files, or with a longer path: it isn't removed by remove_all().
	void add(const std::string &path)
	{
		for (Place &place : places_) {
			if (path.size() >= place.path.size() || place.is_taken.exchange(true))
				continue;
			path.copy(place.path.data(), path.size());
			place.path[path.size()] = 0;
			place.is_begun = true;
			return;
		}
	}
	void forget(const std::string &path)
	{
		for (Place &place : places_)
			if (place.is_begun && path == place.path.data()) {
				place.is_begun = false;
				place.is_taken = false;
			}
	}
	void remove_all() const
	{
		for (const Place &place : places_)
			if (place.is_begun)
				unlink(place.path.data());
	}

private:
	static constexpr size_t kMost = 8;
	struct Place {
		std::atomic<bool> is_taken{false}, is_begun{false}; // is_begun: `path` is whole
		std::array<char, PATH_MAX> path{};
	};
	static_assert(std::atomic<bool>::is_always_lock_free);
	std::array<Place, kMost> places_;
};

BegunFiles begun_files;

// A new file with an unpredictable name, so a planted link isn't followed (open(2), O_EXCL). rename(2) replaces the
// final name; if that is a link, it replaces the link and not its target.
class OwnFolder : public Folder {
public:
	using Folder::Folder;

	int begin(const std::string &name) override
	{
		std::string partial = path_of(name).string() + ".XXXXXX";
		const int fd = mkostemp(partial.data(), O_CLOEXEC);
		if (fd < 0)
			fail(name, errno);
		partial_[name] = partial;
		begun_files.add(partial);
		const mode_t mask = umask(0);
		umask(mask);
		if (fchmod(fd, 0666 & ~mask) == 0)
			return fd;
		const int why = errno;
		close(fd);
		drop(name);
		fail(name, why);
	}

	void keep(const std::string &name) override
	{
		if (std::rename(partial_.at(name).c_str(), path_of(name).c_str()) != 0) {
			const int why = errno;
			drop(name);
			fail(name, why);
		}
		forget(name);
	}

	void drop(const std::string &name) override
	{
		std::remove(partial_.at(name).c_str());
		forget(name);
	}

private:
	void forget(const std::string &name)
	{
		begun_files.forget(partial_.at(name));
		partial_.erase(name);
	}

	std::map<std::string, std::string> partial_; // by name
};

} // namespace

void remove_begun_files()
{
	const int before = errno;
	begun_files.remove_all();
	errno = before;
}

void Folder::fail(const std::string &name, int why) const
{
	throw Failure(ExitCode::Usage, fmt::format("{} can't be written: {}; choose another directory with -o",
											   path_of(name).string(), std::strerror(why)));
}

std::shared_ptr<Folder> own_folder(const fs::path &path) { return std::make_shared<OwnFolder>(path); }

std::shared_ptr<Folder> made_folder(const fs::path &path)
{
	std::error_code error; // an error shows when the first file is opened
	fs::create_directories(path, error);
	return own_folder(path);
}

WrittenFile::WrittenFile(std::shared_ptr<Folder> folder, std::string name)
	: folder_(std::move(folder)), name_(std::move(name))
{
	const int fd = folder_->begin(name_);
	file_ = fdopen(fd, "w");
	if (!file_) {
		const int why = errno;
		close(fd);
		folder_->drop(name_);
		folder_->fail(name_, why);
	}
}

WrittenFile::~WrittenFile()
{
	if (!file_)
		return;
	std::fclose(file_);
	folder_->drop(name_);
}

void WrittenFile::check(const fs::path &path)
{
	const auto folder = own_folder(path.parent_path());
	const WrittenFile tried(folder, path.filename());
	std::error_code none;
	if (fs::is_directory(path, none))
		folder->fail(path.filename(), EISDIR);
}

void WrittenFile::add(const std::string &text)
{
	if (std::fwrite(text.data(), 1, text.size(), file_) != text.size())
		folder_->fail(name_, errno);
}

void WrittenFile::done()
{
	std::FILE *file = file_;
	file_ = nullptr;
	if (std::fclose(file) != 0) {
		const int why = errno;
		folder_->drop(name_);
		folder_->fail(name_, why);
	}
	folder_->keep(name_);
}

fs::path directory_of(const std::string &run)
{
	return fs::is_directory(run) ? fs::path(run) : fs::path(run).parent_path();
}

std::shared_ptr<Folder> output_folder(const std::string &run, const std::string &wanted, const OpenFolder &open)
{
	return wanted.empty() ? own_folder(directory_of(run)) : open(wanted);
}

OutputPlace place_of(const std::string &wanted, const std::vector<std::string> &endings)
{
	static const std::vector<std::string> kOfFiles = {".svg",  ".folded", ".json", ".jsonl", ".csv", ".html",
													  ".hgrm", ".hlog",   ".txt",  ".png",   ".pdf", ".perfetto-trace"};
	const fs::path path(wanted);
	const std::string ending = path.extension();
	const auto is_one_of = [&](const std::vector<std::string> &all) {
		return std::ranges::find(all, ending) != all.end();
	};
	std::error_code none;
	if (wanted.empty() || fs::is_directory(path, none))
		return {wanted, ""};
	if (is_one_of(endings))
		return {path.has_parent_path() ? path.parent_path().string() : ".", path.filename()};
	if (is_one_of(kOfFiles))
		throw Failure(ExitCode::Usage,
					  fmt::format("-o {}: not a folder name; {}", wanted,
								  endings.empty() ? "name a folder: files have names of their own"
												  : fmt::format("name a folder, or a file that ends in {}",
																fmt::join(endings, " or "))));
	return {wanted, ""};
}

} // namespace icepath::exports
