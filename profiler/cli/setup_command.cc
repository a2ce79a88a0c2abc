// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <grp.h>
#include <unistd.h>

#include "profiler/cli/commands.h"
#include "profiler/cli/output.h"
#include "profiler/privilege/file_capabilities.h"
#include "profiler/privilege/root_helper.h"

namespace icepath::cli {
namespace {

// Prints what the file is now, and what --caps would do.
void describe(const std::string &path, const std::string &group)
{
	print(fmt::format("{} is {}\n", path, privilege::describe_rights(path)));
	print(fmt::format(
		"sudo icepath setup --caps --group {0} makes it root:{0} 0750, cap_perfmon,cap_bpf=p: then members of {0} run\n"
		"`icepath run` without sudo, with tracepoints and fentry, and without --isolate full, --tune and --sched "
		"fifo.\n"
		"They learn which tasks of other users ran on the CPUs that they measure on, and can slow the machine down.\n"
		"sudo icepath setup --caps --undo makes it what it was before.\n",
		group));
	try {
		privilege::check_may_have_capabilities(path);
	} catch (const Failure &failure) {
		print(fmt::format("not possible now: {}\n", failure.what()));
	}
	if (!getgrnam(group.c_str()))
		print(fmt::format("not possible now: there is no group {0} (sudo groupadd --system {0})\n", group));
}

gid_t id_of(const std::string &group)
{
	const struct group *entry = getgrnam(group.c_str());
	if (!entry)
		throw Failure(ExitCode::Usage,
					  fmt::format("--group: there is no group {0}: make it (sudo groupadd --system {0}; sudo usermod "
								  "-aG {0} USER), or name another",
								  group));
	return entry->gr_gid;
}

} // namespace

ExitCode setup(const SetupOptions &options)
{
	const std::string path = privilege::helper_path();
	if (!options.caps) {
		describe(path, options.group);
		return ExitCode::Ok;
	}
	if (geteuid() != 0)
		throw Failure(ExitCode::MachineCannot, "only root can do this: run `sudo icepath setup --caps`");
	bool done = true;
	if (options.undo)
		done = privilege::take_capabilities_back(path);
	else
		privilege::give_capabilities(path, id_of(options.group));
	print(fmt::format("{} {} {}\n", path, done ? "is now" : "had been given nothing, and is",
					  privilege::describe_rights(path)));
	return ExitCode::Ok;
}

} // namespace icepath::cli
