// SPDX-License-Identifier: Apache-2.0
#include "profiler/symbols/user_stacks.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "profiler/symbols/process_maps.h"
#include "profiler/symbols/program_functions.h"

namespace icepath::symbols {

using Maps = std::vector<MappedFile>;

struct Unwinding { // in progress
	const Maps *maps = nullptr;
	const UserState *state = nullptr;
	UserFrames *frames = nullptr;
	bool lacks_memory = false; // for the last frame's caller
};

namespace {

// `maps`: of the process. Skips a file replaced since it was mapped. The library would map it: then a file that
// is truncated meanwhile would end this process by SIGBUS.
int find_elf(Dwfl_Module *module, void **maps, const char *name, Dwarf_Addr base, char **file_name, Elf **elf)
{
	if (name[0] != '/')
		return dwfl_linux_proc_find_elf(module, maps, name, base, file_name, elf); // [vdso]
	const Maps &all = *static_cast<const Maps *>(*maps);
	const auto map = std::ranges::find(all, name, &MappedFile::path);
	const int fd = map == all.end() ? -1 : open_mapped(*map);
	if (fd < 0)
		return -1;
	elf_version(EV_CURRENT);
	*elf = elf_begin(fd, ELF_C_READ, nullptr);
	if (!*elf) {
		close(fd);
		return -1;
	}
	*file_name = strdup(name); // free(), close() and elf_end() are the library's
	return fd;
}

// Debugging files aren't looked for, on this machine or on others.
int find_no_debuginfo(Dwfl_Module *, void **, const char *, Dwarf_Addr, const char *, const char *, GElf_Word, char **)
{
	return -1;
}

constexpr Dwfl_Callbacks kFiles = {find_elf, find_no_debuginfo, nullptr, nullptr};

int give_maps(Dwfl_Module *, void **of_module, const char *, Dwarf_Addr, void *maps)
{
	*of_module = maps;
	return DWARF_CB_OK;
}

pid_t next_thread(Dwfl *dwfl, void *unwinding, void **thread)
{
	if (*thread)
		return 0;
	*thread = unwinding;
	return dwfl_pid(dwfl);
}

bool read_memory(Dwfl *, Dwarf_Addr address, Dwarf_Word *word, void *unwinding)
{
	auto &of = *static_cast<Unwinding *>(unwinding);
	const UserState &state = *of.state;
	const uint64_t begin = state.registers[UserState::kStackPointer];
	if (address < begin || state.stack.size() < sizeof(*word) || address - begin > state.stack.size() - sizeof(*word)) {
		of.lacks_memory = true;
		return false;
	}
	std::memcpy(word, state.stack.data() + (address - begin), sizeof(*word));
	return true;
}

bool set_registers(Dwfl_Thread *thread, void *unwinding)
{
	const auto &registers = static_cast<Unwinding *>(unwinding)->state->registers;
	return dwfl_thread_state_registers(thread, 0, static_cast<unsigned>(registers.size()), registers.data());
}

constexpr Dwfl_Thread_Callbacks kThreads = {next_thread, nullptr, read_memory, set_registers, nullptr, nullptr};

int add_frame(Dwfl_Frame *frame, void *unwinding)
{
	auto &[maps, state, frames, lacks_memory] = *static_cast<Unwinding *>(unwinding);
	lacks_memory = false;
	Dwarf_Addr address = 0;
	bool runs_there = false;
	if (!dwfl_frame_pc(frame, &address, &runs_there))
		return DWARF_CB_ABORT;
	if (!runs_there)
		--address;
	if (!frames->addresses.empty() && !map_around(*maps, address)) // what was taken for a frame pointer is none
		return DWARF_CB_ABORT;
	frames->addresses.push_back(address);
	return frames->addresses.size() < UserStacks::kMostFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

// Its name for the linker, which tells its parameters, or else its own.
std::string name_of(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	const char *linkage = dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));
	const char *name = dwarf_diename(function);
	return linkage ? demangled(linkage) : name ? name : "?";
}

// Adds what was inlined at the address, of functions in `scope`. Returns whether one of these has the address.
// `left`: entries that may still be looked at, since a damaged file's may go round in a circle.
bool add_inlined(Dwarf_Die *scope, Dwarf_Addr address, std::vector<std::string> &names, size_t &left, int depth = 0)
{
	constexpr int kMostNested = 64;
	Dwarf_Die inner;
	if (depth == kMostNested || dwarf_child(scope, &inner) != 0)
		return false;
	do {
		if (left == 0)
			return true;
		--left;
		const int tag = dwarf_tag(&inner);
		const bool is_function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
		if (tag == DW_TAG_namespace) {
			if (add_inlined(&inner, address, names, left, depth + 1))
				return true;
		} else if ((is_function || tag == DW_TAG_lexical_block) && dwarf_haspc(&inner, address) > 0) {
			if (tag == DW_TAG_inlined_subroutine)
				names.push_back(name_of(&inner));
			add_inlined(&inner, address, names, left, depth + 1);
			return true;
		}
	} while (dwarf_siblingof(&inner, &inner) == 0);
	return false;
}

} // namespace

class UserStacks::Process {
public:
	explicit Process(uint32_t process) : maps_(executable_maps_of(process)), dwfl_(dwfl_begin(&kFiles))
	{
		const auto id = static_cast<pid_t>(process);
		is_ready_ = dwfl_ && dwfl_linux_proc_report(dwfl_, id) == 0 && dwfl_report_end(dwfl_, nullptr, nullptr) == 0 &&
					dwfl_getmodules(dwfl_, give_maps, &maps_, 0) == 0 &&
					dwfl_attach_state(dwfl_, nullptr, id, &kThreads, &unwinding_);
	}
	~Process()
	{
		if (dwfl_)
			dwfl_end(dwfl_);
	}
	Process(const Process &) = delete;
	Process &operator=(const Process &) = delete;

	UserFrames frames(const UserState &state)
	{
		UserFrames frames;
		if (!is_ready_)
			return frames;
		unwinding_ = {&maps_, &state, &frames};
		// A caller whose address can't be read is none for the library.
		frames.is_whole =
			dwfl_getthread_frames(dwfl_, dwfl_pid(dwfl_), add_frame, &unwinding_) == 0 && !unwinding_.lacks_memory;
		return frames;
	}

	bool is_ready() const { return is_ready_; }
	const MappedFile *file_at(uint64_t address) const { return map_around(maps_, address); }

	std::vector<std::string> inlined(uint64_t address)
	{
		std::vector<std::string> names;
		Dwarf_Addr bias = 0;
		size_t left = kMostEntries;
		if (Dwarf_Die *unit = unit_at(address, bias, left))
			add_inlined(unit, address - bias, names, left);
		return names;
	}

private:
	static constexpr size_t kMostEntries = 200'000; // of debugging information, for one address

	Dwarf_Die *unit_at(uint64_t address, Dwarf_Addr &bias, size_t &left)
	{
		if (Dwarf_Die *unit = dwfl_addrdie(dwfl_, address, &bias))
			return unit;
		// clang makes no table of units' addresses (.debug_aranges)
		Dwfl_Module *module = dwfl_addrmodule(dwfl_, address);
		Dwarf_Die *unit = module ? dwfl_module_nextcu(module, nullptr, &bias) : nullptr;
		while (unit && dwarf_haspc(unit, address - bias) <= 0)
			unit = left-- > 1 ? dwfl_module_nextcu(module, unit, &bias) : nullptr;
		return unit;
	}

	Maps maps_;
	Dwfl *dwfl_;
	Unwinding unwinding_;
	bool is_ready_ = false;
};

UserStacks::UserStacks() = default;
UserStacks::~UserStacks() = default;
UserStacks::UserStacks(UserStacks &&other) noexcept = default;
UserStacks &UserStacks::operator=(UserStacks &&other) noexcept = default;

UserStacks::Process &UserStacks::process_of(uint32_t process)
{
	std::unique_ptr<Process> &its = processes_[process];
	if (!its)
		its = std::make_unique<Process>(process);
	return *its;
}

UserFrames UserStacks::frames([[maybe_unused]] uint32_t process, [[maybe_unused]] const UserState &state)
{
#ifdef __x86_64__
	return process_of(process).frames(state);
#else
	return {};
#endif
}

std::vector<std::string> UserStacks::inlined(uint32_t process, uint64_t address)
{
	Process &its = process_of(process);
	const MappedFile *file = its.file_at(address);
	if (!its.is_ready() || !file || file->inode == 0)
		return {};
	const Place place = {file->major, file->minor, file->inode, address - file->begin + file->offset};
	if (const auto known = inlined_.find(place); known != inlined_.end())
		return known->second;
	if (inlined_.size() >= kMostInlined)
		return {};
	return inlined_[place] = its.inlined(address);
}

void UserStacks::look_again() { processes_.clear(); }

} // namespace icepath::symbols
