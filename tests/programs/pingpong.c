/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A storm of context switches: two threads, pinned to one CPU, hand a word to each other with futexes. Each hand-over is one switch. Each
 * thread is in one long span, "ping" or "pong". Prints windows (windows.h); its count is hand-overs.
 */
#include <linux/futex.h>
#include <sched.h>

#include "windows.h"

struct ball {
	_Atomic uint32_t turn; /* whose turn it is: 0 or 1; 2: the game is over */
	uint64_t cpu;
};

struct player {
	struct ball *ball;
	uint32_t side;
};

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void play_on(struct window_worker *worker, const struct player *player)
{
	_Atomic uint32_t *turn = &player->ball->turn;
	uint32_t other = 1 - player->side, seen;
	uint64_t count = 0;

	while (window_worker_goes_on(worker, count++)) {
		while ((seen = atomic_load(turn)) == other)
			futex_wait(turn, other);
		if (seen != player->side)
			return;
		atomic_store(turn, other);
		futex_wake(turn);
	}
	atomic_store(turn, 2);
	futex_wake(turn);
}

static void *play(void *argument)
{
	struct window_worker *worker = argument;
	const struct player *player = worker->context;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(player->ball->cpu, &cpus);
	must(!sched_setaffinity(0, sizeof(cpus), &cpus), "cannot pin to that CPU");
	if (player->side) {
		TXTRACE_SPAN("pong");
		play_on(worker, player);
	} else {
		TXTRACE_SPAN("ping");
		play_on(worker, player);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct window_options options = { .count = 0 };
	struct truth_options common = TRUTH_OPTIONS_DEFAULT;
	struct ball ball = { .cpu = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) - 1 };
	const struct option_spec table[] = {
		WINDOW_OPTION_SPECS(&options, "switches", "end after so many; 0: no limit"),
		TRUTH_WAIT_SPEC(&common),
		{ .name = "cpu", .help = "where both run", .count = &ball.cpu, .max = CPU_SETSIZE - 1 },
	};
	common.wait_traced_s = 0;
	options_parse(table, sizeof(table) / sizeof(table[0]), "pingpong: a storm of context switches", argc, argv);
	options.count = (options.count + 1) / 2; /* of each player */

	struct player players[2] = { { &ball, 0 }, { &ball, 1 } };
	struct window_worker workers[2] = { { .run = play, .context = &players[0] }, { .run = play, .context = &players[1] } };
	truth_start(&common);
	windows_run(workers, 2, &options);
	return 0;
}
