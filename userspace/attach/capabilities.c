/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/capabilities.h"

#include <sys/syscall.h>
#include <unistd.h>

bool capability_is_effective(unsigned int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (capability / 32 >= _LINUX_CAPABILITY_U32S_3 || syscall(SYS_capget, &header, data) < 0)
		return false;
	return data[capability / 32].effective >> (capability % 32) & 1;
}
