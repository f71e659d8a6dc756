/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/target_exes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/kernel/kernel_targets.h"
#include "record/recorder_state.h"

/* Of a path that the caller names. */
struct path_look {
	const char *path;
	struct file_identity *identity;
	char *real; /* PATH_MAX bytes */
};

static int identify(void *context)
{
	const struct path_look *look = context;

	return file_identity_of_path(look->identity, look->path);
}

static int open_to_read(void *context)
{
	const struct path_look *look = context;
	int fd = open(look->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

static int resolve(void *context)
{
	const struct path_look *look = context;

	return realpath(look->path, look->real) ? 0 : -errno;
}

static int look_up(const struct recorder *recorder, size_t idx, struct file_identity *identity)
{
	struct path_look look = { .path = recorder->options->targets.exes[idx], .identity = identity };

	return caller_do(recorder->options->caller, identify, &look);
}

static int tell_exe(struct recorder *recorder, size_t idx, struct error *error)
{
	const char *path = recorder->options->targets.exes[idx];
	int err = look_up(recorder, idx, &recorder->exes[idx]);

	if (err == -EINVAL)
		error_set(error, "'%s' is no file that can be executed", path);
	else if (err)
		error_set(error, "cannot find the executable '%s': %s", path,
			  caller_explain(recorder->options->caller, err));
	return err ? err
		   : kernel_targets_add_exe(kernel_side_bpf(recorder->kernel), &recorder->exes[idx], error);
}

int target_exes_attach(struct recorder *recorder, size_t idx, struct error *error)
{
	struct path_look look = { .path = recorder->options->targets.exes[idx] };
	int fd = caller_do(recorder->options->caller, open_to_read, &look);

	return fd < 0 ? 0 : attach_file(recorder->attach, look.path, fd, error);
}

static bool is_current(const struct recorder *recorder, const struct file_identity *identity)
{
	for (size_t i = 0; i < recorder->options->targets.exe_cnt; i++)
		if (file_identity_is_same(identity, &recorder->exes[i]))
			return true;
	return false;
}

/* The kernel side has room for so many: the oldest goes. */
static void retire(struct recorder *recorder, const struct file_identity *former)
{
	struct file_identity *slot = &recorder->former_exes[recorder->former_exe_at];

	if (slot->inode && !is_current(recorder, slot))
		kernel_targets_remove_exe(kernel_side_bpf(recorder->kernel), slot);
	*slot = *former;
	recorder->former_exe_at = (recorder->former_exe_at + 1) % FORMER_EXES_MAX;
}

bool target_exes_renew(struct recorder *recorder)
{
	const struct target_rules *rules = &recorder->options->targets;
	struct file_identity identity;
	bool is_new = false;
	struct error ignored; /* the next process that runs it is a chance more */

	for (size_t i = 0; i < rules->exe_cnt; i++) {
		if (look_up(recorder, i, &identity) || file_identity_is_same(&identity, &recorder->exes[i]))
			continue;
		if (kernel_targets_add_exe(kernel_side_bpf(recorder->kernel), &identity, &ignored))
			continue;
		retire(recorder, &recorder->exes[i]);
		recorder->exes[i] = identity;
		target_exes_attach(recorder, i, &ignored);
		is_new = true;
	}
	return is_new;
}

/* Processes run files that had this name once: "/usr/sbin/server (deleted)". They are meant, too. */
static void tell_old_exes(struct recorder *recorder, const char *path)
{
	char real[PATH_MAX], link[64], exe[PATH_MAX + 16], old[PATH_MAX + 16];
	struct path_look look = { .path = path, .real = real };
	DIR *processes = caller_do(recorder->options->caller, resolve, &look) ? NULL : opendir("/proc");
	struct dirent *entry;
	struct error ignored;

	if (!processes)
		return;
	snprintf(old, sizeof(old), "%s (deleted)", real);
	while ((entry = readdir(processes))) {
		struct file_identity identity;
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		ssize_t length;

		snprintf(link, sizeof(link), "/proc/%d/exe", pid);
		length = pid > 0 ? readlink(link, exe, sizeof(exe) - 1) : -1;
		exe[length > 0 ? length : 0] = '\0';
		if (!strcmp(exe, old) && !file_identity_of_exe(&identity, pid))
			kernel_targets_add_exe(kernel_side_bpf(recorder->kernel), &identity, &ignored);
	}
	closedir(processes);
}

int target_exes_tell(struct recorder *recorder, struct error *error)
{
	const struct target_rules *rules = &recorder->options->targets;
	int err = 0;

	for (size_t i = 0; !err && i < rules->exe_cnt; i++)
		err = tell_exe(recorder, i, error);
	for (size_t i = 0; !err && i < rules->exe_cnt; i++)
		tell_old_exes(recorder, rules->exes[i]);
	return err;
}
