// SPDX-License-Identifier: Apache-2.0
#pragma once
// The helper as icepath starts it, without the class that sends proper requests: a test sends what it likes. Without
// root it is a copy of the test, which keeps its rights.
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "profiler/channel.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/privilege/root_process.h"

namespace icepath::privilege {

// Whether each helper of this program has loaded its probes, and so has its filter.
#ifdef ICEPATH_TEST_LOADED
inline constexpr bool kIsLoaded = true;
#else
inline constexpr bool kIsLoaded = false;
#endif

class RawHelper {
public:
	RawHelper(); // for this process and its user
	explicit RawHelper(const Identity &user);
	RawHelper(const RawHelper &) = delete;
	RawHelper &operator=(const RawHelper &) = delete;

	// Sends any bytes; false: the helper is gone.
	bool send(const void *message, size_t bytes, const std::vector<int> &fds = {});
	// Nothing: the helper is gone, or doesn't answer.
	std::optional<HelperReply> ask(const HelperRequest &request, const std::vector<int> &fds = {});
	// Whether it still handles requests.
	bool is_well();

	void hang_up();
	int wait_end(); // its wait status, as of waitpid(2)
	pid_t pid() const { return process_.pid(); }
	size_t open_descriptors() const;
	std::vector<Fd> received; // with the last reply

private:
	RootProcess process_;
};

HelperRequest request_of(HelperRequestKind kind);
HelperRequest load_of(uint32_t cpu); // 64 records per slot
HelperRequest load_with_samples(uint32_t cpu);
HelperRequest claim_of(uint32_t cpu); // which a member's load of that CPU needs
std::string sentence(const HelperReply &reply);

// A child that waits to be ended. The destructor kills and reaps it.
class Child {
public:
	explicit Child(uid_t user = 0); // 0: that of this process
	~Child();
	Child(const Child &) = delete;
	Child &operator=(const Child &) = delete;
	void end(); // and reaps
	pid_t pid() const { return pid_; }
	int pidfd() const { return pidfd_.get(); }

private:
	pid_t pid_ = -1;
	Fd pidfd_;
};

} // namespace icepath::privilege
