/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/flight/dump_request.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* It is called as we are, and has blocked the signal, which it reads at its leisure. */
static int check_recorder(pid_t pid, bool *understands)
{
	char path[64], line[256], name[64] = "";
	uint64_t blocked = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "Name: %63s", name);
		sscanf(line, "SigBlk: %" SCNx64, &blocked);
	}
	fclose(file);
	*understands = strcmp(name, "txtrace-bpf") == 0 && blocked >> (SIGUSR1 - 1) & 1;
	return 0;
}

int dump_request_send(pid_t pid, struct error *error)
{
	/* from here on it is this one, whatever becomes of its pid */
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	bool understands = false;
	int err = fd < 0 ? -errno : check_recorder(pid, &understands);

	if (!err && !understands)
		err = -EINVAL;
	if (!err && syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0))
		err = -errno;
	if (fd >= 0)
		close(fd);
	if (err == -ESRCH || err == -ENOENT)
		error_set(error, "there is no process %d", (int)pid);
	else if (err == -EINVAL)
		error_set(error, "process %d is no txtrace-bpf that runs with --flight", (int)pid);
	else if (err)
		error_set(error, "cannot ask process %d: %s", (int)pid, strerror(-err));
	return err;
}
