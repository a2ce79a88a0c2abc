// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/faults.h"

#include <fmt/format.h>
#include <pwd.h>

#include "tests/end_to_end/fault_causes.h"

namespace icepath::end_to_end {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

Arguments run_of(const char *targets, const char *seconds = "2", const std::string &output = "out")
{
	return {"run", "-t", targets, "-s", "64", "--patterns", "pingpong", "-d", seconds, "-o", output};
}
// Where nothing happens in mid-run.
Arguments two_cells(const std::string &output = "out") { return run_of("pipe,mqueue", "2", output); }
// Where the run goes on after its fault: it has time for a second round, at which the fault happens, on a busy machine.
Arguments long_enough() { return run_of("pipe,mqueue", "4"); }
// Where the fault ends the run.
Arguments until_ended(const char *targets = "pipe,mqueue") { return run_of(targets, "60"); }
Arguments of_default_folder(const std::string &name)
{
	return {"run", "-t", "pipe", "-s", "64", "--patterns", "pingpong", "-d", "2", "--name", name};
}
Arguments strictly(Arguments arguments)
{
	arguments.emplace_back("--strict");
	return arguments;
}

// On one CPU, so that a machine of two has one for everything else.
Arguments isolated(Arguments arguments)
{
	arguments.insert(arguments.end(), {"--isolate", "full", "--cpus", "1,1"});
	return arguments;
}

Arguments tuned(Arguments arguments)
{
	arguments.insert(arguments.end(), {"--tune", "net.core.rmem_max=1000M"});
	return arguments;
}

std::string nobody() { return std::to_string(getpwnam("nobody")->pw_uid); }

constexpr const char *kWithoutBpf =
	"exec setpriv --inh-caps=-all --bounding-set=-bpf,-sys_admin \"$@\""; // CAP_SYS_ADMIN includes CAP_BPF
constexpr const char *kFullShm = "exec unshare --mount sh -c 'mount -t tmpfs -o size=64k full /dev/shm && "
								 "dd if=/dev/zero of=/dev/shm/full bs=4k 2>/dev/null; exec \"$@\"' sh \"$@\"";

// A small disk that ends with its mount namespace: its contents are copied out.
constexpr const char *kSmallDisk =
	"exec unshare --mount sh -c 'mkdir disk && mount -t tmpfs -o size=64k small disk && cd disk && "
	"\"$@\"; code=$?; cp -r out ..; exit $code' sh \"$@\"";

std::vector<Fault> make_faults()
{
	const std::map<std::string, std::string> by_sudo = {{"SUDO_UID", nobody()}};
	const std::string long_name(300, 'n');
	return {
		// The run's processes.
		{"WorkerKilled",
		 "a worker gets SIGKILL",
		 long_enough(),
		 "the initiator of … was killed by signal 9 (Killed)",
		 0,
		 Kept::Whole,
		 {.cause = kill_sender, .after = expect_the_others_went_on}},
		{"WorkerKilledStrict",
		 "the same with `--strict`",
		 strictly(long_enough()),
		 "icepath: --strict: …",
		 4,
		 Kept::Whole,
		 {.cause = kill_sender}},
		{"WorkerStopped",
		 "a worker gets SIGSTOP while its cell is measured",
		 long_enough(),
		 "the responder of … doesn't run: it is stopped",
		 0,
		 Kept::Whole,
		 {.cause = stop_receiver}},
		{"WorkerMoved",
		 "somebody lets a worker run on other CPUs",
		 until_ended(),
		 "… is no longer pinned to CPU …: …; what was measured before is kept",
		 3,
		 Kept::Marked,
		 {.cause = move_sender}},
		{"HelperKilled",
		 "the root helper gets SIGKILL",
		 long_enough(),
		 "the root helper was killed by signal 9 (Killed), perhaps because memory ran out: no probes from here on",
		 0,
		 Kept::Whole,
		 {.cause = [](Scene &scene) { signal_child(scene, "icepath-helper", SIGKILL); },
		  .after = expect_probed_blocks_of_before}},
		{"HelperHungUp",
		 "the root helper gets SIGHUP",
		 long_enough(),
		 "",
		 0,
		 Kept::Whole,
		 {.cause = [](Scene &scene) { signal_child(scene, "icepath-helper", SIGHUP); },
		  .after = expect_no_word_of_the_helper}},
		// Its probes would stay attached: icepath, as the user, may end it, because its real user is the same.
		{"HelperStopped",
		 "the root helper gets SIGSTOP",
		 run_of("pipe", "25"),
		 "icepath-helper (process …) didn't end by itself and was killed",
		 0,
		 Kept::Whole,
		 {.environment = by_sudo,
		  .cause = [](Scene &scene) { signal_child(scene, "icepath-helper", SIGSTOP); },
		  .after = expect_probed_blocks_of_before}},
		{"DaemonsKilled",
		 "daemons of middleware get SIGKILL",
		 run_of("iceoryx,mqtt/qos0,pipe", "8"),
		 "the daemon mosquitto was killed by signal 9 (Killed); its last output: …",
		 0,
		 Kept::Whole,
		 {.cause = kill_daemons, .after = expect_both_daemons_told}},
		{"DaemonStopped",
		 "a daemon of middleware gets SIGSTOP while a cell of its is measured",
		 run_of("mqtt/qos0,pipe", "10"),
		 "the daemon mosquitto doesn't run: it is stopped",
		 0,
		 Kept::Whole,
		 {.cause = stop_daemon, .after = expect_the_others_went_on}},

		// Signals to icepath.
		{"Interrupted",
		 "SIGINT",
		 until_ended(),
		 "the run was interrupted: this is what was measured until then",
		 130,
		 Kept::Marked,
		 {.cause = signal_it<SIGINT>}},
		{"Terminated",
		 "SIGTERM",
		 until_ended(),
		 "the run was interrupted",
		 130,
		 Kept::Marked,
		 {.cause = signal_it<SIGTERM>}},
		{"HungUp", "SIGHUP", until_ended(), "the run was interrupted", 130, Kept::Marked, {.cause = signal_it<SIGHUP>}},
		{"HungUpUnderNohup",
		 "SIGHUP where nohup ignores it",
		 long_enough(),
		 "",
		 0,
		 Kept::Whole,
		 {.shell = "trap '' HUP", .cause = signal_it<SIGHUP>}},
		{"InterruptedInHaste",
		 "SIGINT twice within a second",
		 until_ended(),
		 "the run was interrupted",
		 130,
		 Kept::Marked,
		 {.cause = interrupt_in_haste}},
		{"InterruptedAgain",
		 "SIGINT again after a second, while icepath waits for a stopped worker",
		 until_ended(),
		 "icepath: ended at once: what was measured is kept: icepath report out",
		 130,
		 Kept::Partial,
		 {.cause = interrupt_again, .at_a_moment = true}},
		{"InterruptBlocked",
		 "SIGINT where the parent has blocked it",
		 until_ended(),
		 "the run was interrupted",
		 130,
		 Kept::Marked,
		 {.shell = "exec env --block-signal=INT \"$@\"", .cause = signal_it<SIGINT>}},
		{"ChildrenIgnored",
		 "a worker gets SIGKILL where the parent ignores SIGCHLD",
		 long_enough(),
		 "the initiator of … was killed by signal 9 (Killed)",
		 0,
		 Kept::Whole,
		 {.shell = "exec env --ignore-signal=CHLD \"$@\"", .cause = kill_sender}},
		{"Killed", "SIGKILL", until_ended(), "", 137, Kept::Partial, {.cause = signal_it<SIGKILL>}},
		{"KilledWithDaemons",
		 "SIGKILL with daemons of middleware",
		 until_ended("iceoryx,mqtt/qos0"),
		 "",
		 137,
		 Kept::Partial,
		 {.cause = signal_it<SIGKILL>}},
		{"AllKilled",
		 "SIGKILL of icepath and of every worker",
		 until_ended("pipe,mqueue,sysv-mq"),
		 "",
		 137,
		 Kept::Partial,
		 {.cause = kill_everybody}},
		{"SelftestKilled",
		 "SIGKILL of `icepath selftest`",
		 {"selftest", "--only", "sender-busy", "-d", "20"},
		 "",
		 137,
		 Kept::Unasked,
		 {.cause = signal_it<SIGKILL>}},

		// --isolate full.
		{"KeeperKilled",
		 "the keeper of `--isolate full` gets SIGKILL",
		 isolated(until_ended()),
		 "isolation lost: the keeper (process …) died or doesn't answer, and its changes of this machine may still be "
		 "in "
		 "effect: `sudo icepath doctor --restore` undoes them; what was measured before is kept",
		 3,
		 Kept::Marked,
		 {.cause = kill_keeper, .after = restore_by_doctor}},
		{"KeeperKilledAtTheEnd",
		 "the same after the last block",
		 isolated(long_enough()),
		 "isolation lost: the keeper (process …) died or doesn't answer, …",
		 3,
		 Kept::Whole,
		 {.cause = kill_keeper_at_the_end, .after = restore_by_doctor, .at_a_moment = true}},
		{"KeeperStopped",
		 "the keeper gets SIGSTOP",
		 isolated(until_ended()),
		 "isolation lost: the keeper (process …) died or doesn't answer, …",
		 3,
		 Kept::Marked,
		 {.cause = stop_keeper}},
		{"KilledIsolated",
		 "SIGKILL of icepath under `--isolate full`",
		 isolated(until_ended()),
		 "",
		 137,
		 Kept::Partial,
		 {.cause = signal_it<SIGKILL>}},
		{"KilledWithKeeper",
		 "SIGKILL of icepath and of the keeper; the next run undoes the changes",
		 isolated(until_ended()),
		 "",
		 137,
		 Kept::Partial,
		 {.cause = kill_with_keeper, .after = restore_by_next_run}},
		{"KilledTuned",
		 "SIGKILL of icepath under `--tune`",
		 tuned(until_ended()),
		 "",
		 137,
		 Kept::Partial,
		 {.cause = kill_tuned}},
		{"InterruptedIsolated",
		 "SIGINT under `--isolate full`",
		 isolated(until_ended()),
		 "the run was interrupted",
		 130,
		 Kept::Marked,
		 {.cause = signal_it<SIGINT>}},
		{"SettingChanged",
		 "somebody changes a setting that `--isolate full` has changed",
		 isolated(long_enough()),
		 "/proc/sys/vm/stat_interval was changed to 77 by somebody else, and is left so: …",
		 0,
		 Kept::Whole,
		 {.before = remember_the_setting, .cause = change_a_setting, .after = expect_the_setting_is_left}},
		{"SecondIsolated",
		 "a second run under `--isolate full`, on another CPU",
		 isolated(two_cells()),
		 "another icepath (pid …) has changed this machine, and only one can at a time: …",
		 3,
		 Kept::Nothing,
		 {.before = start_another_isolated, .after = expect_the_others_pid}},

		// Other processes on the machine.
		{"SecondRun",
		 "a second run on the same CPUs",
		 two_cells(),
		 "… (pid …) is measuring on CPU …",
		 3,
		 Kept::Nothing,
		 {.before = start_another, .after = expect_the_others_pid}},
		{"SecondSelftest",
		 "a selftest on the same CPUs",
		 {"selftest"},
		 "… (pid …) is measuring on CPU …",
		 3,
		 Kept::Unasked,
		 {.before = start_another, .after = expect_the_others_pid}},
		{"SecondCalibration",
		 "a calibration on the same CPU",
		 {"calibrate"},
		 "… (pid …) is measuring on CPU …",
		 3,
		 Kept::Unasked,
		 {.before = start_another, .after = expect_the_others_pid}},

		// What the machine doesn't give.
		{"NoBpf",
		 "BPF programs can't be loaded, as in a container without CAP_BPF",
		 run_of("pipe"),
		 "cannot trace … Operation not permitted): run as root on a kernel with BTF, or see `icepath doctor`",
		 3,
		 Kept::Nothing,
		 {.shell = kWithoutBpf}},
		{"NoBpfForCalibration",
		 "the same, of a calibration",
		 {"calibrate"},
		 "CPUs can't be claimed against other runs, so start no other run beside this one: … `icepath calibrate` needs "
		 "root and a kernel with BTF …",
		 3,
		 Kept::Unasked,
		 {.shell = kWithoutBpf}},
		{"ShmFull",
		 "/dev/shm is full",
		 run_of("boost-mq,pipe"),
		 "boost-mq doesn't work here, and is left out: there is no room in /dev/shm: make some, or mount a tmpfs there",
		 0,
		 Kept::Whole,
		 {.shell = kFullShm}},
		{"ShmFullForAll",
		 "/dev/shm is full, and nothing else is wanted",
		 run_of("boost-mq"),
		 "nothing is left to measure: boost-mq doesn't work here",
		 3,
		 Kept::Nothing,
		 {.shell = kFullShm}},
		{"DiskFull",
		 "the disk is full in mid-run",
		 run_of("pipe,mqueue", "8"),
		 "out/capture.icp.partial: writing failed: No space left on device; what was measured before is kept",
		 3,
		 Kept::Partial,
		 {.shell = kSmallDisk}},
		{"FileLimit",
		 "`ulimit -f` is reached in mid-run",
		 run_of("pipe,mqueue", "20"),
		 "out/capture.icp.partial: writing failed: File too large; what was measured before is kept",
		 3,
		 Kept::Partial,
		 {.shell = "ulimit -f 600"}},
		{"FewDescriptors",
		 "`ulimit -n 64`",
		 two_cells(),
		 "128 open files are needed, and 64 are allowed: raise the limit (ulimit -Hn)",
		 3,
		 Kept::Nothing,
		 {.shell = "ulimit -n 64"}},
		{"FewDescriptorsForItsCells",
		 "`ulimit -n 130`",
		 two_cells(),
		 "138 open files are needed for 2 cells, and 130 are allowed: raise the limit (ulimit -Hn) or measure fewer "
		 "cells",
		 3,
		 Kept::Nothing,
		 {.shell = "ulimit -n 130"}},
		{"FewDescriptorsThatCanBeRaised",
		 "`ulimit -Sn 16`",
		 two_cells(),
		 "",
		 0,
		 Kept::Whole,
		 {.shell = "ulimit -Sn 16"}},

		// The place of the results.
		{"FolderClosed",
		 "the folder of `-o` can't be written",
		 two_cells("closed/out"),
		 "closed can't be written: Permission denied; choose another directory with -o",
		 2,
		 Kept::Nothing,
		 {.environment = by_sudo,
		  .before = [](Scene &scene) { fs::create_directory(scene.folder.path() / "closed"); }}},
		{"FolderRemoved",
		 "the run directory is removed in mid-run",
		 long_enough(),
		 "out/capture.icp.partial was removed or moved while it was written, and its data is gone with it",
		 3,
		 Kept::Nothing,
		 {.cause = [](Scene &scene) { fs::remove_all(scene.folder.path() / "out"); }}},
		{"WorkingFolderClosed",
		 "the working directory can't be read, and there is no `-o`",
		 of_default_folder("run"),
		 "… can't be written: Permission denied; choose another directory with -o",
		 2,
		 Kept::Nothing,
		 {.environment = by_sudo, .before = close_folder}},
		{"WorkingFolderRemoved",
		 "the working directory has been removed, and there is no `-o`",
		 of_default_folder("run"),
		 "… can't be written: this folder has been removed; go to another one",
		 2,
		 Kept::Nothing,
		 {.shell = "mkdir gone && cd gone && rmdir ../gone"}},
		{"NameTooLong", "a name of 300 bytes for `-o`", two_cells(long_name), "… File name too long", 2, Kept::Nothing},
		{"RunNameTooLong", "a name of 300 bytes for `--name`", of_default_folder(long_name),
		 "… can't be made: its name has … bytes; the limit is 255", 2, Kept::Nothing},
		{"CalibrationClosed",
		 "the folder of `calibrate -o` isn't there",
		 {"calibrate", "-o", "nowhere/file"},
		 "nowhere/file can't be written: No such file or directory",
		 2,
		 Kept::Unasked},
		{"MatrixClosed",
		 "the folder of `selftest --json` isn't there",
		 {"selftest", "--json", "nowhere/file"},
		 "nowhere/file can't be written: No such file or directory",
		 2,
		 Kept::Unasked},
		{"StdoutClosed",
		 "stdout is closed",
		 two_cells(),
		 "icepath: the output can't be written: Bad file descriptor",
		 3,
		 Kept::Whole,
		 {.shell = "exec >&-"}},
		{"StdoutFull",
		 "stdout leads to a full disk",
		 two_cells(),
		 "icepath: the output can't be written: No space left on device",
		 3,
		 Kept::Whole,
		 {.shell = "exec >/dev/full"}},
		{"StderrClosed", "stderr and stdin are closed", two_cells(), "", 0, Kept::Whole, {.shell = "exec 2>&- <&-"}},
		{"StderrFull", "stderr leads to a full disk", two_cells(), "", 0, Kept::Whole, {.shell = "exec 2>/dev/full"}},

		// The request.
		{"EmptyName", "`-o \"\"`", two_cells(""), "--output: its value is empty", 2, Kept::Nothing},
		{"EmptyItem", "`-t pipe,,mqueue`", run_of("pipe,,mqueue"), "--targets: \"pipe,,mqueue\" has an empty item", 2,
		 Kept::Nothing},
	};
}

std::string text_of(Kept kept)
{
	switch (kept) {
	case Kept::Nothing:
		return "none";
	case Kept::Partial:
		return "`capture.icp.partial`, readable";
	case Kept::Marked:
		return "reported, marked as partial";
	case Kept::Whole:
		return "reported";
	case Kept::Unasked:
		return "–";
	}
	return "";
}

} // namespace

const std::vector<Fault> &faults()
{
	static const std::vector<Fault> all = make_faults();
	return all;
}

std::string table_of_faults()
{
	std::string table = "| fault | the user sees | exit code | the run |\n|---|---|---|---|\n";
	for (const Fault &fault : faults())
		table += fmt::format("| {} | {} | {} | {} |\n", fault.what, *fault.sees ? fault.sees : "–", fault.exit_code,
							 text_of(fault.kept));
	return table;
}

} // namespace icepath::end_to_end
