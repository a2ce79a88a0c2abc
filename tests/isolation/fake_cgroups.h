// SPDX-License-Identifier: Apache-2.0
#pragma once
// cgroup v2 with partitions, as files in a folder: makes what the kernel makes when a group or one of its files
// changes.
#include <string>

namespace icepath::isolation {

class FakeCgroups {
public:
	// For a machine with the CPUs 0 to 3, of which nothing is a group's own. `root`: of its files, as Tree::root.
	explicit FakeCgroups(std::string root);

	// Its answer to a group that wants to be isolated; empty: it is.
	std::string invalid;
	// As on 6.12 after the CPUs were offline: the group says that it is isolated, and isn't.
	bool lies = false;

	int at_change(const std::string &path, bool after); // for Tree::at_change

private:
	void before(const std::string &path);
	void after(const std::string &path);
	void give_controller(bool there);
	void judge();
	bool exists(const std::string &path) const;
	std::string read(const std::string &path) const;
	void write(const std::string &path, const std::string &content) const; // a newline is added, unless it is empty
	void remove_files(const std::string &folder) const;

	const std::string root_;
	std::string controllers_; // of the root's groups, before a change
};

} // namespace icepath::isolation
