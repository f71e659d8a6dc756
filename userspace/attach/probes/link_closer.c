/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/link_closer.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct link_closer {
	pthread_t thread;
	bool is_started;
	pthread_mutex_t mutex;
	pthread_cond_t has_work;
	struct probe_links **links; /* that nobody has begun to close */
	size_t cnt;
	bool is_ending;
};

struct link_closer *link_closer_new(void)
{
	struct link_closer *closer = calloc(1, sizeof(*closer));

	if (!closer)
		return NULL;
	pthread_mutex_init(&closer->mutex, NULL);
	pthread_cond_init(&closer->has_work, NULL);
	return closer;
}

/* What is there is closed all at once: that takes the time of one. */
static void *run(void *context)
{
	struct link_closer *closer = context;
	struct probe_links **links;
	size_t cnt;

	pthread_mutex_lock(&closer->mutex);
	for (;;) {
		while (!closer->cnt && !closer->is_ending)
			pthread_cond_wait(&closer->has_work, &closer->mutex);
		if (!closer->cnt)
			break;
		links = closer->links;
		cnt = closer->cnt;
		closer->links = NULL;
		closer->cnt = 0;
		pthread_mutex_unlock(&closer->mutex);
		probe_links_close_several(links, cnt);
		free(links);
		pthread_mutex_lock(&closer->mutex);
	}
	pthread_mutex_unlock(&closer->mutex);
	return NULL;
}

/* Signals are for the thread that called us, but for that of a refused system call. */
static bool start(struct link_closer *closer)
{
	sigset_t all, before;

	if (closer->is_started)
		return true;
	sigfillset(&all);
	sigdelset(&all, SIGSYS);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	closer->is_started = !pthread_create(&closer->thread, NULL, run, closer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return closer->is_started;
}

static bool append(struct link_closer *closer, struct probe_links **links, size_t cnt)
{
	struct probe_links **grown;

	pthread_mutex_lock(&closer->mutex);
	grown = reallocarray(closer->links, closer->cnt + cnt, sizeof(*grown));
	if (grown) {
		memcpy(&grown[closer->cnt], links, cnt * sizeof(*grown));
		closer->links = grown;
		closer->cnt += cnt;
		pthread_cond_signal(&closer->has_work);
	}
	pthread_mutex_unlock(&closer->mutex);
	return grown;
}

void link_closer_take(struct link_closer *closer, struct probe_links **links, size_t cnt)
{
	if (cnt && (!start(closer) || !append(closer, links, cnt)))
		probe_links_close_several(links, cnt);
}

void link_closer_free(struct link_closer *closer)
{
	if (!closer)
		return;
	pthread_mutex_lock(&closer->mutex);
	closer->is_ending = true;
	pthread_cond_signal(&closer->has_work);
	pthread_mutex_unlock(&closer->mutex);
	if (closer->is_started)
		pthread_join(closer->thread, NULL);
	pthread_mutex_destroy(&closer->mutex);
	pthread_cond_destroy(&closer->has_work);
	free(closer);
}
