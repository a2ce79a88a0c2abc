// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that a reader finds either whole or not at all.
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace icepath::exports {

// Where files are made: by this process, or by another one for it.
class Folder {
public:
	explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}
	virtual ~Folder() = default;
	std::filesystem::path path_of(const std::string &name) const { return path_ / name; }

	// Returns a descriptor for writing a new file, which has a temporary name until keep(). All but drop() throw
	// Failure(Usage) with the file and the reason.
	virtual int begin(const std::string &name) = 0;
	virtual void keep(const std::string &name) = 0; // replaces an existing file of that name
	virtual void drop(const std::string &name) = 0;

	[[noreturn]] void fail(const std::string &name, int why) const;

private:
	std::filesystem::path path_;
};

// A folder in which this process makes the files. Doesn't make the folder.
std::shared_ptr<Folder> own_folder(const std::filesystem::path &path);

// For a process that a signal ends: removes the files that it began in folders of its own and that have no name yet. A
// signal's handler may call it.
void remove_begun_files();

// A file that gets its name by done() and is removed without it. Throws Failure(Usage) with the file and the reason.
class WrittenFile {
public:
	WrittenFile(std::shared_ptr<Folder> folder, std::string name);
	explicit WrittenFile(const std::filesystem::path &path)
		: WrittenFile(own_folder(path.parent_path()), path.filename())
	{}
	~WrittenFile();
	WrittenFile(const WrittenFile &) = delete;
	WrittenFile &operator=(const WrittenFile &) = delete;

	// Throws as the constructor would, and changes nothing. To be called before a file that takes long to make.
	static void check(const std::filesystem::path &path);

	std::string path() const { return folder_->path_of(name_).string(); }
	void add(const std::string &text);
	void done();

private:
	const std::shared_ptr<Folder> folder_;
	const std::string name_;
	std::FILE *file_ = nullptr;
};

// The run directory of `run`, which may also name the container.
std::filesystem::path directory_of(const std::string &run);

// How the folder of a run's files is opened: `wanted`, or the run directory if that is empty.
using OpenFolder = std::function<std::shared_ptr<Folder>(const std::filesystem::path &)>;
// Makes the folder if it doesn't exist.
std::shared_ptr<Folder> made_folder(const std::filesystem::path &path);
std::shared_ptr<Folder> output_folder(const std::string &run, const std::string &wanted, const OpenFolder &open);

// What -o names: a folder for files that have names of their own, or one file.
struct OutputPlace {
	std::string folder; // empty: the run directory
	std::string file; // empty: none
};
// A file if the name ends in one of `endings`, as ".svg". Throws Failure(Usage) if it has another ending of files,
// because nobody means a folder by that. A folder that exists is a folder, whatever its name. Call it once, with the
// rights that the files are made with.
OutputPlace place_of(const std::string &wanted, const std::vector<std::string> &endings);

} // namespace icepath::exports
