// SPDX-License-Identifier: Apache-2.0
// "After a reboot" is only said where this machine decides what its kernel is booted with.
#include "profiler/doctor/boot.h"

#include <gtest/gtest.h>

#include "tests/cpuset/fake_machine.h"

namespace icepath::doctor {
namespace {

const Check kAtBoot = {"isolation other_tasks", Verdict::Warn,        "found", "effect",
					   "boot with isolcpus=1",  Possible::AfterReboot};

TEST(Boot, IsKnownByTheLoaderThatIsSetUp)
{
	for (const char *file : {"/boot/grub/grub.cfg", "/boot/loader/entries/a.conf", "/boot/extlinux/extlinux.conf",
							 "/boot/firmware/cmdline.txt", "/etc/default/grub"}) {
		cpuset::FakeMachine machine;
		machine.write(file, "");
		EXPECT_EQ(look_at_boot(true, false, machine.root()), BootedBy::ItsLoader) << file;
	}
	for (const char *line : {"BOOT_IMAGE=/vmlinuz ro", "ro initrd=\\initrd"}) {
		cpuset::FakeMachine machine;
		machine.write("/proc/cmdline", line);
		EXPECT_EQ(look_at_boot(true, false, machine.root()), BootedBy::ItsLoader) << line;
	}
}

TEST(Boot, IsDecidedOutsideOfAVirtualMachineWithoutALoader)
{
	cpuset::FakeMachine machine;
	machine.write("/proc/cmdline", "console=ttyS0 reboot=k panic=1");
	EXPECT_EQ(look_at_boot(true, false, machine.root()), BootedBy::ItsHost);
	EXPECT_EQ(look_at_boot(false, false, machine.root()), BootedBy::Unknown);
	EXPECT_EQ(look_at_boot(true, true, machine.root()), BootedBy::ContainersHost);
	machine.write("/boot/grub/grub.cfg", "");
	EXPECT_EQ(look_at_boot(true, true, machine.root()), BootedBy::ContainersHost) << "the image's, which boots nothing";
	cpuset::FakeMachine firmware;
	firmware.write("/sys/firmware/efi/runtime", "");
	EXPECT_EQ(look_at_boot(true, false, firmware.root()), BootedBy::Unknown) << "its partition may not be mounted";
}

TEST(Boot, RemediesNameWhoCanHaveThem)
{
	EXPECT_EQ(as_booted(kAtBoot, BootedBy::ItsLoader).remedy, "boot with isolcpus=1");
	const Check unknown = as_booted(kAtBoot, BootedBy::Unknown), host = as_booted(kAtBoot, BootedBy::ItsHost),
				container = as_booted(kAtBoot, BootedBy::ContainersHost);
	EXPECT_EQ(unknown.possible, Possible::AfterReboot);
	EXPECT_NE(unknown.remedy, kAtBoot.remedy);
	EXPECT_EQ(host.possible, Possible::NotHere);
	EXPECT_TRUE(host.remedy.starts_with("whoever starts this virtual machine can")) << host.remedy;
	EXPECT_TRUE(host.remedy.ends_with(": boot with isolcpus=1")) << host.remedy;
	EXPECT_EQ(container.possible, Possible::NotHere);
	EXPECT_EQ(container.remedy, "on the host of this container: boot with isolcpus=1");
	Check now = kAtBoot;
	now.possible = Possible::Now;
	EXPECT_EQ(as_booted(now, BootedBy::ItsHost).remedy, kAtBoot.remedy);
}

} // namespace
} // namespace icepath::doctor
