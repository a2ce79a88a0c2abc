// SPDX-License-Identifier: Apache-2.0
#include "profiler/doctor/boot.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace icepath::doctor {
namespace {

// Of GRUB, systemd-boot, unified kernel images, extlinux and syslinux, rEFInd, Limine, U-Boot, Raspberry Pi and zipl.
constexpr std::array<std::string_view, 20> kConfigurations = {{
	"/boot/grub/grub.cfg",
	"/boot/grub2/grub.cfg",
	"/boot/grub/menu.lst",
	"/etc/default/grub",
	"/boot/loader/entries",
	"/boot/efi/loader/entries",
	"/efi/loader/entries",
	"/boot/efi/EFI",
	"/efi/EFI",
	"/etc/kernel/cmdline",
	"/boot/extlinux",
	"/boot/syslinux",
	"/boot/refind_linux.conf",
	"/boot/limine.conf",
	"/etc/default/u-boot",
	"/boot/boot.scr",
	"/boot/cmdline.txt",
	"/boot/firmware/cmdline.txt",
	"/etc/zipl.conf",
	"/boot/EFI",
}};

bool exists(const std::string &path)
{
	std::error_code error;
	return std::filesystem::exists(path, error);
}

// GRUB, syslinux and others pass BOOT_IMAGE=, systemd-boot initrd=.
bool names_a_loader(const std::string &command_line)
{
	std::ifstream file(command_line);
	for (std::string word; file >> word;)
		if (word.starts_with("BOOT_IMAGE=") || word.starts_with("initrd="))
			return true;
	return false;
}

} // namespace

BootedBy look_at_boot(bool is_virtual, bool is_container, const std::string &root)
{
	if (is_container)
		return BootedBy::ContainersHost;
	if (names_a_loader(root + "/proc/cmdline"))
		return BootedBy::ItsLoader;
	for (const std::string_view configuration : kConfigurations)
		if (exists(root + std::string(configuration)))
			return BootedBy::ItsLoader;
	return is_virtual && !exists(root + "/sys/firmware/efi") ? BootedBy::ItsHost : BootedBy::Unknown;
}

Check as_booted(Check check, BootedBy booted_by)
{
	if (check.possible != Possible::AfterReboot || check.remedy.empty())
		return check;
	switch (booted_by) {
	case BootedBy::ItsLoader:
		break;
	case BootedBy::Unknown:
		check.remedy += " (no boot loader is found here)";
		break;
	case BootedBy::ItsHost:
		check.possible = Possible::NotHere;
		check.remedy = "whoever starts this virtual machine can (no boot loader is set up in it): " + check.remedy;
		break;
	case BootedBy::ContainersHost:
		check.possible = Possible::NotHere;
		check.remedy = "on the host of this container: " + check.remedy;
		break;
	}
	return check;
}

} // namespace icepath::doctor
