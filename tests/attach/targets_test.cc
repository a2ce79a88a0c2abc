// SPDX-License-Identifier: Apache-2.0
// Programs that aren't as most are: of 32 bits, in namespaces of their own, or gone before they are watched.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <string>

#include "profiler/failure.h"
#include "tests/attach/program.h"

namespace icepath::attach {
namespace {

class Targets : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
};

#if defined(__x86_64__)
// pause(2) again and again, by the table of i386.
constexpr std::array<unsigned char, 9> kPause = {0xb8, 29, 0, 0, 0, 0xcd, 0x80, 0xeb, 0xf7};

struct SmallProgram {
	Elf32_Ehdr head{};
	Elf32_Phdr part{};
	std::array<unsigned char, 9> code = kPause;
};

SmallProgram program_of_32_bits()
{
	constexpr Elf32_Addr kAt = 0x10000;
	SmallProgram program;
	std::memcpy(program.head.e_ident, ELFMAG, SELFMAG);
	program.head.e_ident[EI_CLASS] = ELFCLASS32;
	program.head.e_ident[EI_DATA] = ELFDATA2LSB;
	program.head.e_ident[EI_VERSION] = EV_CURRENT;
	program.head.e_type = ET_EXEC;
	program.head.e_machine = EM_386;
	program.head.e_version = EV_CURRENT;
	program.head.e_entry = kAt + offsetof(SmallProgram, code);
	program.head.e_phoff = offsetof(SmallProgram, part);
	program.head.e_ehsize = sizeof program.head;
	program.head.e_phentsize = sizeof program.part;
	program.head.e_phnum = 1;
	program.part = {PT_LOAD, 0, kAt, kAt, sizeof program, sizeof program, PF_R | PF_X, 0x1000};
	return program;
}

TEST_F(Targets, Of32BitsAreRefused)
{
	const std::string path = fmt::format("/tmp/icepath-32-bit-{}", getpid());
	const SmallProgram small = program_of_32_bits();
	std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char *>(&small), sizeof small);
	chmod(path.c_str(), 0755);
	Program program([&](Shared &shared) {
		shared.is_ready = 1;
		execl(path.c_str(), "small", nullptr);
		shared.tids[0] = static_cast<uint32_t>(errno);
		pause();
	});
	program.await_ready();
	std::string refusal, name;
	for (int i = 0; i < 1000 && name != fmt::format("icepath-32-bit-{}", getpid()).substr(0, 15); i++) {
		usleep(1000);
		std::ifstream(fmt::format("/proc/{}/comm", program.pid())) >> name;
		if (program.shared().tids[0] == ENOEXEC)
			break;
	}
	unlink(path.c_str());
	if (program.shared().tids[0] == ENOEXEC)
		GTEST_SKIP() << "this kernel runs no 32-bit programs";
	try {
		(void)open_targets({program.pid()});
	} catch (const Failure &failure) {
		refusal = failure.what();
	}
	EXPECT_NE(refusal.find("is a 32-bit program"), std::string::npos) << refusal;
}
#endif

// As in a container: its ids are other ones there. What is told of it has those of the host.
TEST_F(Targets, InNamespacesOfTheirOwnAreWatched)
{
	constexpr int kGives = 50;
	Program program([](Shared &shared) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) != 0) {
			shared.tids[0] = static_cast<uint32_t>(errno);
			shared.is_ready = 1;
			pause();
		}
		const pid_t inner = fork();
		if (inner != 0) {
			shared.tids[1] = static_cast<uint32_t>(inner);
			shared.is_ready = 1;
			waitpid(inner, nullptr, 0);
			_exit(0);
		}
		int ends[2];
		if (getpid() != 1 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
			_exit(1);
		await(shared.goes);
		char byte = 0;
		for (int i = 0; i < kGives; i++)
			if (write(ends[0], &byte, 1) != 1 || read(ends[1], &byte, 1) != 1)
				_exit(1);
	});
	program.await_ready();
	if (program.shared().tids[0] != 0)
		GTEST_SKIP() << "no namespaces of users here: " << std::strerror(static_cast<int>(program.shared().tids[0]));
	const uint32_t inner = program.shared().tids[1];
	const Watched watched = watch_programs({static_cast<pid_t>(inner)}, 30, [&] { program.shared().goes = 1; });
	const auto calls = [&](uint8_t kind) {
		return std::ranges::count_if(watched.calls, [&](const icepath_record &record) {
			return record.tid == inner && record.call.kind == kind &&
				   record.call.object_kind == ICEPATH_OBJECT_UNIX_STREAM;
		});
	};
	EXPECT_EQ(calls(ICEPATH_CALL_GIVE), kGives);
	EXPECT_EQ(calls(ICEPATH_CALL_TAKE), kGives);
	EXPECT_TRUE(watched.outcome.notices.empty()) << watched.outcome.notices[0];
}

// Wherever it ends on the way, icepath says so, and watches nobody else.
std::string said_of_one_that_ends(bool is_taken)
{
	const auto program = std::make_unique<Program>([](Shared &) { pause(); });
	const auto end = [&] {
		kill(program->pid(), SIGKILL);
		waitpid(program->pid(), nullptr, 0);
	};
	try {
		const std::vector<OpenTarget> targets = open_targets({program->pid()});
		privilege::Helper helper(privilege::invoking_user());
		if (!is_taken)
			end();
		(void)helper.take_target(targets[0].pidfd.get());
		end();
		(void)helper.load({0}, 64);
	} catch (const Failure &failure) {
		return failure.what();
	}
	return "";
}

TEST_F(Targets, ThatEndBeforeTheyAreTakenAreRefused)
{
	const std::string said = said_of_one_that_ends(false);
	EXPECT_NE(said.find("has ended"), std::string::npos) << said;
}

TEST_F(Targets, ThatEndBeforeTheyAreWatchedAreRefused)
{
	const std::string said = said_of_one_that_ends(true);
	EXPECT_NE(said.find("has ended"), std::string::npos) << said;
}

} // namespace
} // namespace icepath::attach
