// SPDX-License-Identifier: Apache-2.0
// Reads a container. All of it is taken as hostile: each length is compared with the file and with a limit before use.
#include "profiler/rundir/container.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/failure.h"
#include "profiler/rundir/chunk.h"
#include "profiler/rundir/head_json.h"
#include "profiler/rundir/json_text.h"
#include "profiler/rundir/limits.h"
#include "profiler/rundir/room.h"
#include "profiler/rundir/type_table.h"
#include "profiler/rundir/window_json.h"

namespace icepath::rundir {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// The file ends inside a chunk.
struct Cut {};

bool is_json(ChunkKind kind) { return kind != ChunkKind::Stamps && kind != ChunkKind::Records; }

// Mostly another user's run: a run directory is for its owner alone.
[[noreturn]] void refuse_unreadable(const fs::path &path, const std::error_code &why)
{
	throw Failure(ExitCode::Usage,
				  fmt::format("{} can't be read: {}; ask its owner, or read it as root", path.string(), why.message()));
}

fs::path container_of(const std::string &given)
{
	std::error_code error;
	const auto status = fs::status(given, error);
	if (status.type() == fs::file_type::not_found)
		throw Failure(ExitCode::Usage,
					  fmt::format("there is no run {}: give a directory that `icepath run` made", given));
	if (error)
		refuse_unreadable(given, error);
	if (!fs::is_directory(status))
		return given;
	for (const char *name : {kContainerName, kPartialName}) {
		const fs::path inside = fs::path(given) / name;
		if (fs::exists(inside, error))
			return inside;
		if (error)
			refuse_unreadable(inside, error);
	}
	throw Failure(ExitCode::Usage, fmt::format("{} isn't a run directory: it has neither {} nor {}", given,
											   kContainerName, kPartialName));
}

} // namespace

struct Reader::State {
	std::string path;
	int fd = -1;
	uint64_t size = 0, at = 0;
	bool partial = false, cut = false, ended = false;
	Contents contents = Contents::All;
	std::vector<std::byte> stored; // the present chunk, in memory that is used again
	Unpacker unpacker;
	model::Head head;
	std::optional<model::Tail> tail;
	Room room;

	~State()
	{
		if (fd >= 0)
			::close(fd);
	}

	[[noreturn]] void refuse(uint64_t offset, const std::string &reason) const
	{
		throw Failure(ExitCode::Usage,
					  fmt::format("{} isn't a readable icepath capture: at byte {}: {}", path, offset, reason));
	}

	void open()
	{
		// O_NONBLOCK: opening a FIFO of that name mustn't block.
		fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		struct stat status{};
		if (fd < 0 || ::fstat(fd, &status) != 0)
			throw Failure(ExitCode::Usage, fmt::format("{} can't be read: {}", path, std::strerror(errno)));
		if (!S_ISREG(status.st_mode))
			throw Failure(ExitCode::Usage, fmt::format("{} isn't an icepath capture: it isn't a regular file", path));
		// Checks the opened file, not its name, which may be exchanged in between.
		if (::geteuid() == 0 && status.st_uid != 0)
			throw Failure(ExitCode::Usage,
						  fmt::format("root doesn't read {}, which belongs to user {}: chown it first, or "
									  "read it as its owner",
									  path, status.st_uid));
		size = static_cast<uint64_t>(status.st_size);
		partial = path.ends_with(".partial");
	}

	// The caller has compared `bytes` with the rest of the file.
	void read(void *to, uint64_t bytes)
	{
		for (uint64_t done = 0; done < bytes;) {
			const ssize_t n = ::pread(fd, static_cast<char *>(to) + done, bytes - done, static_cast<off_t>(at + done));
			if (n < 0 && errno == EINTR)
				continue;
			if (n < 0)
				throw Failure(ExitCode::Usage,
							  fmt::format("{} can't be read at byte {}: {}", path, at + done, std::strerror(errno)));
			if (n == 0)
				throw Cut{}; // the file shrank in the meantime
			done += static_cast<uint64_t>(n);
		}
		at += bytes;
	}

	void read_magic()
	{
		char magic[sizeof kMagic] = {};
		if (size >= sizeof magic)
			read(magic, sizeof magic);
		if (std::memcmp(magic, kMagic, sizeof magic) != 0)
			throw Failure(ExitCode::Usage,
						  fmt::format("{} isn't an icepath capture: it doesn't begin with the mark of one", path));
	}

	ChunkHeader read_header()
	{
		const uint64_t offset = at;
		ChunkHeader header;
		if (size - at < sizeof header)
			throw Cut{};
		read(&header, sizeof header);
		// After a power failure a file system may have kept the file's length but not its data.
		if (partial && std::memcmp(&header, std::array<std::byte, sizeof header>{}.data(), sizeof header) == 0)
			throw Cut{};
		switch (static_cast<ChunkKind>(header.kind)) {
		case ChunkKind::Types:
		case ChunkKind::Head:
		case ChunkKind::Window:
		case ChunkKind::Measurement:
		case ChunkKind::Stamps:
		case ChunkKind::Records:
		case ChunkKind::Tail:
			break;
		default:
			refuse(offset, "unknown kind of chunk");
		}
		if (header.plain_bytes > (is_json(static_cast<ChunkKind>(header.kind)) ? kMaxJsonBytes : kMaxChunkBytes))
			refuse(offset, fmt::format("a chunk claims {} bytes, more than one can have", header.plain_bytes));
		if (header.stored_bytes > size - at)
			throw Cut{};
		if (header.plain_bytes / kMaxExpansion > header.stored_bytes)
			refuse(offset, fmt::format("a chunk claims {} bytes of {} in the file, more than {} times as many",
									   header.plain_bytes, header.stored_bytes, kMaxExpansion));
		// zstd adds at most a few bytes to incompressible data (ZSTD_COMPRESSBOUND).
		if (header.stored_bytes > header.plain_bytes + header.plain_bytes / 256 + 1024)
			refuse(offset, "a chunk is stored in more bytes than it holds");
		return header;
	}

	ChunkHeader read_header_of(ChunkKind expected, uint64_t expected_bytes)
	{
		const uint64_t offset = at;
		const ChunkHeader header = read_header();
		if (header.kind != static_cast<uint32_t>(expected))
			refuse(offset, "a chunk of another kind is due here");
		if (!is_json(expected) && header.plain_bytes != expected_bytes)
			refuse(offset, "a chunk holds another number of items than its description says");
		return header;
	}

	std::span<const std::byte> read_chunk(ChunkKind expected, uint64_t expected_bytes)
	{
		const uint64_t offset = at;
		return payload(offset, read_header_of(expected, expected_bytes));
	}

	// Valid until the next chunk is read.
	std::span<const std::byte> payload(uint64_t offset, const ChunkHeader &header)
	{
		stored.resize(header.stored_bytes);
		read(stored.data(), stored.size());
		try {
			return unpacker.unpack(header, stored);
		} catch (const std::runtime_error &error) {
			refuse(offset, error.what());
		}
	}

	// Interprets a chunk's payload, and adds its place to errors.
	template <typename Use> auto interpret(uint64_t offset, std::span<const std::byte> bytes, Use use)
	{
		try {
			return use(parse_json({reinterpret_cast<const char *>(bytes.data()), bytes.size()}));
		} catch (const std::runtime_error &error) {
			refuse(offset, error.what());
		}
	}

	void read_front()
	{
		try {
			uint64_t offset = at;
			interpret(offset, read_chunk(ChunkKind::Types, 0), [](const Json &json) { check_type_table(json); });
			offset = at;
			head = interpret(offset, read_chunk(ChunkKind::Head, 0),
							 [](const Json &json) { return head_from_json(json); });
		} catch (const Cut &) {
			refuse(size, "it ends before its head does, so nothing of it can be read");
		}
	}

	// Called before memory is allocated.
	template <typename Take> void find_room(uint64_t offset, Take take)
	{
		try {
			take();
		} catch (const std::runtime_error &error) {
			refuse(offset, error.what());
		}
	}

	template <typename T> static const std::byte *take(std::vector<T> &items, uint64_t count, const std::byte *from)
	{
		items.resize(count);
		if (count != 0)
			std::memcpy(items.data(), from, count * sizeof(T));
		return from + count * sizeof(T);
	}

	model::Block skipped_block()
	{
		for (const ChunkKind kind : {ChunkKind::Measurement, ChunkKind::Stamps}) {
			const uint64_t offset = at;
			const ChunkHeader header = read_header();
			if (header.kind != static_cast<uint32_t>(kind))
				refuse(offset, "a chunk of another kind is due here");
			at += header.stored_bytes;
		}
		return {};
	}

	// Leaves the window empty.
	model::Block read_block()
	{
		const uint64_t offset = at;
		BlockShape shape = interpret(offset, read_chunk(ChunkKind::Measurement, 0),
									 [this](const Json &json) { return block_from_json(json, head.cells); });
		const uint64_t stamps = std::accumulate(shape.sends.begin(), shape.sends.end(), uint64_t{0}) +
								std::accumulate(shape.recvs.begin(), shape.recvs.end(), uint64_t{0});
		find_room(offset, [&] { room.take_block(stamps); });
		const std::byte *from = read_chunk(ChunkKind::Stamps, stamps * sizeof(model::SendStamp)).data();
		for (size_t i = 0; i < shape.block.flows.size(); ++i) {
			from = take(shape.block.flows[i].sends, shape.sends[i], from);
			from = take(shape.block.flows[i].recvs, shape.recvs[i], from);
		}
		return std::move(shape.block);
	}

	WindowBlocks read_window(uint64_t offset, std::span<const std::byte> bytes)
	{
		WindowShape shape = interpret(offset, bytes, window_from_json);
		find_room(offset, [&] {
			room.take_window(std::accumulate(shape.records.begin(), shape.records.end(), uint64_t{0}), shape.blocks);
		});
		// Windows that continue others are joined with them.
		const bool skips = contents == Contents::WithProbes && !shape.window.probed && !shape.window.begins_midway &&
						   !shape.window.ends_midway;
		for (size_t i = 0; i < shape.records.size(); ++i) {
			const uint64_t bytes_of_slot = shape.records[i] * sizeof(icepath_record);
			if (contents == Contents::WithoutRecords || skips)
				at += read_header_of(ChunkKind::Records, bytes_of_slot).stored_bytes;
			else
				take(shape.window.slots[i].records, shape.records[i],
					 read_chunk(ChunkKind::Records, bytes_of_slot).data());
		}
		WindowBlocks read{std::make_shared<model::Window>(std::move(shape.window)), {}, std::move(shape.records)};
		for (size_t i = 0; i < shape.blocks; ++i)
			read.blocks.emplace_back(skips ? skipped_block() : read_block()).window = read.window;
		return read;
	}

	std::optional<WindowBlocks> next()
	{
		const uint64_t offset = at;
		if (at == size) {
			if (!partial)
				refuse(size, "it ends without its tail: it was cut");
			return std::nullopt;
		}
		const ChunkHeader header = read_header();
		const auto kind = static_cast<ChunkKind>(header.kind);
		if (kind == ChunkKind::Window)
			return read_window(offset, payload(offset, header));
		if (kind != ChunkKind::Tail)
			refuse(offset, "a window or the tail is due here");
		tail = interpret(offset, payload(offset, header), [](const Json &json) { return tail_from_json(json); });
		if (at != size)
			refuse(at, "something follows the tail");
		return std::nullopt;
	}
};

Reader::Reader(const std::string &directory, Contents contents) : state_(std::make_unique<State>())
{
	state_->contents = contents;
	state_->path = container_of(directory).string();
	state_->open();
	state_->read_magic();
	state_->read_front();
}

Reader::~Reader() = default;

const model::Head &Reader::head() const { return state_->head; }
const std::optional<model::Tail> &Reader::tail() const { return state_->tail; }
bool Reader::truncated() const { return state_->cut; }

std::optional<WindowBlocks> Reader::next()
{
	State &state = *state_;
	if (state.ended)
		return std::nullopt;
	std::optional<WindowBlocks> window;
	try {
		window = state.next();
	} catch (const Cut &) {
		if (!state.partial)
			state.refuse(state.size, "it was cut: a chunk is longer than the rest of the file");
		state.cut = true;
	}
	state.ended = !window;
	return window;
}

} // namespace icepath::rundir
