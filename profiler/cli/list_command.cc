// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "icepath/plugin.h"
#include "profiler/cli/commands.h"
#include "profiler/cli/output.h"
#include "profiler/plan/plan.h"
#include "profiler/run/describe.h"
#include "profiler/run/worker_process.h"
#include "profiler/targets/plugin_files.h"

namespace icepath::cli {
namespace {

std::vector<std::string> names_of(targets::Waits waits)
{
	std::vector<std::string> names;
	for (const model::Wait wait : model::kWaits)
		if (waits.has(wait))
			names.emplace_back(model::name(wait));
	return names;
}

std::vector<std::string> policies_of(uint32_t bits)
{
	std::vector<std::string> names;
	for (size_t i = 0; i < model::kQosPolicies.size(); i++)
		if (bits & (1u << i))
			names.emplace_back(model::kQosPolicies[i].name);
	return names;
}

// What messages pass through, and how.
std::string what_it_is(const targets::Target &target)
{
	return (target.library_version.empty() ? "" : target.library_version + ": ") + target.summary +
		   (target.traits.has(model::Trait::CanLoan) ? "; zero-copy" : "") +
		   (target.traits.has(model::Trait::Lossy) ? "; may lose messages" : "") +
		   (target.mechanisms.has(model::Mechanism::LibraryThreads) ? "; by other threads" : "") +
		   (target.traits.has(model::Trait::WithinProcess) ? "; not between processes" : "") +
		   (target.traits.has(model::Trait::BetweenProcesses) ? "; not within one process" : "") +
		   (target.daemon.empty() ? "" : fmt::format("; daemon {}", target.daemon)) +
		   (target.why_no_daemon.empty() ? "" : fmt::format(", which {}", target.why_no_daemon)) +
		   (target.qos ? fmt::format("; QoS: {}", fmt::join(policies_of(target.qos), ", ")) : "");
}

// Only fanin needs a capability of the target.
std::vector<std::string> patterns_of(const targets::Target &target)
{
	std::vector<std::string> names(std::begin(model::kPatternNames), std::end(model::kPatternNames));
	if (!target.traits.has(model::Trait::FanIn))
		std::erase(names, model::name(model::Pattern::FanIn));
	return names;
}

// Each adapter with what brings it, in one line.
std::string not_built_text(const std::vector<targets::NotBuilt> &adapters)
{
	std::vector<std::string> by_debian, by_cargo, in_own_package, others;
	for (const targets::NotBuilt &adapter : adapters)
		if (!adapter.package.empty())
			by_debian.push_back(fmt::format("{} ({})", adapter.name, adapter.package));
		else if (!adapter.own_package.empty())
			in_own_package.push_back(fmt::format("{} ({})", adapter.name, adapter.own_package));
		else if (!adapter.cargo.empty())
			by_cargo.push_back(fmt::format("{} (cmake {})", adapter.name, adapter.cargo));
		else
			others.push_back(adapter.name);
	std::string text;
	for (const auto &[names, how] : {std::pair{&in_own_package, "apt-get install"},
									 {&by_debian, "make middleware-deps all"},
									 {&by_cargo, "docs/middleware.md"},
									 {&others, "docs/middleware.md"}})
		if (!names->empty())
			text += fmt::format("{}{}: {}", text.empty() ? "" : " · ", fmt::join(*names, ", "), how);
	return text;
}

std::string text_of(const std::vector<targets::Target> &targets, const std::vector<targets::NotBuilt> &not_built)
{
	constexpr std::string_view kHead = "target", kNotBuilt = "not built";
	size_t width = kNotBuilt.size();
	for (const targets::Target &target : targets)
		width = std::max(width, target.name.size());
	std::string here = fmt::format("{:<{}}  {:<16}  {:<16}  {:>10}  {}\n", kHead, width, "waits", "in fanin",
								   "largest, B", "what it is");
	std::string not_here;
	for (const targets::Target &target : targets)
		if (target.why_not.empty())
			here += fmt::format(
				"{:<{}}  {:<16}  {:<16}  {:>10}  {}\n", target.name, width,
				fmt::format("{}", fmt::join(names_of(target.waits), ",")),
				!target.fanin_waits.empty() ? fmt::format("{}", fmt::join(names_of(target.fanin_waits), ",")) : "–",
				target.max_payload_bytes, what_it_is(target));
		else
			not_here += fmt::format("{:<{}}  not here: {}\n", target.name, width, target.why_not);
	if (!not_built.empty())
		not_here += fmt::format("{:<{}}  {}\n", kNotBuilt, width, not_built_text(not_built));
	return here + (not_here.empty() ? "" : "\n") + not_here;
}

} // namespace

ExitCode list(const ListOptions &options)
{
	std::vector<std::string> notices;
	const std::vector<targets::Target> targets = run::describe_targets(notices);
	const std::vector<targets::NotBuilt> not_built = targets::adapters_not_built();
	if (options.json) {
		nlohmann::ordered_json json = {{"schema_version", 1},
									   {"targets", nlohmann::ordered_json::array()},
									   {"not_built", nlohmann::ordered_json::array()},
									   {"notices", notices}};
		for (const targets::Target &target : targets)
			json["targets"].push_back({{"name", target.name},
									   {"kind", target.library_version.empty() ? model::kTransport : model::kAdapter},
									   {"summary", target.summary},
									   {"waits", names_of(target.waits)},
									   {"fanin_waits", names_of(target.fanin_waits)},
									   {"max_payload_bytes", target.max_payload_bytes},
									   {"max_payload_why", target.max_payload_why},
									   {"why_not", target.why_not},
									   {"patterns", patterns_of(target)},
									   {"library_version", target.library_version},
									   {"plugin_version", target.plugin_version},
									   {"daemon", target.daemon},
									   {"why_no_daemon", target.why_no_daemon},
									   {"zero_copy", target.traits.has(model::Trait::CanLoan)},
									   {"may_lose_messages", target.traits.has(model::Trait::Lossy)},
									   {"qos", policies_of(target.qos)},
									   {"by_other_threads", target.mechanisms.has(model::Mechanism::LibraryThreads)},
									   {"between_processes", !target.traits.has(model::Trait::WithinProcess)},
									   {"within_process", !target.traits.has(model::Trait::BetweenProcesses)}});
		for (const targets::NotBuilt &adapter : not_built)
			json["not_built"].push_back({{"name", adapter.name},
										 {"package", adapter.package},
										 {"library", adapter.library},
										 {"cargo", adapter.cargo},
										 {"own_package", adapter.own_package}});
		print(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
		return ExitCode::Ok;
	}
	print(text_of(targets, not_built));
	for (const std::string &notice : notices)
		complain(fmt::format("icepath: {}\n", notice));
	return ExitCode::Ok;
}

} // namespace icepath::cli
