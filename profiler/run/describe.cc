// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <filesystem>

#include "profiler/failure.h"
#include "profiler/model/printable.h"
#include "profiler/run/arms.h"
#include "profiler/targets/plugin_files.h"

namespace icepath::run {

namespace fs = std::filesystem;

namespace {

template <size_t N> std::string printable_text(const char (&field)[N])
{
	return model::printable({field, strnlen(field, N)});
}

} // namespace

targets::Target target_of(const std::string &plugin, const worker::TargetReply &reply)
{
	return {plugin,
			printable_text(reply.name),
			printable_text(reply.summary),
			printable_text(reply.library_version),
			printable_text(reply.plugin_version),
			targets::waits_of(reply.waits),
			targets::mechanisms_of(reply.mechanisms),
			targets::traits_of(reply.capabilities),
			reply.max_payload_bytes,
			reply.max_part_bytes,
			printable_text(reply.max_payload_why),
			printable_text(reply.why_not),
			targets::waits_of(reply.fanin_waits),
			reply.fanin_max_bytes,
			reply.qos,
			printable_text(reply.daemon),
			printable_text(reply.why_no_daemon)};
}

std::vector<targets::Target> describe_targets(std::vector<std::string> &notices)
{
	const std::vector<std::string> paths = targets::plugin_paths();
	if (paths.empty())
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("there is no transport: no icepath-<name>.so in {}; ICEPATH_PLUGIN_PATH=FOLDER names "
								  "another folder to look in",
								  fmt::join(targets::plugin_folders(), ", ")));
	return describe_plugins(paths, notices);
}

std::vector<targets::Target> describe_targets(const model::Arm &arm, std::vector<std::string> &notices)
{
	const std::vector<std::string> paths =
		arm.plugins.empty() ? targets::plugin_paths() : targets::plugin_paths({arm.plugins});
	if (paths.empty())
		throw Failure(ExitCode::Usage,
					  fmt::format("--arm {}: there is no plug-in, which has a name as icepath-tcp.so, "
								  "in {}: name the folder that has it",
								  arm.name,
								  arm.plugins.empty() ? fmt::format("{}", fmt::join(targets::plugin_folders(), ", "))
													  : arm.plugins));
	return describe_plugins(paths, notices, environment_of(arm));
}

std::vector<targets::Target> describe_plugins(const std::vector<std::string> &paths, std::vector<std::string> &notices,
											  const Environment &environment)
{
	std::vector<targets::Target> targets;
	for (const std::string &path : paths) {
		const std::string file = fs::path(path).filename(), describing = "worker that describes " + file;
		try {
			Worker describer(worker_program(), describing, nullptr, environment);
			worker::Request request{};
			request.kind = worker::RequestKind::Describe;
			if (path.size() >= sizeof(request.plugin))
				throw WorkerFailed(fmt::format("{}: its path is too long", path));
			path.copy(request.plugin, sizeof(request.plugin) - 1);
			constexpr uint32_t kMaxTargets = 64;
			for (; request.index < kMaxTargets; request.index++) {
				std::vector<Fd> none;
				const worker::TargetReply reply = describer.ask(request, {}, none).target;
				if (reply.name[0] == 0)
					break;
				targets.push_back(target_of(path, reply));
			}
		} catch (const WorkerFailed &failure) {
			// Whatever the file is to blame for begins with its name.
			const std::string why = failure.what(), prefix = describing + ": ";
			notices.push_back(why.starts_with(prefix + file) ? why.substr(prefix.size()) : why);
		}
	}
	return targets;
}

} // namespace icepath::run
