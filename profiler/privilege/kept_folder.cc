// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/kept_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

#include "profiler/failure.h"
#include "profiler/privilege/rights.h"

namespace icepath::privilege {
namespace {

constexpr int kAnswerMs = 10'000;
constexpr size_t kMostOpen = 64; // files begun, but neither kept nor dropped

enum Kind : uint32_t { Begin, Keep, Drop };

struct Request {
	uint32_t kind;
	std::array<char, 256> name; // NUL-terminated
};

struct Reply {
	int error; // errno; 0: done
};

bool is_allowed(std::string_view name)
{
	constexpr std::array<std::string_view, 8> kEnds = {".hgrm", ".hlog",           ".csv", ".jsonl",
													   ".json", ".perfetto-trace", ".svg", ".folded"};
	const auto is_plain = [](char c) {
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
			   c == '_';
	};
	return !name.starts_with('.') && name.size() < 240 && std::ranges::all_of(name, is_plain) &&
		   std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

// Serves one socket.
class Keeper {
public:
	Keeper(const std::string &path, const std::string &file) : file_(file)
	{
		std::error_code shown_by_open;
		std::filesystem::create_directories(path, shown_by_open);
		folder_ = Fd(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
		why_no_folder_ = folder_ ? 0 : errno;
	}
	~Keeper()
	{
		for (const auto &[name, partial] : begun_)
			unlinkat(folder_.get(), partial.c_str(), 0);
	}

	// Returns errno, or 0. `made`: the file that Begin opened.
	int answer(const Request &request, Fd &made)
	{
		const std::string name(request.name.data(), strnlen(request.name.data(), request.name.size()));
		if (why_no_folder_ != 0)
			return why_no_folder_;
		if (file_.empty() ? !is_allowed(name) : name != file_ || name.find('/') != std::string::npos)
			return EINVAL;
		const auto begun = begun_.find(name);
		if (request.kind == Begin)
			return begun == begun_.end() && begun_.size() < kMostOpen ? begin(name, made) : EBUSY;
		if (begun == begun_.end())
			return ENOENT;
		const std::string partial = begun->second;
		begun_.erase(begun);
		if (request.kind == Keep && renameat(folder_.get(), partial.c_str(), folder_.get(), name.c_str()) == 0)
			return 0;
		const int why = request.kind == Keep ? errno : 0;
		unlinkat(folder_.get(), partial.c_str(), 0);
		return why;
	}

private:
	int begin(const std::string &name, Fd &made)
	{
		uint64_t number = 0;
		if (getrandom(&number, sizeof number, 0) != sizeof number)
			return EIO;
		const std::string partial = fmt::format("{}.{:012x}", name, number & 0xffffffffffff);
		made = Fd(openat(folder_.get(), partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
		if (!made)
			return errno;
		begun_.emplace(name, partial);
		return 0;
	}

	const std::string file_; // the only one; empty: any that is allowed
	Fd folder_;
	int why_no_folder_ = 0;
	std::map<std::string, std::string> begun_; // final names, and the temporary names until then
};

void serve(int socket, const std::string &path, const std::string &file)
{
	Keeper keeper(path, file);
	keep_as_root({CAP_DAC_OVERRIDE}); // the folder may belong to another user
	Request request{};
	for (std::vector<Fd> none; channel::receive(socket, &request, sizeof request, none); none.clear()) {
		Fd made;
		const Reply reply{keeper.answer(request, made)};
		if (!channel::send(socket, &reply, sizeof reply, made ? std::vector<int>{made.get()} : std::vector<int>()))
			return;
	}
}

} // namespace

KeptFolder::KeptFolder(const std::string &path, const std::string &file)
	: path_(path), process_("icepath-files", Identity(), std::nullopt, // stays root, which owns the files
							[&](int socket, pid_t) { serve(socket, path, file); })
{}

Fd KeptFolder::begin(const std::string &name) { return ask(Begin, name); }
void KeptFolder::keep(const std::string &name) { ask(Keep, name); }

void KeptFolder::drop(const std::string &name)
{
	try {
		ask(Drop, name);
	} catch (const Failure &) {
		// It also removes unfinished files when it ends.
	}
}

Fd KeptFolder::ask(unsigned kind, const std::string &name)
{
	const auto fail = [&](const char *why) {
		throw Failure(ExitCode::Usage, fmt::format("{} can't be written: {}; choose another directory with -o",
												   (std::filesystem::path(path_) / name).string(), why));
	};
	Request request{kind, {}};
	if (name.size() >= request.name.size())
		fail("its name is too long");
	name.copy(request.name.data(), name.size());
	Reply reply{};
	std::vector<Fd> made;
	if (!channel::send(process_.socket(), &request, sizeof request) ||
		!channel::receive(process_.socket(), &reply, sizeof reply, made, kAnswerMs))
		fail("the process that writes there as root died");
	if (reply.error != 0 || (kind == Begin) != (made.size() == 1))
		fail(std::strerror(reply.error));
	return made.empty() ? Fd() : std::move(made.front());
}

} // namespace icepath::privilege
