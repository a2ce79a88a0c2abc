// SPDX-License-Identifier: Apache-2.0
// Valid and invalid values of each option. An invalid one gives exit code 2 and a message that names it.
#include "profiler/cli/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "icepath/plugin.h"
#include "profiler/exports/run_json.h"
#include "profiler/failure.h"
#include "profiler/rundir/head_json.h"

namespace icepath::cli {
namespace {

using model::Pattern;
using model::Wait;
using Words = std::vector<std::string>;

std::optional<CommandLine> parsed(Words words)
{
	words.insert(words.begin(), "icepath");
	std::vector<char *> arguments;
	for (std::string &word : words)
		arguments.push_back(word.data());
	arguments.push_back(nullptr);
	return parse(static_cast<int>(words.size()), arguments.data());
}

RunOptions run_of(Words words)
{
	words.insert(words.begin(), "run");
	return std::get<RunOptions>(parsed(words).value().command);
}

void expect_refused(const Words &words, const std::string &says)
{
	const std::string line = fmt::format("{}", fmt::join(words, " "));
	try {
		parsed(words);
		ADD_FAILURE() << line << ": it was taken";
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage) << line;
		EXPECT_NE(std::string(failure.what()).find(says), std::string::npos) << line << ": " << failure.what();
	}
}

void expect_values_refused(const std::string &option, const Words &values, const std::string &says)
{
	for (const std::string &value : values)
		expect_refused({"run", option + "=" + value}, says);
}

TEST(RunOptions, IsolateByLevel)
{
	EXPECT_EQ(run_of({"--isolate", "none"}).isolate, cpuset::Level::None);
	EXPECT_EQ(run_of({"--isolate", "soft"}).isolate, cpuset::Level::Soft);
	EXPECT_TRUE(run_of({"--idle-states"}).idle_states);
	EXPECT_TRUE(run_of({"--free-library-threads"}).frees_library_threads);
	EXPECT_EQ(run_of({"--isolate", "full"}).isolate, cpuset::Level::Full);
	expect_values_refused("--isolate", {"hard", "soft,none"}, "isn't one of none, soft, full");
}

TEST(RunOptions, TuneLimits)
{
	const auto tunings =
		run_of({"--tune", "net.core.rmem_max=8M,fs.mqueue.msg_max=100", "--tune", "vm.nr_hugepages=64"}).tunings;
	ASSERT_EQ(tunings.size(), 3u);
	const std::pair<std::string, uint64_t> wanted[] = {
		{"net.core.rmem_max", 8'388'608}, {"fs.mqueue.msg_max", 100}, {"vm.nr_hugepages", 64}};
	for (size_t i = 0; i < tunings.size(); i++) {
		EXPECT_EQ(isolation::kLimits[tunings[i].limit].name, wanted[i].first);
		EXPECT_EQ(tunings[i].value, wanted[i].second);
	}
	expect_values_refused("--tune", {"kernel.core_pattern=1", "net.core.rmem_max", "=1"},
						  "isn't LIMIT=VALUE with one of net.core.rmem_max");
	expect_values_refused(
		"--tune", {"net.core.rmem_max=2G", "net.core.rmem_max=0", "fs.mqueue.msg_max=-1", "vm.nr_hugepages=many"},
		"give a whole number");
	expect_refused({"run", "--tune=net.core.rmem_max=1M,net.core.rmem_max=2M"}, "net.core.rmem_max is there twice");
}

TEST(RunOptions, AreUsualWhereNothingIsSaid)
{
	const RunOptions run = run_of({});
	EXPECT_TRUE(run.wishes.targets.empty());
	EXPECT_TRUE(run.wishes.sizes.empty());
	EXPECT_TRUE(run.wishes.patterns.empty()) << "the usual ones, as far as the time allows";
	EXPECT_EQ(run.wishes.sparse_period_ns, 200'000'000u);
	EXPECT_EQ(run.wishes.waits, std::vector{Wait::Block});
	EXPECT_EQ(run.wishes.between, std::vector{model::Between::Processes});
	EXPECT_EQ(run.isolate, cpuset::Level::Soft);
	EXPECT_FALSE(run.idle_states);
	EXPECT_FALSE(run.frees_library_threads);
	EXPECT_EQ(run.wishes.rate_hz, 2000);
	EXPECT_EQ(run.wishes.levels[&model::Levels::sender_user_ns], std::vector<uint64_t>{0});
	EXPECT_EQ(run.duration_s, 60);
	EXPECT_EQ(run.cpus, "");
	EXPECT_EQ(run.output, "");
	EXPECT_EQ(run.name, "run");
	EXPECT_FALSE(run.strict || run.quiet);
}

TEST(RunOptions, HaveAPeriodOfSparseMessages)
{
	EXPECT_EQ(run_of({"--sparse-period", "50ms"}).wishes.sparse_period_ns, 50'000'000u);
	EXPECT_EQ(run_of({"--sparse-period", "1s"}).wishes.sparse_period_ns, 1'000'000'000u);
	expect_values_refused("--sparse-period", {"9ms", "0"}, "outside of 10ms to 1s");
	expect_values_refused("--sparse-period", {"2s", "20"}, "isn't a time up to 1s");
}

TEST(RunOptions, TakeLists)
{
	for (const char *option : {"-t", "--targets", "--transports"})
		EXPECT_EQ(run_of({option, "uds-stream,tcp"}).wishes.targets, (Words{"uds-stream", "tcp"}));
	EXPECT_EQ(run_of({"--patterns", "oneway"}).wishes.patterns, std::vector{Pattern::OneWay});
	EXPECT_EQ(run_of({"--demand", "1,50"}).wishes.levels[&model::Levels::demand], (std::vector<uint64_t>{1, 50}));
	EXPECT_EQ(run_of({"--recovery", "500us,2ms"}).wishes.levels[&model::Levels::recovery_ns],
			  (std::vector<uint64_t>{500'000, 2'000'000}));
	using model::Between;
	EXPECT_EQ(run_of({"--between", "one-thread,processes,threads"}).wishes.between,
			  (std::vector{Between::OneThread, Between::Processes, Between::Threads}));
	for (const char *option : {"-w", "--wait"})
		EXPECT_EQ(run_of({option, "epoll,poll,block,callback"}).wishes.waits,
				  (std::vector{Wait::Epoll, Wait::Poll, Wait::Block, Wait::Callback}));
}

TEST(RunOptions, TakeAListInSeveralParts)
{
	EXPECT_EQ(run_of({"-t", "pipe,tcp", "udp", "-t", "null"}).wishes.targets, (Words{"pipe", "tcp", "udp", "null"}));
}

TEST(Options, RefuseEmptyItemsOfEveryList)
{
	for (const char *option : {"--targets", "--sizes", "--patterns", "--wait", "--between", "--demand", "--recovery",
							   "--inject-sender", "--receivers"})
		for (const char *list : {"pipe,,mqueue", ",pipe", "pipe,", ","})
			expect_refused({"run", option, list}, fmt::format("{}: \"{}\" has an empty item", option, list));
	expect_refused({"selftest", "--only", "hog,"}, "--only: \"hog,\" has an empty item");
	expect_refused({"export", "somewhere", "--format", "csv,,hgrm"}, "--format: \"csv,,hgrm\" has an empty item");
}

TEST(Options, RefuseAnEmptyValueOfEachThatTakesOne)
{
	for (const char *option :
		 {"-t", "-s", "-w", "-o", "--name", "--cpus", "--daemon-cpus", "--calibration", "--tier", "--qos", "-d"})
		expect_refused({"run", option, ""}, "its value is empty");
	expect_refused({"report", ""}, "RUN: its value is empty");
	expect_refused({"export", "somewhere", "-o", ""}, "its value is empty");
	expect_refused({"calibrate", "-o", ""}, "its value is empty");
	for (const char *option : {"-o", "--json", "--only"})
		expect_refused({"selftest", option, ""}, "its value is empty");
}

TEST(RunOptions, TakeQualityOfServiceByItsPolicies)
{
	EXPECT_TRUE(run_of({}).wishes.qos[ICEPATH_QOS_RELIABILITY].empty());
	const auto qos = run_of({"--qos", "reliability=reliable,best-effort", "--qos", "depth=1,16",
							 "--qos=lease=infinite,10ms,10s", "-t", "pipe"})
						 .wishes.qos;
	EXPECT_EQ(qos[ICEPATH_QOS_RELIABILITY], (std::vector<uint64_t>{ICEPATH_RELIABLE, ICEPATH_BEST_EFFORT}));
	EXPECT_EQ(qos[ICEPATH_QOS_DEPTH], (std::vector<uint64_t>{1, 16}));
	EXPECT_EQ(qos[ICEPATH_QOS_LEASE], (std::vector<uint64_t>{ICEPATH_QOS_INFINITE, 10'000'000, 10'000'000'000}));
	expect_values_refused("--qos", {"speed=1", "reliability", "=", "reliable"}, "isn't a policy with a value");
	expect_values_refused("--qos", {"reliability=perfect", "reliability=reliable,", "reliability="}, "--qos");
	expect_values_refused("--qos", {"depth=0", "depth=", "depth=1,", "depth=x", "depth=4294967296", "depth=1.5"},
						  "a number from 1");
	expect_values_refused("--qos", {"deadline=0", "deadline=0ms"}, "a time above 0");
	expect_values_refused("--qos", {"deadline=soon", "lifespan=10"}, "--qos");
}

TEST(RunOptions, RefuseBurstsThatAreNone)
{
	expect_values_refused("--demand", {"0", "-1", "some", "1000001"}, "--demand");
	expect_values_refused("--recovery", {"0", "0ms", "5", "2000ms"}, "--recovery");
}

TEST(MaxRate, HasItsLimits)
{
	EXPECT_EQ(run_of({}).wishes.limits, (model::RateLimits{0, 1'000'000}));
	const RunOptions run = run_of({"--patterns", "max-rate", "--max-loss", "0.1%", "--max-p99", "250us"});
	EXPECT_EQ(run.wishes.patterns, std::vector{Pattern::MaxRate});
	EXPECT_DOUBLE_EQ(run.wishes.limits.max_loss, 0.001);
	EXPECT_EQ(run.wishes.limits.max_p99_ns, 250'000u);
	EXPECT_DOUBLE_EQ(run_of({"--max-loss", "0.02"}).wishes.limits.max_loss, 0.02);
	expect_values_refused("--max-loss", {"-1", "51%", "0.6", "1", "some", "1 %", "0.1%%", "nan", ""}, "--max-loss");
	expect_values_refused("--max-p99", {"0", "0ms", "999ns", "101ms", "5", "1s", "soon"}, "--max-p99");
}

TEST(RunOptions, RefuseWordsThatAreNone)
{
	expect_values_refused("--patterns", {"pong", "PingPong", "pingpong,twoway", "0"}, "--patterns");
	expect_values_refused("--between", {"process", "threads processes", "one_thread", "THREADS", "0"}, "--between");
	expect_values_refused("--wait", {"sleep", "block,nap", "BLOCK", "1"}, "--wait");
}

TEST(Sizes, TakeUnitsOf1024)
{
	const std::initializer_list<std::pair<const char *, uint64_t>> sizes = {
		{"1", 1},
		{"64", 64},
		{"64B", 64},
		{"4k", 4096},
		{"4K", 4096},
		{"4kB", 4096},
		{"4KiB", 4096},
		{"1M", 1 << 20},
		{"1MiB", 1 << 20},
		{"0064", 64},
		{"1024M", 1 << 30},
		{"1048576k", 1 << 30},
		{"1073741824", 1 << 30},
	};
	for (const auto &[text, bytes] : sizes)
		EXPECT_EQ(run_of({"-s", text}).wishes.sizes, std::vector<uint64_t>{bytes}) << text;
	EXPECT_EQ(run_of({"--sizes", "64,4k"}).wishes.sizes, (std::vector<uint64_t>{64, 4096}));
}

TEST(Sizes, RefuseWhatIsNone)
{
	expect_values_refused("--sizes",
						  {"0",
						   "0k",
						   "-1",
						   "+1",
						   "k",
						   "B",
						   "iB",
						   "4kk",
						   "4 k",
						   "1G",
						   "1.5k",
						   "0x40",
						   "1e3",
						   "1025M",
						   "1073741825",
						   "1048577k",
						   "18446744073709551616",
						   "18446744073709551617",
						   "99999999999999999999999999",
						   "64;4096",
						   "\xff"},
						  "");
	expect_refused({"run", "-s", "64,many"}, "\"many\"");
}

TEST(Injections, TakeUnits)
{
	const std::initializer_list<std::pair<const char *, uint64_t>> times = {
		{"0", 0}, {"500ns", 500}, {"20us", 20'000}, {"1.5us", 1500}, {"1ms", 1'000'000}, {"1000ms", 1'000'000'000},
	};
	for (const auto &[text, ns] : times) {
		EXPECT_EQ(run_of({"--inject-sender", text}).wishes.levels[&model::Levels::sender_user_ns].front(), ns) << text;
		EXPECT_EQ(run_of({"--inject-receiver", text}).wishes.levels[&model::Levels::receiver_busy_ns].front(), ns)
			<< text;
	}
}

TEST(Injections, RefuseWhatIsNoTime)
{
	const Words bad = {"-1us",   "us",  "20 us", "20s",   "20m",    "1001ms",
					   "1e30us", "inf", "nan",   "infus", "twenty", "1,5us"};
	expect_values_refused("--inject-sender", bad, "--inject-sender");
	expect_values_refused("--inject-receiver", bad, "--inject-receiver");
}

TEST(Policies, AreOtherOrFifoWithAPriority)
{
	const auto priorities = [](const std::string &text) {
		return run_of({"--sched", text}).wishes.levels[&model::Levels::fifo_priority];
	};
	EXPECT_EQ(run_of({}).wishes.levels[&model::Levels::fifo_priority], std::vector<uint64_t>{0});
	EXPECT_EQ(priorities("other"), std::vector<uint64_t>{0});
	EXPECT_EQ(priorities("fifo"), std::vector<uint64_t>{1});
	EXPECT_EQ(priorities("other,fifo,fifo:99"), (std::vector<uint64_t>{0, 1, 99}));
	expect_values_refused("--sched", {"fifo:0", "fifo:100", "fifo:", "fifo:-1", "fifo:1x", "fifo1", "FIFO", "rr", "1"},
						  "fifo:PRIORITY from 1 to 99");
	expect_values_refused("--sched", {"deadline", "other,deadline"}, "takes no pinned process under SCHED_DEADLINE");
}

TEST(Duration, IsBounded)
{
	EXPECT_EQ(run_of({"-d", "2"}).duration_s, 2);
	EXPECT_EQ(run_of({"--duration", "86400"}).duration_s, 86400);
	EXPECT_EQ(run_of({"-d", "2.5"}).duration_s, 2.5);
	expect_values_refused("--duration", {"0", "1.9", "86401", "-60", "1e9", "inf", "-inf", "nan", "soon", "60x", ""},
						  "--duration");
}

TEST(Rate, IsBounded)
{
	EXPECT_EQ(run_of({"--rate", "1"}).wishes.rate_hz, 1);
	EXPECT_EQ(run_of({"--rate", "1000000"}).wishes.rate_hz, 1e6);
	expect_values_refused("--rate", {"0", "0.9", "1000001", "-1", "inf", "nan", "fast"}, "--rate");
}

TEST(MessageCount, IsBounded)
{
	for (const char *option : {"-m", "--messages"})
		EXPECT_EQ(run_of({option, "1"}).messages, 1u);
	EXPECT_EQ(run_of({"-m", "1000000"}).messages, 1'000'000u);
	expect_values_refused("--messages", {"1000001", "-1", "1.5", "4294967297", "99999999999999999999", "many"},
						  "--messages");
}

TEST(RunOptions, TakeNamesAndFlags)
{
	const RunOptions run = run_of({"--cpus", "2,3", "-o", "/some/where", "--name", "a b", "--strict", "-q"});
	EXPECT_EQ(run.cpus, "2,3");
	EXPECT_EQ(run.output, "/some/where");
	EXPECT_EQ(run.name, "a b");
	EXPECT_TRUE(run.strict);
	EXPECT_TRUE(run.quiet);
	EXPECT_TRUE(run_of({"--quiet"}).quiet);
}

TEST(RunOptions, RefuseANameThatIsAPath)
{
	for (const char *name : {"a/b", "/", "../x", ""})
		expect_refused({"run", "--name", name}, "--name");
}

TEST(CommandLine, KnowsItsCommands)
{
	EXPECT_EQ(std::get<ReportOptions>(parsed({"report", "dir"})->command).run, "dir");
	EXPECT_TRUE(std::get<ExplainOptions>(parsed({"explain", "dir", "-v"})->command).question.verbose);
	const auto explain = std::get<ExplainOptions>(parsed({"explain", "dir", "--cell", "tcp 64 B"})->command);
	EXPECT_EQ(explain.run, "dir");
	EXPECT_EQ(explain.question.cell, "tcp 64 B");
	EXPECT_EQ(explain.question.against, "");
	EXPECT_EQ(explain.question.tail, stats::kP99);
	EXPECT_FALSE(explain.question.worst || explain.question.message || explain.question.json);
	const auto flamegraph = std::get<FlamegraphOptions>(parsed({"flamegraph", "dir", "-o", "out"})->command);
	EXPECT_TRUE(std::get<ReportOptions>(parsed({"report", "--html", "dir"})->command).html);
	expect_refused({"report", "--html", "--json", "dir"}, "excludes");
	EXPECT_EQ(flamegraph.run, "dir");
	EXPECT_EQ(flamegraph.output, "out");
	EXPECT_FALSE(flamegraph.folded_only);
	EXPECT_TRUE(std::get<FlamegraphOptions>(parsed({"flamegraph", "--folded", "dir"})->command).folded_only);
	EXPECT_TRUE(flamegraph.wishes.cell.empty() && flamegraph.wishes.other.empty() && !flamegraph.wishes.tail);
	const auto part = std::get<FlamegraphOptions>(
		parsed({"flamegraph", "dir", "--cell", "tcp 64 B", "--tail", "--diff", "before"})->command);
	EXPECT_EQ(part.wishes.cell, "tcp 64 B");
	EXPECT_EQ(part.wishes.other, "before");
	EXPECT_TRUE(part.wishes.tail);
	EXPECT_FALSE(std::get<DoctorOptions>(parsed({"doctor"})->command).json);
	EXPECT_TRUE(std::get<DoctorOptions>(parsed({"doctor", "--json"})->command).json);
	EXPECT_FALSE(std::get<DoctorOptions>(parsed({"doctor"})->command).verbose);
	EXPECT_TRUE(std::get<DoctorOptions>(parsed({"doctor", "-v"})->command).verbose);
	EXPECT_TRUE(std::get<DoctorOptions>(parsed({"doctor", "--verbose"})->command).verbose);
	EXPECT_FALSE(std::get<ListOptions>(parsed({"list"})->command).json);
	EXPECT_TRUE(std::get<ListOptions>(parsed({"list", "--json"})->command).json);
}

TEST(CommandLine, KnowsWhatToExplain)
{
	const auto asked = [](std::vector<std::string> words) {
		words.insert(words.begin(), {"explain", "dir"});
		return std::get<ExplainOptions>(parsed(words)->command).question;
	};
	EXPECT_EQ(asked({"--cell", "tcp", "--against", "udp"}).against, "udp");
	expect_refused({"explain", "dir", "--against", "udp"}, "--cell");
	EXPECT_EQ(asked({"--tail", "99.9"}).tail, stats::kP99_9);
	EXPECT_EQ(asked({"--tail", "99.999"}).tail, stats::kP99_999);
	EXPECT_EQ(asked({"--tail", "50"}).tail, stats::kP50);
	for (const char *bad : {"100", "49.9", "0.999", "p99", "99,9", "nan", "-1", "99.9996"})
		expect_refused({"explain", "dir", "--tail", bad}, "isn't a percentile from 50 to 99.999");
	EXPECT_TRUE(asked({"--worst"}).worst);
	EXPECT_TRUE(asked({"--worst", "--json"}).json);
	const auto message = asked({"--message", "12:431"}).message;
	ASSERT_TRUE(message);
	EXPECT_EQ(message->round, 12u);
	EXPECT_EQ(message->seq, 431u);
	EXPECT_FALSE(message->back);
	EXPECT_TRUE(asked({"--message", "0:0:back"}).message->back);
	for (const char *bad : {"12", ":1", "12:", "12:x", "12:1:", "12:1:there", "12:1:back ", "-1:2", "4294967296:1"})
		expect_refused({"explain", "dir", "--message", bad}, "isn't ROUND:SEQ");
	expect_refused({"explain", "dir", "--worst", "--tail", "99"}, "excludes");
	expect_refused({"explain", "dir", "--message", "1:2", "--worst"}, "excludes");
}

TEST(CommandLine, KnowsWhatToCompare)
{
	using Form = report::CompareWishes::Form;
	const auto asked = [](std::vector<std::string> words) {
		words.insert(words.begin(), {"compare", "dir"});
		return std::get<CompareOptions>(parsed(words)->command).wishes;
	};
	const auto plain = asked({});
	EXPECT_TRUE(plain.run == "dir" && plain.other.empty() && plain.arms.empty() && plain.repeats.empty());
	EXPECT_TRUE(plain.delta == compare::kUsualDelta && plain.form == Form::Text);
	EXPECT_EQ(asked({"--arms", "base,new"}).arms, (Words{"base", "new"}));
	EXPECT_EQ(asked({"--delta", "1%"}).delta, 0.01);
	for (const char *bad : {"0", "0.05%", "51%", "3us", "-3%", "nan", "", "3 %"})
		expect_refused({"compare", "dir", "--delta", bad}, "--delta");
	EXPECT_EQ(asked({"--json"}).form, Form::Json);
	EXPECT_EQ(asked({"--markdown"}).form, Form::Markdown);
	expect_refused({"compare", "dir", "--json", "--markdown"}, "excludes");
	const auto two = asked({"other", "--repeats", "a,b", "--anchor", "tcp"});
	EXPECT_TRUE(two.other == "other" && two.anchor == "tcp" && two.repeats == (Words{"a", "b"}));
	expect_refused({"compare", "dir", "--repeats", "a,b"}, "OTHER");
	expect_refused({"compare", "dir", "--anchor", "tcp"}, "OTHER");
	expect_refused({"compare", "dir", "other", "--arms", "base,new"}, "excludes");
	expect_refused({"compare", "dir", "--arms", "base,,new"}, "--arms");
	expect_refused({"compare"}, "RUN");
}

TEST(CommandLine, FormatsLeaveTheNextWordToTheRun)
{
	for (const Words &words : {Words{"export", "-f", "csv,paths", "dir", "-o", "there"},
							   Words{"export", "dir", "-f", "csv", "-f", "paths"}}) {
		const auto exported = std::get<ExportOptions>(parsed(words).value().command);
		EXPECT_EQ(exported.run, "dir");
		EXPECT_EQ(exported.formats.size(), 2u);
	}
}

TEST(CommandLine, ForcesATierOfProbes)
{
	EXPECT_FALSE(std::get<RunOptions>(parsed({"run"})->command).tier);
	EXPECT_EQ(std::get<RunOptions>(parsed({"run", "--tier", "fentry"})->command).tier, capture::Tier::Fentry);
	EXPECT_EQ(std::get<DoctorOptions>(parsed({"doctor", "--tier", "kprobe"})->command).tier, capture::Tier::Kprobe);
	expect_refused({"run", "--tier", "uprobe"}, "tracepoint, fentry, kprobe");
	expect_refused({"doctor", "--tier", "tp"}, "--tier");
}

TEST(CommandLine, FlameGraphsAreOfAKind)
{
	using analysis::FlameKind;
	EXPECT_EQ(std::get<FlamegraphOptions>(parsed({"flamegraph", "dir"})->command).wishes.kind, FlameKind::Path);
	EXPECT_EQ(std::get<FlamegraphOptions>(parsed({"flamegraph", "dir", "--kind", "wakeup"})->command).wishes.kind,
			  FlameKind::Wakeup);
	EXPECT_EQ(std::get<ExportOptions>(parsed({"export", "dir", "--kind", "oncpu"})->command).kind, FlameKind::OnCpu);
	expect_refused({"flamegraph", "dir", "--kind", "offcpu", "--tail"}, "--tail");
	expect_refused({"flamegraph", "dir", "--kind", "sleep"}, "--kind");
}

TEST(CommandLine, RefusesWhatIsNoCommand)
{
	expect_refused({"fly"}, "fly");
	expect_refused({}, "subcommand");
	expect_refused({"report"}, "RUN");
	expect_refused({"flamegraph"}, "RUN");
	expect_refused({"report", "one", "two"}, "two");
	expect_refused({"run", "somewhere"}, "somewhere");
	expect_refused({"run", "--sizs", "64"}, "--sizs");
	expect_refused({"run", "--sizes"}, "--sizes");
	expect_refused({"doctor", "--strict"}, "--strict");
	expect_refused({"list", "--json=maybe"}, "json");
}

TEST(CommandLine, HasColourBeforeAndAfterTheCommand)
{
	EXPECT_FALSE(parsed({"list"})->no_colour);
	EXPECT_TRUE(parsed({"--no-color", "list"})->no_colour);
	EXPECT_TRUE(parsed({"run", "--no-colour"})->no_colour);
}

TEST(CommandLine, KeepsWhatWasTyped) { EXPECT_EQ(parsed({"run", "-t", "tcp"})->text, "icepath run -t tcp"); }

std::string printed_by(const Words &words)
{
	testing::internal::CaptureStdout();
	EXPECT_FALSE(parsed(words));
	return testing::internal::GetCapturedStdout();
}

TEST(CommandLine, VersionSaysWhatOthersRead)
{
	const std::string version = printed_by({"--version"});
	for (const std::string &line :
		 {fmt::format("icepath {}\n", ICEPATH_VERSION), std::string("\ncommit "),
		  fmt::format("\nplug-in ABI {}.{}\n", ICEPATH_PLUGIN_ABI_MAJOR, ICEPATH_PLUGIN_ABI_MINOR),
		  fmt::format("\ncapture format {} ", rundir::kFormatVersion),
		  fmt::format("\nrun.json schema {}\n", exports::kSchema)})
		EXPECT_NE(version.find(line), std::string::npos) << version;
}

TEST(CommandLine, GeneratesPagesUnseen)
{
	EXPECT_EQ(printed_by({"--help"}).find("gen"), std::string::npos);
	EXPECT_NE(printed_by({"gen", "man", "run"}).find(".TH ICEPATH\\-RUN 1 "), std::string::npos);
	expect_refused({"gen"}, "WHAT");
	expect_refused({"gen", "tcsh"}, "isn't one of man, bash, zsh, fish, options");
	expect_refused({"gen", "man", "fly"}, "\"fly\" isn't a command");
	expect_refused({"gen", "bash", "run"}, "only gen man is of a command");
}

TEST(CommandLine, HelpAndVersionAreAnswers)
{
	for (const Words &words : {Words{"--help"}, Words{"--version"}, Words{"run", "--help"}, Words{"-h"}}) {
		testing::internal::CaptureStdout();
		EXPECT_FALSE(parsed(words));
		EXPECT_NE(testing::internal::GetCapturedStdout().find("icepath"), std::string::npos);
	}
}

} // namespace
} // namespace icepath::cli
