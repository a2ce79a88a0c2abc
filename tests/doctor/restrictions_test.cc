// SPDX-License-Identifier: Apache-2.0
// What is refused is said to be refused by what refuses it, and not by the kernel's age.
#include "profiler/doctor/restrictions.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "profiler/doctor/architecture.h"
#include "profiler/doctor/causes.h"

namespace icepath::doctor {
namespace {

namespace fs = std::filesystem;

class RestrictionsOf : public testing::Test {
protected:
	void SetUp() override
	{
		std::string name = fs::temp_directory_path() / "icepath-restrictions-XXXXXX";
		ASSERT_NE(mkdtemp(name.data()), nullptr);
		root = name;
	}
	void TearDown() override { fs::remove_all(root); }
	void write(const std::string &file, const std::string &text) const
	{
		fs::create_directories((root / file).parent_path());
		std::ofstream(root / file) << text;
	}
	fs::path root;
};

TEST_F(RestrictionsOf, AMachineAreRead)
{
	const Restrictions none = read_restrictions(root);
	EXPECT_EQ(none.lockdown, std::nullopt);
	EXPECT_EQ(none.missing, (std::vector<std::string>{"CAP_BPF", "CAP_PERFMON", "CAP_SYS_ADMIN"})) << "as none is told";
	EXPECT_FALSE(none.has_user_namespace);
	write("proc/self/mounts", "sysfs /sys sysfs rw 0 0\nsecurityfs /sys/kernel/security securityfs rw 0 0\n");
	EXPECT_EQ(read_restrictions(root).lockdown, "");
	EXPECT_FALSE(none.perf_event_paranoid || none.unprivileged_bpf_disabled || none.has_filter);
	write("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	write("proc/sys/kernel/perf_event_paranoid", "-1\n");
	write("proc/sys/kernel/unprivileged_bpf_disabled", "2\n");
	write("proc/self/status", "Name:\tx\nCapEff:\t000000c000000000\nSeccomp:\t2\nSeccomp_filters:\t1\n");
	write("proc/self/uid_map", "         0       1000          1\n");
	const Restrictions some = read_restrictions(root);
	EXPECT_EQ(some.lockdown, "integrity");
	EXPECT_EQ(some.perf_event_paranoid, -1);
	EXPECT_EQ(some.unprivileged_bpf_disabled, 2);
	EXPECT_TRUE(some.has_filter);
	EXPECT_EQ(some.missing, std::vector<std::string>{"CAP_SYS_ADMIN"});
	EXPECT_TRUE(some.has_user_namespace);
	write("proc/self/uid_map", "         0          0 4294967295\n");
	EXPECT_FALSE(read_restrictions(root).has_user_namespace);
	write("proc/self/status", "Seccomp:\t0\n");
	EXPECT_FALSE(read_restrictions(root).has_filter);
}

TEST(Lockdown, FailsOnlyWhereItRefusesProbes)
{
	for (const char *mode : {"", "none", "integrity"})
		EXPECT_EQ(lockdown_check({.lockdown = mode}, false).verdict, Verdict::Ok) << mode;
	const Check check = lockdown_check({.lockdown = "confidentiality"}, false);
	EXPECT_EQ(check.verdict, Verdict::Fail);
	EXPECT_NE(check.remedy.find("lockdown=integrity"), std::string::npos);
	EXPECT_EQ(causes({check})[0].name, "rights");
}

TEST(Lockdown, IsNotFineWhereItIsUnknown)
{
	const Check unknown = lockdown_check({}, false), tried = lockdown_check({}, true);
	EXPECT_EQ(unknown.verdict, Verdict::Warn);
	EXPECT_FALSE(unknown.remedy.empty());
	EXPECT_EQ(tried.verdict, Verdict::Ok);
	EXPECT_EQ(tried.found.find("unknown"), std::string::npos) << "probes work, so they aren't refused";
}

TEST(MissingCapabilities, AreNamedWithTheSettingsThatMakeThemNecessary)
{
	EXPECT_EQ(named_with_settings({"CAP_BPF", "CAP_PERFMON"}, {"", 3, 2, false}),
			  "CAP_BPF (kernel.unprivileged_bpf_disabled=2), CAP_PERFMON (kernel.perf_event_paranoid=3)");
	EXPECT_EQ(named_with_settings({"CAP_PERFMON"}, {}), "CAP_PERFMON");
}

TEST(Sampling, WithoutRootEndsWhereTheKernelLeavesPerfEventsToRoot)
{
	for (const int paranoid : {-1, 2})
		EXPECT_EQ(sampling_check({"", paranoid, {}, false}).verdict, Verdict::Ok) << paranoid;
	const Check check = sampling_check({"", 3, {}, false});
	EXPECT_EQ(check.verdict, Verdict::Warn);
	EXPECT_NE(check.found.find("kernel.perf_event_paranoid=3"), std::string::npos);
}

TEST(RefusedProbes, AreNotBlamedOnTheKernelsAge)
{
	EXPECT_NE(refusal_of("kprobe f: needs CAP_SYS_ADMIN, which only runs as root have", {}).remedy.find("sudo"),
			  std::string::npos);
	EXPECT_NE(refusal_of("Operation not permitted", {"confidentiality", {}, {}, false}).cause.find("lockdown"),
			  std::string::npos);
	EXPECT_NE(refusal_of("Operation not permitted", {"", {}, {}, true}).cause.find("seccomp"), std::string::npos);
	if (geteuid() == 0) { // a user without root is told to use it
		const Refusal lacking =
						  refusal_of("Operation not permitted", {.has_filter = true, .missing = {"CAP_SYS_ADMIN"}}),
					  unknown = refusal_of("Operation not permitted", {}),
					  space = refusal_of("Operation not permitted", {.has_user_namespace = true});
		EXPECT_EQ(lacking.cause, "CAP_SYS_ADMIN is missing");
		EXPECT_EQ(lacking.remedy, "give the container CAP_SYS_ADMIN");
		EXPECT_NE(unknown.cause.find("no capability that probes need is missing"), std::string::npos);
		EXPECT_EQ(unknown.remedy.find("dmesg"), std::string::npos);
		EXPECT_EQ(unknown.possible, Possible::NotHere);
		EXPECT_NE(space.cause.find("user namespace"), std::string::npos);
	}
	const Check refused{"probe f", Verdict::Warn, "fentry f: loading: Operation not permitted", "", "ask for it"},
		missing{"probe g", Verdict::Warn, "fentry g: not in this kernel", "", "x"},
		unverified{"probe h", Verdict::Warn, "fentry h: loading: Permission denied (verifier: R1)", "", "x"};
	const std::vector<Cause> all = causes({refused, missing, unverified});
	ASSERT_EQ(all.size(), 2u);
	EXPECT_EQ(all[0].name, "refused");
	EXPECT_EQ(all[0].found, std::vector<std::string>{"f"});
	EXPECT_EQ(all[0].remedies[0].text, "ask for it");
	EXPECT_EQ(all[1].name, "probes");
	EXPECT_EQ(all[1].found, (std::vector<std::string>{"g", "h"}));
}

TEST(Architecture, IsToldIfItLacksSomething)
{
	EXPECT_FALSE(architecture_check("x86_64"));
	const auto absent = architecture_check("aarch64");
	ASSERT_TRUE(absent);
	EXPECT_EQ(absent->verdict, Verdict::Warn);
	EXPECT_NE(absent->found.find("aarch64: not on this machine's architecture: callers of user code"),
			  std::string::npos);
}

} // namespace
} // namespace icepath::doctor
