/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/top/span_page.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

#define PAGE_BYTES_MAX (1u << 20)

extern char **environ;

/* The environment with COLUMNS; of this program it stays as it is, as ncurses goes by it. NULL: no memory. */
static char **make_environment(char *columns)
{
	size_t cnt = 0, kept = 0;
	char **copy;

	while (environ[cnt])
		cnt++;
	copy = calloc(cnt + 2, sizeof(*copy));
	for (size_t i = 0; copy && i < cnt; i++)
		if (strncmp(environ[i], "COLUMNS=", strlen("COLUMNS=")) != 0)
			copy[kept++] = environ[i];
	if (copy)
		copy[kept] = columns;
	return copy;
}

static pid_t start(const char *path, const struct top_target *target, size_t columns, int fd)
{
	char id[32], pid[16], width[32];
	char **environment = make_environment(width);
	char *argv[9], **at = argv;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	pid_t child = -1;

	snprintf(id, sizeof(id), "%" PRIu64, target->id);
	snprintf(width, sizeof(width), "COLUMNS=%zu", columns);
	snprintf(pid, sizeof(pid), "%" PRIu32, target->pid);
	*at++ = (char *)"txtrace";
	*at++ = (char *)"show";
	*at++ = (char *)(target->is_keyed ? "--keyed" : "--pid");
	if (!target->is_keyed)
		*at++ = pid;
	*at++ = (char *)"--";
	*at++ = (char *)path;
	*at++ = id;
	*at = NULL;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, fd, STDERR_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	if (!environment || posix_spawn(&child, "/proc/self/exe", &actions, &attributes, argv, environment))
		child = -1;
	free(environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return child;
}

static void read_all(struct text *text, int fd)
{
	char bytes[4096];
	ssize_t got;

	do {
		got = read(fd, bytes, sizeof(bytes));
		if (got > 0)
			text_append_bytes(text, bytes, (size_t)got);
	} while ((got > 0 && text->length < PAGE_BYTES_MAX) || (got < 0 && errno == EINTR));
}

char *span_page(const char *path, const struct top_target *target, size_t columns)
{
	struct text text = { 0 };
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	child = start(path, target, columns, ends[1]);
	close(ends[1]);
	if (child > 0)
		read_all(&text, ends[0]);
	close(ends[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	if (child <= 0 || text.err) {
		text_release(&text);
		return NULL;
	}
	text_append(&text, "\n");
	return text.bytes;
}
