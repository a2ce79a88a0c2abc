// SPDX-License-Identifier: Apache-2.0
// Users may stop and continue their helper, which interrupts the kernel in the middle of verifying a program. Nothing
// that the kernel wrote for privileged readers comes back. ICEPATH_STORM_LOADS: how often each user tries it.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "profiler/privilege/file_capabilities.h"
#include "tests/privilege/member.h"
#include "tests/privilege/raw_helper.h"
#include "tests/privilege/roots_folder.h"
#include "tests/privilege/signal_storm.h"

namespace icepath::privilege {
namespace {

size_t loads_to_try()
{
	const char *given = std::getenv("ICEPATH_STORM_LOADS");
	return given ? std::strtoul(given, nullptr, 10) : 3;
}

// The first word with more digits than anything but an address has; empty: there is none.
std::string address_in(std::string_view text)
{
	constexpr size_t kMost = 8; // hexadecimal digits
	const auto is_digit = [](unsigned char c) { return std::isxdigit(c) != 0; };
	for (auto begin = text.begin(); begin != text.end();) {
		const auto end = std::find_if_not(begin, text.end(), is_digit);
		if (end - begin > static_cast<ptrdiff_t>(kMost))
			return {begin, end};
		begin = end == text.end() ? end : end + 1;
	}
	return {};
}

// What this process and its children print, for as long as it lives.
class Stderr {
public:
	Stderr() : before_(dup(STDERR_FILENO)), printed_(memfd_create("stderr", MFD_CLOEXEC))
	{
		dup2(printed_.get(), STDERR_FILENO);
	}
	~Stderr() { dup2(before_.get(), STDERR_FILENO); }
	Stderr(const Stderr &) = delete;
	Stderr &operator=(const Stderr &) = delete;
	std::string text() const
	{
		std::string text(static_cast<size_t>(lseek(printed_.get(), 0, SEEK_END)), '\0');
		text.resize(static_cast<size_t>(std::max<ssize_t>(pread(printed_.get(), text.data(), text.size(), 0), 0)));
		return text;
	}

private:
	const Fd before_, printed_;
};

class SignalStormOverALoad : public testing::Test {
protected:
	void SetUp() override
	{
		if (const std::string why = why_no_roots_folder(); !why.empty())
			GTEST_SKIP() << why;
	}
	template <class AnyHelper> void load_in_a_storm(AnyHelper &helper, pid_t pid)
	{
		const SignalStorm storm(kMember, pid, kMostUs[storms_++ % kMostUs.size()]);
		const auto reply = helper.ask(load_of(0));
		ASSERT_TRUE(reply) << "the helper is gone";
		refused_ += reply->exit_code != 0;
		expect_no_address(sentence(*reply));
		for (const ProbeChoice &choice : reply->choices)
			expect_no_address({choice.why_not.data(), strnlen(choice.why_not.data(), choice.why_not.size())});
	}
	// On a busy machine a storm may interrupt nothing.
	bool goes_on(size_t loads) const
	{
		constexpr size_t kMost = 50;
		return loads < loads_to_try() || (refused_ == 0 && loads < kMost);
	}
	static void expect_no_address(const std::string &text) { EXPECT_EQ(address_in(text), "") << text; }

	// The first interrupts whatever the helper loads first. The others let it come further, some to the end.
	static constexpr std::array<unsigned, 5> kMostUs = {300, 2'400, 4'800, 9'600, 19'200};
	size_t storms_ = 0, refused_ = 0;
};

TEST_F(SignalStormOverALoad, OfAMemberGivesNoAddress)
{
	const std::filesystem::path helper = roots_folder() / kHelperName;
	give_capabilities(helper, kMembers);
	const Stderr printed;
	for (size_t i = 0; goes_on(i); i++) {
		Member member(helper, {});
		ASSERT_EQ(member.beginning().value_or("it has ended"), "");
		const auto claimed = member.ask(claim_of(0));
		ASSERT_TRUE(claimed && claimed->exit_code == 0) << sentence(*claimed);
		load_in_a_storm(member, member.helper());
	}
	expect_no_address(printed.text());
	EXPECT_GT(refused_, 0u) << "the storm interrupts nothing";
}

TEST_F(SignalStormOverALoad, OfAUserOfSudoGivesNoAddress)
{
	Identity user;
	user.uid = kMember;
	const Stderr printed;
	for (size_t i = 0; goes_on(i); i++) {
		RawHelper helper(user);
		load_in_a_storm(helper, helper.pid());
	}
	expect_no_address(printed.text());
	EXPECT_GT(refused_, 0u) << "the storm interrupts nothing";
}

} // namespace
} // namespace icepath::privilege
