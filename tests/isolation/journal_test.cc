// SPDX-License-Identifier: Apache-2.0
// What root believes of its journal: whose it is, who holds it, and that its lines are icepath's.
#include "profiler/isolation/journal.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>

#include "profiler/failure.h"
#include "profiler/isolation/journalled_changes.h"
#include "tests/isolation/fake_host.h"

namespace icepath::isolation {
namespace {

std::string signed_line(const std::string &json)
{
	const auto *bytes = reinterpret_cast<const Bytef *>(json.data());
	return fmt::format("{} {:08x}\n", json, crc32(0, bytes, static_cast<uInt>(json.size())));
}

std::string head_line() { return signed_line(R"({"format":1,"boot":"7d2c4f0e","pid":1,"user":1000,"cpus":"2-3"})"); }

std::string refusal(const Tree &tree)
{
	try {
		const Journal journal(tree);
	} catch (const Failure &failure) {
		return failure.what();
	}
	return "";
}

// Writes one, as whoever is killed leaves it, and returns its text.
std::string journal_of_two_entries(const FakeHost &host)
{
	{
		Journal journal(host.tree);
		journal.begin(host.head());
		journal.add(*place_of("interrupt", 24), "0-3", "0-1");
		journal.add(*place_of("stat_interval"), "1", "120");
	}
	return host.journal();
}

TEST(Journal, TellsWhatItWasTold)
{
	FakeHost host;
	{
		Journal journal(host.tree);
		journal.begin(host.head());
		journal.add(*place_of("interrupt", 24), "0-3", "0-1");
		journal.end(journal.add(*place_of("stat_interval"), "1", "120"), End::Restored);
	}
	Journal journal(host.tree);
	ASSERT_EQ(journal.entries().size(), 2u);
	EXPECT_EQ(journal.entries()[0].place.path(), "proc/irq/24/smp_affinity_list");
	EXPECT_EQ(journal.entries()[0].old_value, "0-3");
	EXPECT_EQ(journal.entries()[0].new_value, "0-1");
	EXPECT_FALSE(journal.entries()[0].has_ended);
	EXPECT_TRUE(journal.entries()[1].has_ended);
	EXPECT_TRUE(journal.damage().empty());
}

TEST(Journal, IsOneProcesssAtATimeAndSaysWhose)
{
	FakeHost host;
	Journal journal(host.tree);
	journal.begin(host.head());
	EXPECT_EQ(
		refusal(host.tree),
		fmt::format("another icepath (pid {0}) has changed this machine, and only one can at a time: wait until it "
					"has ended, which restores the machine, or end it (kill {0})",
					getpid()));
	EXPECT_FALSE(journal_is_left(host.tree)) << "somebody has it";
}

TEST(Journal, ThatNobodyHoldsIsLeft)
{
	FakeHost host;
	EXPECT_FALSE(journal_is_left(host.tree));
	{
		Journal journal(host.tree);
		EXPECT_FALSE(journal_is_left(host.tree));
		journal.begin(host.head());
	}
	EXPECT_TRUE(journal_is_left(host.tree));
	Journal(host.tree).clear();
	EXPECT_FALSE(journal_is_left(host.tree));
}

TEST(Journal, IsRootsAlone)
{
	FakeHost host;
	const std::string path = host.tree.root + "/" + kJournalPath;
	host.write_journal("");
	EXPECT_EQ(refusal(host.tree), "");
	for (const mode_t mode : {0640u, 0602u, 0666u}) {
		chmod(path.c_str(), mode);
		EXPECT_NE(refusal(host.tree).find("isn't a file of root's alone"), std::string::npos) << mode;
	}
	chmod(path.c_str(), 0600);
	std::filesystem::create_hard_link(path, host.tree.root + "/second");
	EXPECT_NE(refusal(host.tree).find("isn't a file of root's alone"), std::string::npos) << "a second name";
	std::filesystem::remove(host.tree.root + "/second");
	if (geteuid() == 0) {
		ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
		EXPECT_NE(refusal(host.tree).find("isn't a file of root's alone"), std::string::npos) << "another's";
	}
	std::filesystem::remove(path);
	host.write("/elsewhere", "");
	std::filesystem::create_symlink("../elsewhere", path);
	EXPECT_NE(refusal(host.tree), "") << "a link";
}

// Lines with a right sum, as only root can have made: even those lead to no file that isn't in the list, and to no
// strange value.
TEST(Journal, NamesKnobsAndNoFiles)
{
	const std::string lines[] = {
		R"({"entry":1,"knob":"/etc/passwd","number":0,"old":"x","new":"y"})",
		R"({"entry":1,"knob":"interrupt","number":99999999,"old":"0","new":"1"})",
		R"({"entry":1,"knob":"interrupt","number":-1,"old":"0","new":"one"})",
		R"({"entry":1,"knob":"stat_interval","number":7,"old":"1","new":"120"})",
		R"({"entry":1,"knob":"governor","number":2,"old":"a governor","new":"performance"})",
		R"({"entry":1,"knob":"interrupt","number":24,"old":"0\n1","new":"0-1"})",
		R"({"entry":1,"knob":"group","number":0,"old":"../..","new":"there"})",
		R"({"entry":1,"knob":"interrupt","number":24,"old":["0"],"new":"0-1"})",
		R"([1,2])",
		R"({"entry":1,"knob":)",
	};
	for (const std::string &line : lines) {
		FakeHost host;
		const auto before = host.files();
		host.write_journal(head_line() + signed_line(line) +
						   signed_line(R"({"entry":2,"knob":"watchdog","number":0,"old":"0-2","new":"0-3"})"));
		Journal journal(host.tree);
		EXPECT_EQ(journal.damage(), std::vector<std::string>{"its line 2 isn't icepath's"}) << line;
		ASSERT_EQ(journal.entries().size(), 1u) << line;
		EXPECT_EQ(journal.entries()[0].place.knob->name, std::string("watchdog")) << "the next one is taken";
	}
}

TEST(Journal, WithALineChangedIsReadWithoutThatLine)
{
	FakeHost host;
	const std::string whole = journal_of_two_entries(host);
	const size_t first = whole.find('\n') + 1, second = whole.find('\n', first) + 1;
	for (size_t at = 0; at + 1 < whole.size(); at++) {
		std::string changed = whole;
		changed[at] = static_cast<char>(changed[at] ^ 1);
		host.write_journal(changed);
		Journal journal(host.tree);
		ASSERT_FALSE(journal.damage().empty()) << at;
		ASSERT_LE(journal.entries().size(), at < first ? 0u : 1u) << at;
		if (at > second) {
			ASSERT_EQ(journal.entries()[0].place.knob->name, std::string("interrupt")) << at;
		}
	}
}

TEST(Journal, OfAnotherVersionIsntTouched)
{
	FakeHost host;
	host.write_journal(signed_line(R"({"format":2,"boot":"7d2c4f0e","pid":1})") +
					   signed_line(R"({"entry":1,"knob":"watchdog","number":0,"old":"0-2","new":"0-3"})"));
	const std::string before = host.journal();
	{
		Journal journal(host.tree);
		EXPECT_TRUE(journal.entries().empty());
		EXPECT_EQ(journal.damage(), std::vector<std::string>{"another version of icepath wrote it"});
	}
	const auto told = put_back_leftovers(host.tree);
	ASSERT_EQ(told.size(), 1u);
	EXPECT_NE(told[0].find("another version of icepath wrote it"), std::string::npos) << told[0];
	EXPECT_EQ(host.journal(), before);
	EXPECT_THROW(Changes(host.tree, host.head()), Failure) << "isolating would forget what it said";
	EXPECT_EQ(host.journal(), before);
}

// Whoever reads a torn journal may be killed as well, before and after it has written to it.
TEST(Journal, ThatWasTornIsReadAgain)
{
	FakeHost host;
	const std::string whole = journal_of_two_entries(host);
	for (size_t bytes = whole.find('\n') + 1; bytes <= whole.size(); bytes++) {
		host.write_journal(whole.substr(0, bytes));
		size_t entries = 0;
		{
			Journal first(host.tree);
			entries = first.entries().size();
		}
		{
			Journal second(host.tree);
			ASSERT_TRUE(second.damage().empty()) << bytes;
			ASSERT_EQ(second.entries().size(), entries) << bytes;
			if (entries > 0)
				second.end(second.entries().back(), End::Restored);
		}
		Journal third(host.tree);
		ASSERT_TRUE(third.damage().empty()) << bytes;
		ASSERT_EQ(third.entries().size(), entries) << bytes;
		ASSERT_TRUE(entries == 0 || third.entries().back().has_ended) << bytes;
	}
}

} // namespace
} // namespace icepath::isolation
