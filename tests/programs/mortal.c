/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Short spans, one after the other, until somebody tells it how to end:
 *
 *	SIGKILL   as any process
 *	SIGTERM   it exits with 0
 *	SIGUSR1   it becomes the program whose words follow --
 *	SIGUSR2   likewise, by another thread than its first
 *	SIGHUP    it forks and exits; the child goes on for half a second
 *
 * The spans are called "mortal", those of the child "orphan"; with --stranger 1 "stranger". It ends with its
 * parent (the child does not). With --reborn 1 it waits for its tracer, makes ten spans "reborn", and exits.
 */
#include "truth.h"

#define SPAN_NS 2000000
#define ORPHAN_SPAN_CNT 250
#define REBORN_SPAN_CNT 10
#define REBORN_WAIT_S 20

static char **becomes;

static void *become(void *unused)
{
	sigset_t none;

	(void)unused;
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	execv(becomes[0], becomes);
	must(false, "cannot become another program");
	return NULL;
}

static void become_by_thread(void)
{
	pthread_t thread;

	start_thread(&thread, become, NULL);
	pthread_join(thread, NULL);
}

static void live_as_orphan(const sigset_t *signals)
{
	const struct timespec pause = { .tv_nsec = SPAN_NS };

	for (int i = 0; i < ORPHAN_SPAN_CNT; i++) {
		TXTRACE_SPAN("orphan");
		if (sigtimedwait(signals, NULL, &pause) == SIGTERM)
			return;
	}
}

/* Whether it goes on. */
static bool obey(int signal_nr, const sigset_t *signals)
{
	if (signal_nr == SIGUSR1)
		become(NULL);
	if (signal_nr == SIGUSR2)
		become_by_thread();
	if (signal_nr != SIGHUP)
		return signal_nr < 0;

	pid_t child = fork();
	must(child >= 0, "cannot fork");
	if (!child)
		live_as_orphan(signals);
	_exit(0);
}

/* The next signal; -1: none has come for a while. */
static int wait_in_span(const sigset_t *signals, bool is_stranger)
{
	const struct timespec pause = { .tv_nsec = SPAN_NS };
	txtrace_span_t span = is_stranger ? TXTRACE_BEGIN("stranger") : TXTRACE_BEGIN("mortal");
	int signal_nr = sigtimedwait(signals, NULL, &pause);

	TXTRACE_END(span);
	return signal_nr;
}

static void live_again(void)
{
	wait_until_traced(REBORN_WAIT_S);
	for (int i = 0; i < REBORN_SPAN_CNT; i++) {
		TXTRACE_SPAN("reborn");
		sleep_ns(SPAN_NS);
	}
}

int main(int argc, char **argv)
{
	const int handled[] = { SIGTERM, SIGUSR1, SIGUSR2, SIGHUP };
	uint64_t is_stranger = 0, is_reborn = 0;
	const struct option_spec table[] = {
		{ .name = "stranger", .help = "1: its spans are called so", .count = &is_stranger, .max = 1 },
		{ .name = "reborn",
		  .help = "1: ten spans that are called so, once it is traced",
		  .count = &is_reborn,
		  .max = 1 },
	};
	int own_cnt = 1;
	sigset_t signals;

	while (own_cnt < argc && strcmp(argv[own_cnt], "--"))
		own_cnt++;
	becomes = argv + own_cnt + (own_cnt < argc);
	options_parse(table, 2,
		      "mortal: short spans until a signal tells how to end; behind --: what to become",
		      own_cnt, argv);
	end_with_parent(SIGKILL);
	if (is_reborn) {
		live_again();
		return 0;
	}
	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof(handled) / sizeof(handled[0]); i++)
		sigaddset(&signals, handled[i]);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	while (obey(wait_in_span(&signals, is_stranger), &signals))
		;
	return 0;
}
