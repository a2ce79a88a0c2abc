// SPDX-License-Identifier: Apache-2.0
#pragma once
// An ordinary user who may execute the helper with file capabilities, and starts it as no icepath would. The user's
// process starts the helper and some workers; the test, which is root, gets all of their ids, and the user's end of the
// helper's socket.
#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/privilege/root_helper.h"

namespace icepath::privilege {

inline constexpr uid_t kMember = 61001, kStranger = 61002;
inline constexpr gid_t kMembers = 61003;

struct Start {
	uid_t user = kMember;
	bool is_member = true; // of the helper's group
	// In the user's process, before it starts anything; in the helper's, before it executes its program.
	std::function<void()> prepare = {}, prepare_helper = {};
	// Nothing: as icepath does. "PARENT" stands for the parent's process id.
	std::optional<std::vector<std::string>> arguments = {};
	std::vector<std::string> environment = {};
	std::vector<std::function<void()>> workers = {}; // each in a child of the user's process, until it is killed
};

class Member {
public:
	Member(const std::filesystem::path &helper, const Start &start);
	~Member(); // ends all of its processes
	Member(const Member &) = delete;
	Member &operator=(const Member &) = delete;

	// Its first message; nothing: it sent none, and has ended.
	const std::optional<std::string> &beginning() const { return beginning_; }
	std::optional<HelperReply> ask(const HelperRequest &request, const std::vector<int> &fds = {});
	int helper_status(); // of the helper that has ended, as of waitpid(2)

	pid_t helper() const { return helper_; }
	pid_t icepath() const { return icepath_; } // the user's process
	pid_t worker(size_t number) const { return workers_.at(number); }
	std::vector<Fd> received; // with the last reply

private:
	pid_t icepath_ = -1, helper_ = -1;
	std::vector<pid_t> workers_;
	Fd told_, socket_;
	std::optional<std::string> beginning_;
};

// The helper, to which `setup --caps` has given its capabilities, in a folder of root's.
class WithHelperForMembers : public testing::Test {
protected:
	void SetUp() override;
	std::filesystem::path folder, helper;
};

std::string proc_line(pid_t pid, const std::string &name); // of its status: what follows the name

} // namespace icepath::privilege
