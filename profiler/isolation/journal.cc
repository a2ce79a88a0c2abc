// SPDX-License-Identifier: Apache-2.0
#include "profiler/isolation/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "profiler/failure.h"
#include "profiler/isolation/journal_holder.h"
#include "profiler/rundir/json_text.h"

namespace icepath::isolation {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr size_t kMostBytes = 1 << 20; // some thousands of interrupts
constexpr size_t kCrcDigits = 8;
constexpr const char *kEndNames[] = {"restored", "left"};

std::string crc_of(std::string_view text)
{
	return fmt::format("{:08x}",
					   crc32(0, reinterpret_cast<const Bytef *>(text.data()), static_cast<uInt>(text.size())));
}

[[noreturn]] void refuse(const std::string &why)
{
	throw Failure(
		ExitCode::MachineCannot,
		fmt::format("the host can't be isolated, since what is changed can't be noted in /{}: {}", kJournalPath, why));
}

bool has_ended(pid_t process)
{
	const Fd pidfd = pidfd_of(process);
	pollfd end{pidfd.get(), POLLIN, 0};
	return pidfd ? poll(&end, 1, 0) > 0 : errno == ESRCH;
}

std::string text_of_file(const Fd &file)
{
	std::string text(kMostBytes, '\0');
	size_t filled = 0;
	for (ssize_t bytes = 1; bytes > 0 && filled < text.size();
		 filled += static_cast<size_t>(std::max<ssize_t>(bytes, 0)))
		bytes = pread(file.get(), text.data() + filled, text.size() - filled, static_cast<off_t>(filled));
	text.resize(filled);
	return text;
}

// null if it isn't a whole line of icepath's.
Json json_of(const std::string &line)
{
	const std::string text = line.substr(0, line.size() - std::min(line.size(), kCrcDigits + 1));
	if (line != fmt::format("{} {}", text, crc_of(text)))
		return nullptr;
	try {
		Json json = rundir::parse_json(text);
		return json.is_object() ? json : Json(nullptr);
	} catch (const std::runtime_error &) {
		return nullptr;
	}
}

template <typename T> T field(const Json &json, const char *name, const T &missing)
{
	const auto at = json.find(name);
	if constexpr (std::is_same_v<T, std::string>)
		return at != json.end() && at->is_string() ? at->template get<std::string>() : missing;
	else
		return at != json.end() && at->is_number_unsigned() ? at->template get<T>() : missing;
}

bool has_texts(const Json &json, std::initializer_list<const char *> names)
{
	return std::ranges::all_of(names, [&](const char *name) { return json.contains(name) && json[name].is_string(); });
}

std::string first_line(const std::string &text) { return text.substr(0, text.find('\n')); }

// The icepath whose changes it lists; 0: unknown.
pid_t icepath_in(const Fd &file)
{
	const Json head = json_of(first_line(text_of_file(file)));
	return head.is_object() ? static_cast<pid_t>(field<uint64_t>(head, "pid", 0)) : 0;
}

// A keeper is another process's child once its icepath has ended, whoever has icepath's number then.
bool is_in_use(pid_t icepath, const std::optional<Holder> &holder)
{
	return icepath > 0 && (holder ? holder->parent == icepath : !has_ended(icepath));
}

// The keeper of a killed icepath restores everything and ends soon, unless somebody has stopped it.
void lock(const Fd &file)
{
	constexpr int kPatienceMs = 10'000, kStillMs = 1000, kLookEveryMs = 20;
	uint64_t switches = 0;
	int still_ms = 0;
	for (int waited_ms = 0; flock(file.get(), LOCK_EX | LOCK_NB); waited_ms += kLookEveryMs) {
		if (errno != EWOULDBLOCK)
			refuse(std::strerror(errno));
		const pid_t icepath = icepath_in(file);
		const auto holder = holder_of(file);
		if (is_in_use(icepath, holder))
			throw Failure(ExitCode::MachineCannot,
						  fmt::format("another icepath (pid {0}) has changed this machine, and only one can at a time: "
									  "wait until it has ended, which restores the machine, or end it (kill {0})",
									  icepath));
		if (waited_ms >= kPatienceMs)
			throw Failure(ExitCode::MachineCannot,
						  fmt::format("/{} is locked{}, which doesn't end: end it, then `sudo icepath doctor "
									  "--restore`",
									  kJournalPath,
									  holder ? fmt::format(" by {} (process {})", holder->name, holder->pid)
											 : " by another process"));
		still_ms = holder && holder->switches == switches ? still_ms + kLookEveryMs : 0;
		switches = holder ? holder->switches : 0;
		if (still_ms >= kStillMs)
			end_holder(file, holder->pid);
		poll(nullptr, 0, kLookEveryMs);
	}
}

// If others than root could make or change it, root would write what they say.
void check_owner(const Fd &file)
{
	struct stat status{};
	if (fstat(file.get(), &status))
		refuse(std::strerror(errno));
	if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0 || status.st_nlink != 1)
		refuse("it isn't a file of root's alone: remove it");
}

} // namespace

std::string boot_of(const Tree &tree) { return tree.read("proc/sys/kernel/random/boot_id").value_or(""); }

Journal::Journal(const Tree &tree) : file_(tree.open(kJournalPath, O_RDWR | O_CREAT, 0600))
{
	if (!file_)
		refuse(std::strerror(errno));
	check_owner(file_);
	lock(file_);
	read(boot_of(tree));
}

void Journal::read(const std::string &boot)
{
	const std::string text = text_of_file(file_);
	const Json head = json_of(first_line(text));
	if (!head.is_object()) {
		// The head is whole before any change is made. So a torn head is the last line.
		const size_t end = text.find('\n');
		if (end != std::string::npos && end + 1 < text.size())
			damage_.emplace_back("its first line isn't icepath's");
		return;
	}
	if (field<uint64_t>(head, "format", 0) != kFormat) {
		damage_.emplace_back("another version of icepath wrote it");
		return;
	}
	if (field<std::string>(head, "boot", "") != boot)
		return;
	size_t number = 2;
	bool is_torn = false;
	for (size_t begin = std::min(first_line(text).size() + 1, text.size()), end = 0; begin < text.size();
		 begin = end + 1, number++) {
		end = std::min(text.find('\n', begin), text.size());
		const std::string line = text.substr(begin, end - begin);
		is_torn = end == text.size() && json_of(line).is_null(); // its change wasn't begun
		if (!is_torn)
			take(line, number);
	}
	// What is appended must begin a line, also if this process is killed before the journal is cleared.
	if (is_torn)
		(void)!ftruncate(file_.get(), static_cast<off_t>(text.rfind('\n') + 1));
	else if (!text.ends_with('\n'))
		(void)!pwrite(file_.get(), "\n", 1, static_cast<off_t>(text.size()));
}

void Journal::take(const std::string &line, size_t number)
{
	const Json json = json_of(line);
	const auto damaged = [&] { damage_.push_back(fmt::format("its line {} isn't icepath's", number)); };
	if (!json.is_object()) {
		damaged();
		return;
	}
	const auto entry = static_cast<uint32_t>(field<uint64_t>(json, "entry", 0));
	if (const std::string end = field<std::string>(json, "end", ""); !end.empty()) {
		const auto ended = std::ranges::find(entries_, entry, &Entry::number);
		if (ended != entries_.end())
			ended->has_ended = true;
		return;
	}
	const auto place = place_of(field<std::string>(json, "knob", ""), field<uint64_t>(json, "number", 0));
	Entry read{entry, place.value_or(Place()), field<std::string>(json, "old", ""),
			   field<std::string>(json, "new", "")};
	if (!place || !has_texts(json, {"old", "new"}) || !is_value(place->knob->form, read.old_value) ||
		!is_value(place->knob->form, read.new_value))
		damaged();
	else
		entries_.push_back(std::move(read));
}

void Journal::append(const std::string &json)
{
	const std::string line = fmt::format("{} {}\n", json, crc_of(json));
	const off_t before = lseek(file_.get(), 0, SEEK_END);
	if (before < 0)
		refuse(std::strerror(errno));
	if (static_cast<size_t>(before) + line.size() > kMostBytes)
		refuse(fmt::format("it has {} bytes, which is all that a reader takes", before));
	for (size_t written = 0; written < line.size();) {
		const ssize_t bytes = write(file_.get(), line.data() + written, line.size() - written);
		if (bytes < 0) {
			const int error = errno;
			(void)!ftruncate(file_.get(), before);
			refuse(std::strerror(error));
		}
		written += static_cast<size_t>(bytes);
	}
	// /run may be on disk.
	if (fdatasync(file_.get()))
		refuse(std::strerror(errno));
}

void Journal::begin(const Head &head)
{
	clear();
	append(rundir::json_text({{"format", kFormat},
							  {"boot", head.boot},
							  {"pid", head.pid},
							  {"user", head.user},
							  {"cpus", cpuset::format_cpulist(head.cpus)}}));
}

Entry &Journal::add(const Place &place, const std::string &old_value, const std::string &new_value)
{
	Entry entry{entries_.empty() ? 1 : entries_.back().number + 1, place, old_value, new_value};
	append(rundir::json_text({{"entry", entry.number},
							  {"knob", place.knob->name},
							  {"number", place.number},
							  {"old", old_value},
							  {"new", new_value}}));
	return entries_.emplace_back(std::move(entry));
}

void Journal::end(Entry &entry, End how)
{
	entry.has_ended = true;
	append(rundir::json_text({{"entry", entry.number}, {"end", kEndNames[static_cast<size_t>(how)]}}));
}

void Journal::clear()
{
	if (ftruncate(file_.get(), 0))
		refuse(std::strerror(errno));
	entries_.clear();
	damage_.clear();
}

bool journal_has_changes(const Tree &tree)
{
	const Fd file = tree.open(kJournalPath, O_RDONLY);
	struct stat status{};
	return file && fstat(file.get(), &status) == 0 && status.st_size > 0;
}

bool journal_is_left(const Tree &tree)
{
	const Fd file = tree.open(kJournalPath, O_RDONLY);
	return file && flock(file.get(), LOCK_SH | LOCK_NB) == 0 && journal_has_changes(tree);
}

} // namespace icepath::isolation
