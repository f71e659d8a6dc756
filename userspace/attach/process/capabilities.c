/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/capabilities.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(_LINUX_CAPABILITY_U32S_3 == 2, "a set has 64 bits");

static int read_sets(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capget, &header, data) < 0 ? -errno : 0;
}

static int write_sets(uint64_t effective, uint64_t permitted)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct data[2] = {
		{ .effective = (uint32_t)effective, .permitted = (uint32_t)permitted },
		{ .effective = (uint32_t)(effective >> 32), .permitted = (uint32_t)(permitted >> 32) },
	};

	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

bool capability_is_effective(unsigned int capability)
{
	struct __user_cap_data_struct data[2] = { 0 };

	if (capability / 32 >= 2 || read_sets(data))
		return false;
	return data[capability / 32].effective >> (capability % 32) & 1;
}

uint64_t capabilities_held(void)
{
	struct __user_cap_data_struct data[2] = { 0 };

	return read_sets(data) ? 0 : data[0].permitted | (uint64_t)data[1].permitted << 32;
}

int capabilities_keep(uint64_t kept)
{
	kept &= capabilities_held();
	/* goes with the inheritable ones in any case */
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return write_sets(kept, kept);
}

bool capabilities_suffice_to_change(uint64_t these, const char *directory)
{
	uint64_t held = capabilities_held();
	bool suffice;

	if (write_sets(held & these, held))
		return false;
	suffice = faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0;
	write_sets(held, held);
	return suffice;
}
