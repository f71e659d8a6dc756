/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/targets/detach_watch.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "attach/process/proc_status.h"
#include "base/text.h"

#define PATIENCE_S 2
#define NAMED_MAX 4

struct detach_watch {
	const struct messages *messages;
	struct process_reader *reader;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t is_over_changed;
	bool is_over;
};

static bool is_over(struct detach_watch *watch)
{
	bool is_over;

	pthread_mutex_lock(&watch->mutex);
	is_over = watch->is_over;
	pthread_mutex_unlock(&watch->mutex);
	return is_over;
}

static bool is_over_in_time(struct detach_watch *watch)
{
	struct timespec until;
	bool is_over;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&watch->mutex);
	while (!watch->is_over && !err)
		err = pthread_cond_timedwait(&watch->is_over_changed, &watch->mutex, &until);
	is_over = watch->is_over;
	pthread_mutex_unlock(&watch->mutex);
	return is_over;
}

/* Those that are frozen and still there: the list grows by asking. */
static size_t name_frozen(const struct detach_watch *watch, struct text *text)
{
	const struct frozen_targets *frozen = process_reader_frozen(watch->reader);
	size_t cnt = 0;

	for (size_t i = 0; i < frozen->cnt; i++) {
		const struct frozen_target *target = &frozen->targets[i];
		struct proc_status status;

		if (proc_status_read(&status, target->pid) || status.start_ticks != target->start_ticks)
			continue;
		if (cnt++ < NAMED_MAX)
			text_append_format(text, "%s%d ('%s')", cnt > 1 ? ", " : "", target->pid,
					   target->comm);
	}
	if (cnt > NAMED_MAX)
		text_append_format(text, " and %zu more", cnt - NAMED_MAX);
	return cnt;
}

/* Asks processes one by one, until one does not answer. */
static void search(struct detach_watch *watch)
{
	const struct frozen_targets *frozen = process_reader_frozen(watch->reader);
	size_t before_cnt = frozen->cnt;
	DIR *processes = opendir("/proc");
	struct dirent *entry;

	while (processes && frozen->cnt == before_cnt && !is_over(watch) && (entry = readdir(processes))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct proc_maps maps;

		if (pid > 0 && pid != getpid() && !process_reader_maps(watch->reader, &maps, pid))
			proc_maps_release(&maps);
	}
	if (processes)
		closedir(processes);
}

static void *look_on(void *context)
{
	struct detach_watch *watch = context;
	struct text names = { 0 };

	if (is_over_in_time(watch))
		return NULL;
	if (!name_frozen(watch, &names)) {
		search(watch);
		name_frozen(watch, &names);
	}
	if (names.length) /* otherwise it only takes long, as with thousands of probes on an old kernel */
		messages_say(watch->messages, MESSAGE_WARNING, "detach",
			     "the log is closed, but the kernel cannot remove the probes yet: these "
			     "processes block access to their memory: %s; "
			     "kill them, or the FUSE server they wait for; until then fork() may stall on "
			     "the whole machine",
			     text_string(&names));
	text_release(&names);
	return NULL;
}

struct detach_watch *detach_watch_new(const struct messages *messages, struct process_reader *reader)
{
	struct detach_watch *watch = reader ? calloc(1, sizeof(*watch)) : NULL;
	pthread_condattr_t attributes;

	if (!watch)
		return NULL;
	watch->messages = messages;
	watch->reader = reader;
	pthread_mutex_init(&watch->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->is_over_changed, &attributes);
	pthread_condattr_destroy(&attributes);
	if (!pthread_create(&watch->thread, NULL, look_on, watch))
		return watch;
	free(watch);
	return NULL;
}

void detach_watch_free(struct detach_watch *watch)
{
	if (!watch)
		return;
	pthread_mutex_lock(&watch->mutex);
	watch->is_over = true;
	pthread_cond_signal(&watch->is_over_changed);
	pthread_mutex_unlock(&watch->mutex);
	pthread_join(watch->thread, NULL);
	pthread_mutex_destroy(&watch->mutex);
	pthread_cond_destroy(&watch->is_over_changed);
	free(watch);
}
