/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signal handlers that mark between any two instructions of a mark, while a
 * reader takes it all: nothing is lost or mixed up, and no chunk goes astray.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

#include <cmocka.h>

#include "base/seeded_random.h"
#include "pool_world.h"

static volatile sig_atomic_t is_over;
static uint64_t handled_cnt;

static void mark_in_handler(int signal)
{
	(void)signal;
	if (is_over)
		return;
	TXTRACE_TAG(7, "a text of the handler's");
	handled_cnt++;
}

/*
 * A signal handler marks in between, at any instruction: nothing is lost,
 * nothing mixed up, no chunk goes astray.
 */
static void handler_marks_in_between(void **state)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	const char *text = "the text of the thread, in pieces: one, two, three";
	uint64_t cnt = 0;

	(void)state;
	NEED_POOL();
	handled_cnt = 0;
	is_over = 0;
	signal(SIGALRM, mark_in_handler);
	setitimer(ITIMER_REAL, &often, NULL);
	for (; cnt < 200000 || handled_cnt < 2000; cnt++) {
		TXTRACE_TAG(6, text);
		if (cnt % 1000 == 0)
			drain();
	}
	is_over = 1;
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	drain();
	assert_int_equal(world.cnt_of[MARK_TAG] + world.lost_of[MARK_TAG & 31], cnt + handled_cnt);
	assert_int_equal(world.lost_of[0], 0);
	for (size_t i = 0; i < world.cnt; i++) {
		assert_false(world.seen[i].is_unreadable);
		assert_int_equal(world.seen[i].text_length,
				 strlen(world.seen[i].id == 6 ? text : "a text of the handler's"));
	}
	assert_true(chunks_in_use() <= 3);
}

#if defined(__x86_64__)
#define TRAP_FLAG 0x100 /* makes a signal of every instruction */
#define SWITCHES 1000000

static struct steps {
	struct seeded_random random;
	volatile sig_atomic_t is_stepping;
	uint64_t marked_cnt;
	uint32_t left_cnt;     /* that this mark is still to be interrupted */
	uint64_t switched_cnt; /* by handlers that found another switch half done */
} steps;

static uint64_t used_slots(void)
{
	return MARK_USED(txtrace_lane_at_(world.memory, world.own_place)->position);
}

static void mark_step(void)
{
	TXTRACE_EVENT(1, "step");
	steps.marked_cnt++;
}

/* To the end of the present chunk, or if it is at its end, through another one. */
static void fill_chunk(void)
{
	do
		mark_step();
	while (used_slots() < MARK_CHUNK_SLOTS);
}

static void on_step(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	if (!steps.is_stepping || !steps.left_cnt) {
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
		return;
	}
	if (seeded_random_below(&steps.random, 3) == 0)
		return;
	steps.left_cnt--;
	steps.switched_cnt += used_slots() >= MARK_CHUNK_SLOTS;
	if (seeded_random_below(&steps.random, 32))
		fill_chunk();
	else
		mark_step();
}

static void on_start(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static uint32_t count_free(void)
{
	uint32_t cnt = 0;

	for (uint32_t chunk = (uint32_t)world.memory->free_chunks; chunk;
	     chunk = (uint32_t)world.memory->chunks[chunk])
		cnt++;
	return cnt;
}

static uint32_t count_lane_chunks(void)
{
	uint32_t cnt = 0;

	for (uint32_t chunk = MARK_HEAD_CHUNKS; chunk < world.memory->chunk_cnt; chunk++)
		cnt += world.memory->chunks[chunk] == MARK_CHUNK_LANES;
	return cnt;
}

/* Every chunk is free, has lanes, or is the one in which the thread marks. */
static void no_chunk_is_astray(void)
{
	assert_true(chunks_in_use() <= 1);
	assert_int_equal(MARK_HEAD_CHUNKS + count_free() + count_lane_chunks() + chunks_in_use(),
			 world.memory->chunk_cnt);
}

/* The change to the next chunk is interrupted at any of its instructions, by others that change chunks. */
static void chunk_switches_are_interrupted(void **state)
{
	struct sigaction step = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
	struct sigaction start = { .sa_sigaction = on_start, .sa_flags = SA_SIGINFO };
	uint32_t chunk_cnt = 0;

	(void)state;
	NEED_POOL();
	seeded_random_init(&steps.random, 2208);
	sigaction(SIGTRAP, &step, NULL);
	sigaction(SIGUSR1, &start, NULL);
	while (steps.switched_cnt < SWITCHES) {
		fill_chunk();
		steps.left_cnt = seeded_random_below(&steps.random, 100);
		steps.is_stepping = 1;
		raise(SIGUSR1);
		TXTRACE_EVENT(2, "interrupted");
		steps.is_stepping = 0;
		steps.marked_cnt++;
		drain();
		no_chunk_is_astray();
		if (chunk_cnt == 0 || steps.switched_cnt < SWITCHES / 100)
			chunk_cnt = world.memory->chunk_cnt;
	}
	assert_int_equal(world.cnt_of[MARK_EVENT], steps.marked_cnt);
	for (uint32_t kind = 0; kind < MARK_LOST_KINDS; kind++)
		assert_int_equal(world.lost_of[kind], 0);
	print_message("# MEASURED %llu interrupted switches, %u chunks after 1 of 100, %u at last\n",
		      (unsigned long long)steps.switched_cnt, chunk_cnt, world.memory->chunk_cnt);
}
#else
static void chunk_switches_are_interrupted(void **state)
{
	(void)state;
	skip_because("only x86-64 stops after every instruction");
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handler_marks_in_between),
		cmocka_unit_test(chunk_switches_are_interrupted),
	};

	return cmocka_run_group_tests(tests, open_world, close_world);
}
