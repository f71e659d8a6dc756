/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/blocked_time.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define LOOK_NS (BLOCKED_LOOK_MS * UINT64_C(1000000))

static bool read_small(const char *name, pid_t tid, char *text, size_t size)
{
	char path[64];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = read(fd, text, size - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0;
}

void blocked_look(struct blocked_look *seen, pid_t tid)
{
	uint64_t run_ns, wait_ns;
	char text[512], state;
	const char *behind;

	*seen = (struct blocked_look){ .is_blocked = true };
	if (read_small("stat", tid, text, sizeof(text)) && (behind = strrchr(text, ')')) &&
	    sscanf(behind + 1, " %c", &state) == 1)
		seen->is_blocked = state == 'S' || state == 'D';
	if (read_small("schedstat", tid, text, sizeof(text)) &&
	    sscanf(text, "%" SCNu64 " %" SCNu64, &run_ns, &wait_ns) == 2)
		seen->busy_ns = run_ns + wait_ns;
	seen->at_ns = clock_now_ns();
}

uint64_t blocked_between(const struct blocked_look *before, const struct blocked_look *after)
{
	uint64_t apart_ns = after->at_ns - before->at_ns, busy_ns = after->busy_ns - before->busy_ns;

	if (!before->is_blocked || !after->is_blocked || busy_ns >= apart_ns)
		return 0;
	apart_ns -= busy_ns;
	return apart_ns < 2 * LOOK_NS ? apart_ns : 2 * LOOK_NS;
}
