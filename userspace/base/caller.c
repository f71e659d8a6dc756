/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/caller.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/invoking_user.h"

struct caller {
	struct invoking_user user;
	pid_t pid; /* of the process that the thread is in; 0: there is none */
	pthread_t thread;
	sem_t is_asked;
	sem_t is_done;
	int err; /* of becoming the caller */
	caller_work work; /* NULL: end */
	void *context;
	int result;
};

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) && errno == EINTR)
		;
}

/* ---- the thread ---- */

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capset, &header, none) ? -errno : 0;
}

/*
 * Of this thread alone: glibc's setgroups() would change all threads.
 * setfsuid() tells of no error: it is asked what has become. With the
 * capabilities, which a file system uid other than 0 takes out of effect, the
 * thread loses the way back.
 */
static int become(const struct invoking_user *user)
{
	if (syscall(SYS_setgroups, user->group_cnt, user->groups))
		return -errno;
	setfsgid(user->gid);
	setfsuid(user->uid);
	if ((gid_t)setfsgid((gid_t)-1) != user->gid || (uid_t)setfsuid((uid_t)-1) != user->uid)
		return -EPERM;
	return drop_capabilities();
}

static void *run(void *context)
{
	struct caller *caller = context;

	caller->err = become(&caller->user);
	sem_post(&caller->is_done);
	for (;;) {
		wait_for(&caller->is_asked);
		if (!caller->work)
			return NULL;
		caller->result = caller->work(caller->context);
		sem_post(&caller->is_done);
	}
}

/* Of a child that was forked, nothing but a copy of this struct is there. */
static int start(struct caller *caller)
{
	sigset_t all, before;
	int err;

	sem_init(&caller->is_asked, 0, 0);
	sem_init(&caller->is_done, 0, 0);
	sigfillset(&all);
	sigdelset(&all, SIGSYS); /* a system call that is refused is for the thread that makes it to handle */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&caller->thread, NULL, run, caller);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return err;
	caller->pid = getpid();
	wait_for(&caller->is_done);
	return 0;
}

/* ---- the other side ---- */

int caller_new(struct caller **result)
{
	struct caller *caller = calloc(1, sizeof(*caller));
	int err = caller ? invoking_user_read(&caller->user) : -ENOMEM;

	if (err)
		free(caller);
	else
		*result = caller;
	return err;
}

void caller_free(struct caller *caller)
{
	if (!caller)
		return;
	if (caller->pid == getpid()) {
		caller->work = NULL;
		sem_post(&caller->is_asked);
		pthread_join(caller->thread, NULL);
		sem_destroy(&caller->is_asked);
		sem_destroy(&caller->is_done);
	}
	invoking_user_release(&caller->user);
	free(caller);
}

bool caller_is_other(const struct caller *caller)
{
	return caller && caller->user.is_other;
}

uid_t caller_uid(const struct caller *caller)
{
	return caller_is_other(caller) ? caller->user.uid : 0;
}

int caller_do(struct caller *caller, caller_work work, void *context)
{
	int err = 0;

	if (!caller_is_other(caller))
		return work(context);
	if (caller->pid != getpid())
		err = start(caller);
	if (!err)
		err = caller->err;
	if (err)
		return err;
	caller->work = work;
	caller->context = context;
	sem_post(&caller->is_asked);
	wait_for(&caller->is_done);
	return caller->result;
}

const char *caller_explain(const struct caller *caller, int err)
{
	if (!caller_is_other(caller) || (err != -EACCES && err != -EPERM))
		return strerror(-err);
	return err == -EACCES ? "Permission denied to the user who called sudo" :
				"Operation not permitted to the user who called sudo";
}
