/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs with one span for each way to wait, as a table. The main thread (the
 * subject) blocks; where somebody has to end the wait, a helper thread first
 * sees that the subject sleeps, lets 5 ms pass and then ends it. So the subject
 * was blocked for at least 5 ms, on a loaded machine too.
 */
#ifndef WAITS_H
#define WAITS_H

#include <semaphore.h>
#include <sys/socket.h>

#include "truth.h"

#define ASKED_NS (5 * NS_PER_MS)

struct subject {
	struct witness witness;
	struct truth *truth; /* of this round */
	atomic_uint_least64_t waiting_cnt; /* the subject is about to wait */
	uint64_t turn;
	sem_t semaphore;
	int fds[2]; /* a pipe, a socket pair, a file, a userfaultfd: by the wait */
	int more_fds[4]; /* others that are watched as well; all are closed */
	int more_cnt;
	char *page;
	pid_t child;
	char byte;
};

/*
 * prepare: before the span, 0 or an errno if this machine can't; wait: the
 * span; release: by the helper, 5 ms after the subject fell asleep (NULL:
 * nobody needs to); clean: after the span.
 */
struct wait {
	const char *name;
	const char *reason; /* the name that the log has for it */
	int (*prepare)(struct subject *subject);
	void (*wait)(struct subject *subject);
	void (*release)(struct subject *subject);
	void (*clean)(struct subject *subject);
};

/* The subject's span of this round; what comes before `body` tells the helper to watch. */
#define SUBJECT_SPAN(subject, literal, body)								\
	WITNESSED((subject)->truth, &(subject)->witness, literal, {					\
		atomic_store(&(subject)->waiting_cnt, (subject)->turn);					\
		must((body) >= 0, "cannot wait on " literal);						\
	})

static inline void close_both(struct subject *subject)
{
	close(subject->fds[0]);
	close(subject->fds[1]);
}

static inline void write_byte(struct subject *subject)
{
	must(write(subject->fds[1], "x", 1) == 1, "cannot write");
}

static inline int prepare_pipe(struct subject *subject)
{
	return pipe2(subject->fds, O_CLOEXEC) ? errno : 0;
}

static inline int prepare_socket(struct subject *subject)
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, subject->fds) ? errno : 0;
}

struct helper {
	struct subject *subject;
	const struct wait *wait;
	pthread_t thread;
};

static inline void *run_helper(void *argument)
{
	struct helper *helper = argument;
	struct subject *subject = helper->subject;

	wait_until_count(&subject->waiting_cnt, subject->turn);
	wait_until_state(getpid(), subject->witness.tid, "SD");
	sleep_ns(ASKED_NS);
	helper->wait->release(subject);
	return NULL;
}

static inline void wait_once(struct subject *subject, const struct wait *wait)
{
	struct helper helper = { .subject = subject, .wait = wait };
	int err = wait->prepare ? wait->prepare(subject) : 0;

	if (err) {
		fprintf(stderr, "%s is left out: %s\n", wait->name, strerror(err));
		return;
	}
	subject->turn++;
	subject->truth->blocked = wait->reason;
	subject->truth->asked_ns = ASKED_NS;
	if (wait->release)
		start_thread(&helper.thread, run_helper, &helper);
	wait->wait(subject);
	if (wait->release)
		pthread_join(helper.thread, NULL);
	if (wait->clean)
		wait->clean(subject);
}

static inline const struct wait *find_wait(const struct wait *waits, size_t wait_cnt, const char *name)
{
	for (size_t i = 0; i < wait_cnt; i++)
		if (!strcmp(waits[i].name, name))
			return &waits[i];
	fprintf(stderr, "there is no wait named \"%s\"; there are", name);
	for (size_t i = 0; i < wait_cnt; i++)
		fprintf(stderr, " %s", waits[i].name);
	fprintf(stderr, "\n");
	exit(2);
}

static inline int waits_main(const struct wait *waits, size_t wait_cnt, const char *help, int argc,
			     char **argv)
{
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	const char *name = "";
	const struct option_spec table[] = {
		TRUTH_OPTION_SPECS(&options),
		{ .name = "on", .help = "only this wait; a wrong name lists them", .text = &name },
	};
	options_parse(table, sizeof(table) / sizeof(table[0]), help, argc, argv);
	const struct wait *only = *name ? find_wait(waits, wait_cnt, name) : NULL;
	struct truth *truths = truths_new(options.repeat_cnt * wait_cnt);
	struct subject subject = { .truth = truths };
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	witness_init(&subject.witness);
	truth_start(&options);
	for (uint64_t i = 0; i < options.repeat_cnt; i++)
		for (size_t k = 0; k < wait_cnt; k++, subject.truth++)
			if (!only || only == &waits[k])
				wait_once(&subject, &waits[k]);
	truths_print(truths, options.repeat_cnt * wait_cnt);
	free(truths);
	return 0;
}

#endif
