/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/span_programs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void span_programs_init(struct span_programs *programs)
{
	*programs = (struct span_programs){ 0 };
	id_map_init(&programs->by_pid);
}

void span_programs_release(struct span_programs *programs)
{
	id_map_release(&programs->by_pid);
	for (unsigned int i = 0; i < programs->cnt; i++)
		free(programs->names[i]);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_same(const char *a, const char *b)
{
	if (a[0] == '/' && b[0] == '/')
		return strcmp(a, b) == 0;
	return strcmp(last_part(a), last_part(b)) == 0;
}

/* *name: NULL if there are too many. 0 or -ENOMEM. */
static int find_name(struct span_programs *programs, const char *bytes, size_t length, char ***name)
{
	char *wanted = strndup(bytes, length);

	*name = NULL;
	if (!wanted)
		return -ENOMEM;
	for (unsigned int i = 0; i < programs->cnt && !*name; i++) {
		if (is_same(programs->names[i], wanted))
			*name = &programs->names[i];
	}
	if (!*name && programs->cnt < PROGRAMS_MAX) {
		*name = &programs->names[programs->cnt++];
		**name = wanted;
		return 0;
	}
	free(wanted);
	return 0;
}

static uint64_t mask_of(const struct span_programs *programs, char *const *name)
{
	return name ? 1ull << (name - programs->names) : 0;
}

int span_programs_begin_capture(struct span_programs *programs, const char *command)
{
	size_t length = strcspn(command, " ");
	char **name = NULL;
	int err = length ? find_name(programs, command, length, &name) : 0;

	id_map_release(&programs->by_pid);
	id_map_init(&programs->by_pid);
	programs->of_capture = mask_of(programs, name);
	programs->recent_pid = 0;
	return err;
}

int span_programs_see(struct span_programs *programs, const struct txtrace_process *process)
{
	char **name;
	int err;

	if (process->exe.length == 0)
		return 0; /* not known, or as before */
	programs->recent_pid = 0;
	err = find_name(programs, process->exe.bytes, process->exe.length, &name);
	if (err)
		return err;
	if (name)
		return id_map_put(&programs->by_pid, 0, process->pid, name);
	id_map_remove(&programs->by_pid, 0, process->pid);
	return 0;
}

uint64_t span_programs_search(struct span_programs *programs, uint32_t pid)
{
	char **name = id_map_get(&programs->by_pid, 0, pid);

	programs->recent_pid = pid;
	/*
	 * If the log has records of processes, the capture's command is that of one of them; others may run
	 * anything.
	 */
	programs->recent = name || programs->by_pid.cnt ? mask_of(programs, name) : programs->of_capture;
	return programs->recent;
}
