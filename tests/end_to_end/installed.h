// SPDX-License-Identifier: Apache-2.0
#pragma once
// Programs of a build as `make install` would make them: root's, and open to all. Root loads no plug-in that others can
// change, and other users can't enter a closed home folder (0700 is Debian's default), so a build in a home isn't yet
// what ships.
#include <filesystem>

namespace icepath::end_to_end {

// A copy, in a folder below /tmp, of icepath with what it starts and loads; removed at the end. Only root can make one.
class Installed {
public:
	// `built`: the build's folder of programs.
	explicit Installed(std::filesystem::path built);
	~Installed();
	Installed(const Installed &) = delete;
	Installed &operator=(const Installed &) = delete;
	// The copy of that program of the build, which is made if it wasn't there.
	std::filesystem::path program(const std::filesystem::path &name) const;
	const std::filesystem::path &folder() const { return folder_; }

private:
	std::filesystem::path built_, folder_;
};

// For root, the copy of a program of the build that this process keeps to its end; the program itself where that is as
// installed, and for other users.
std::filesystem::path installed_program(const std::filesystem::path &built);

} // namespace icepath::end_to_end
