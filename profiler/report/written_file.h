// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that a reader finds whole or not at all.
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace icepath::report {

// Where files are made: by this process, or by another one for it.
class Folder {
public:
	explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}
	virtual ~Folder() = default;
	std::filesystem::path path_of(const std::string &name) const { return path_ / name; }

	// A descriptor of a new file, to be written, that has another name until it is kept. All but drop() throw Failure(Usage) that names the file
	// and why.
	virtual int begin(const std::string &name) = 0;
	virtual void keep(const std::string &name) = 0; // what already had the name is replaced
	virtual void drop(const std::string &name) = 0;

	[[noreturn]] void fail(const std::string &name, int why) const;

private:
	std::filesystem::path path_;
};

// Of this process's own making; not made where it isn't there.
std::shared_ptr<Folder> own_folder(const std::filesystem::path &path);

// Has its name once it is done(); without that it is removed. Throws Failure(Usage) that names the file and why.
class WrittenFile {
public:
	WrittenFile(std::shared_ptr<Folder> folder, std::string name);
	explicit WrittenFile(const std::filesystem::path &path)
		: WrittenFile(own_folder(path.parent_path()), path.filename())
	{}
	~WrittenFile();
	WrittenFile(const WrittenFile &) = delete;
	WrittenFile &operator=(const WrittenFile &) = delete;

	// Throws as the constructor does where it can't be written; else nothing is changed. For what takes long to be made.
	static void check(const std::filesystem::path &path);

	std::string path() const { return folder_->path_of(name_).string(); }
	void add(const std::string &text);
	void done();

private:
	const std::shared_ptr<Folder> folder_;
	const std::string name_;
	std::FILE *file_ = nullptr;
};

// The run directory; a run may also be given by its container.
std::filesystem::path directory_of(const std::string &run);

// Where files of a run go: `wanted`, or the run directory where that is empty; how it is opened.
using OpenFolder = std::function<std::shared_ptr<Folder>(const std::filesystem::path &)>;
// Makes it where it isn't there.
std::shared_ptr<Folder> made_folder(const std::filesystem::path &path);
std::shared_ptr<Folder> output_folder(const std::string &run, const std::string &wanted, const OpenFolder &open);

} // namespace icepath::report
