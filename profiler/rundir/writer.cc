// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/failure.h"
#include "profiler/rundir/chunk.h"
#include "profiler/rundir/container.h"
#include "profiler/rundir/head_json.h"
#include "profiler/rundir/json_text.h"
#include "profiler/rundir/limits.h"
#include "profiler/rundir/room.h"
#include "profiler/rundir/type_table.h"
#include "profiler/rundir/window_json.h"

namespace icepath::rundir {
namespace {

namespace fs = std::filesystem;

// Writes only what `read` takes back: a run that icepath can't read is lost.
template <typename Read>
void append_json(std::vector<std::byte> &out, ChunkKind kind, const nlohmann::ordered_json &json, Read read)
{
	const std::string text = json_text(json);
	read(parse_json(text));
	append_chunk(out, kind, std::as_bytes(std::span(text)));
}

std::vector<std::byte> front(const model::Head &head)
{
	const auto magic = std::as_bytes(std::span(kMagic));
	std::vector<std::byte> out(magic.begin(), magic.end());
	const nlohmann::ordered_json json = rundir::to_json(head);
	try {
		append_json(out, ChunkKind::Types, type_table(), check_type_table);
		append_json(out, ChunkKind::Head, json, head_from_json);
	} catch (const std::runtime_error &error) {
		throw Failure(ExitCode::Usage,
					  fmt::format("the description of this run is too large for a run directory: {}; measure fewer "
								  "cells at once, or shorten the command line",
								  error.what()));
	}
	return out;
}

// Cuts notices that don't fit, rather than losing a measured run for them.
model::Tail with_room(model::Tail tail)
{
	constexpr uint64_t kRoom = kMaxJsonBytes / 8; // an escaped byte takes six, the rest of the tail little
	uint64_t bytes = 0;
	size_t kept = 0;
	while (kept < tail.notices.size() && kept + 1 < kMaxNotices && bytes + tail.notices[kept].size() <= kRoom)
		bytes += tail.notices[kept++].size();
	if (const size_t more = tail.notices.size() - kept; more > 0) {
		tail.notices.resize(kept);
		tail.notices.push_back(fmt::format("and {} more notices that didn't fit", more));
	}
	return tail;
}

template <typename T> void put(std::vector<std::byte> &out, const std::vector<T> &items)
{
	const auto bytes = std::as_bytes(std::span(items));
	out.insert(out.end(), bytes.begin(), bytes.end());
}

void make_directory(const fs::path &path, mode_t mode)
{
	if (!path.has_filename() || fs::is_directory(path))
		return;
	if (path.has_parent_path())
		make_directory(path.parent_path(), 0755);
	if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST)
		throw Failure(ExitCode::Usage, fmt::format("the run directory {} can't be made: {}; choose another with -o",
												   path.string(), std::strerror(errno)));
}

} // namespace

void check_head(const model::Head &head) { front(head); }

struct Writer::State {
	fs::path directory;
	std::string partial, final;
	int fd = -1;
	uint64_t written = 0;
	std::vector<model::Cell> cells;
	Room room;

	[[noreturn]] void fail(const char *what) const
	{
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("{}: {}: {}; what was measured before is kept: make room, then `icepath report {}`",
								  partial, what, std::strerror(errno), directory.string()));
	}

	// Reports a container that was removed or moved now, not at the run's end.
	void must_be_there() const
	{
		struct stat named{}, opened{};
		if (::stat(partial.c_str(), &named) == 0 && ::fstat(fd, &opened) == 0 && named.st_dev == opened.st_dev &&
			named.st_ino == opened.st_ino)
			return;
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("{} was removed or moved while it was written, and its data is gone with it: "
								  "leave {} alone until the run has ended",
								  partial, directory.string()));
	}

	// Writes all or nothing: earlier chunks stay readable when the disk is full.
	void write(const std::vector<std::byte> &bytes)
	{
		for (size_t done = 0; done < bytes.size();) {
			const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0) {
				const int why = n == 0 ? ENOSPC : errno;
				[[maybe_unused]] const bool cut =
					::ftruncate(fd, static_cast<off_t>(written)) == 0 && ::lseek(fd, 0, SEEK_END) >= 0;
				errno = why;
				fail("writing failed");
			}
			done += static_cast<size_t>(n);
		}
		written += bytes.size();
	}

	~State()
	{
		if (fd >= 0)
			::close(fd);
	}
};

Writer::Writer(const std::string &directory, const model::Head &head) : state_(std::make_unique<State>())
{
	// First, so that a head that can't be written leaves no directory behind.
	const std::vector<std::byte> out = front(head);

	State &state = *state_;
	state.cells = head.cells;
	state.directory = fs::path(directory).lexically_normal();
	if (!state.directory.has_filename())
		state.directory = state.directory.parent_path();
	state.final = state.directory / kContainerName;
	state.partial = state.directory / kPartialName;
	std::error_code ignored;
	// For its owner alone, as perf's recordings are: it has names of other users' tasks, which /proc may hide
	// (hidepid).
	make_directory(state.directory, 0700);
	if (fs::exists(fs::symlink_status(state.final, ignored)))
		throw Failure(ExitCode::Usage, fmt::format("{} holds a run already; choose another directory with -o",
												   state.directory.string()));
	state.fd = ::open(state.partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (state.fd < 0 && errno == EEXIST)
		throw Failure(ExitCode::Usage, fmt::format("{} holds a partial run already; choose another directory with -o",
												   state.directory.string()));
	if (state.fd < 0)
		throw Failure(ExitCode::Usage, fmt::format("{} can't be written: {}; choose another directory with -o",
												   state.partial, std::strerror(errno)));
	state.write(out);
}

Writer::~Writer() = default;

void Writer::add(const model::Window &window, std::span<const model::Block> blocks)
{
	std::vector<std::byte> out;
	Room room = state_->room;
	try {
		uint64_t records = 0;
		for (const model::SlotCapture &slot : window.slots)
			records += slot.records.size();
		room.take_window(records, blocks.size());
		append_json(out, ChunkKind::Window, to_json(window, blocks.size()), window_from_json);
		for (const model::SlotCapture &slot : window.slots)
			append_chunk(out, ChunkKind::Records, std::as_bytes(std::span(slot.records)));
		for (const model::Block &block : blocks) {
			append_json(out, ChunkKind::Measurement, to_json(block),
						[this](const auto &json) { block_from_json(json, state_->cells); });
			std::vector<std::byte> stamps;
			for (const model::BlockFlow &flow : block.flows) {
				put(stamps, flow.sends);
				put(stamps, flow.recvs);
			}
			room.take_block(stamps.size() / sizeof(model::SendStamp));
			append_chunk(out, ChunkKind::Stamps, stamps);
		}
	} catch (const std::runtime_error &error) {
		throw Failure(ExitCode::Internal,
					  fmt::format("{}: the data can't be stored: {}", state_->partial, error.what()));
	}
	state_->write(out);
	state_->must_be_there();
	state_->room = room;
}

bool Writer::is_full() const { return state_->room.is_full(); }

void Writer::finish(const model::Tail &tail)
{
	State &state = *state_;
	std::vector<std::byte> out;
	append_json(out, ChunkKind::Tail, to_json(with_room(tail)), tail_from_json);
	state.write(out);
	state.must_be_there();
	// Data before the name: after a power loss the final name must not stand for an empty file.
	if (::fsync(state.fd) != 0)
		state.fail("storing failed");
	if (::rename(state.partial.c_str(), state.final.c_str()) != 0)
		state.fail("renaming failed");
	if (const int fd = ::open(state.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); fd >= 0) {
		::fsync(fd);
		::close(fd);
	}
}

} // namespace icepath::rundir
