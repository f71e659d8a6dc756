/* SPDX-License-Identifier: BSD-2-Clause */
/* A few threads by hand: who waited for whom, summed up by label although labels come late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "analyze/wait/wait_sums.h"

#define PID 10

static struct txtrace_string string(const char *text)
{
	return (struct txtrace_string){ text, strlen(text) };
}

static struct wait_sums *new_sums(uint64_t max_bytes, bool is_by_object)
{
	struct wait_sums_options options = { .max_bytes = max_bytes,
					     .is_by_object = is_by_object,
					     .kernel = "6.18.5 x86_64" };
	struct wait_sums *sums = wait_sums_new(&options);

	assert_non_null(sums);
	return sums;
}

static void add(struct wait_sums *sums, struct txtrace_record record)
{
	assert_int_equal(wait_sums_add(sums, &record), 0);
}

/* The thread leaves the CPU at end_ns to wait for a futex; before begin_ns it was blocked for blocked_ns. */
static void stay(struct wait_sums *sums, uint32_t tid, uint64_t begin_ns, uint64_t end_ns,
		 uint64_t blocked_ns)
{
	add(sums, (struct txtrace_record){
			  .kind = TXTRACE_RECORD_RUN,
			  .run = { .tid = tid,
				   .pid = PID,
				   .begin_ns = begin_ns,
				   .end_ns = end_ns,
				   .blocked_ns = blocked_ns,
				   .left_as = TXTRACE_LEFT_BLOCKED,
				   .reason = TXTRACE_BLOCK_LOCK,
				   .syscall_nr = 202,
				   .object = 0x1000 },
		  });
}

static void wake(struct wait_sums *sums, uint32_t tid, uint64_t time_ns, uint64_t span, uint64_t waker_span)
{
	add(sums, (struct txtrace_record){
			  .kind = TXTRACE_RECORD_WAKE,
			  .wake = { .time_ns = time_ns,
				    .tid = tid,
				    .pid = PID,
				    .waker_tid = 99,
				    .waker_pid = PID,
				    .waker_comm = string("helper"),
				    .span = span,
				    .waker_span = waker_span },
		  });
}

static void end(struct wait_sums *sums, uint64_t id, const char *label)
{
	add(sums, (struct txtrace_record){ .kind = TXTRACE_RECORD_SPAN,
					   .span = { .id = id, .pid = PID, .label = string(label) } });
}

static bool is_party(const struct wait_sums *sums, uint32_t number, enum party_kind kind, const char *name)
{
	struct party party = wait_sums_party(sums, number);

	return party.kind == kind && party.name.length == strlen(name) &&
	       !memcmp(party.name.bytes, name, party.name.length);
}

/* The sum of one span's label with a span's or a thread's; its number of waits comes too. */
static uint64_t sum(const struct wait_sums *sums, const char *waiter, enum party_kind kind, const char *waker,
		    uint64_t *cnt)
{
	uint64_t ns = 0;

	*cnt = 0;
	for (size_t i = 0; i < wait_sums_count(sums); i++) {
		const struct wait_cell *cell = wait_sums_get(sums, i);

		if (is_party(sums, cell->waiter, PARTY_SPAN, waiter) &&
		    is_party(sums, cell->waker, kind, waker)) {
			ns += cell->ns;
			*cnt += cell->cnt;
		}
	}
	return ns;
}

static void expect(const struct wait_sums *sums, const char *waiter, enum party_kind kind, const char *waker,
		   uint64_t cnt, uint64_t ns)
{
	uint64_t got_cnt, got_ns = sum(sums, waiter, kind, waker, &got_cnt);

	if (got_cnt != cnt || got_ns != ns)
		fail_msg("%s on %s: %ju waits of %ju ns, not %ju of %ju", waiter, waker, (uintmax_t)got_cnt,
			 (uintmax_t)got_ns, (uintmax_t)cnt, (uintmax_t)ns);
}

static void a_wait_is_charged_when_the_labels_come(void **state)
{
	struct wait_sums *sums = new_sums(1 << 20, false);

	(void)state;
	stay(sums, 1, 0, 100, 0);
	wake(sums, 1, 140, 7, 8);
	end(sums, 8, "holder"); /* before the stay that tells of the wait */
	stay(sums, 1, 140, 200, 40);
	wake(sums, 1, 230, 7, 9);
	stay(sums, 1, 230, 300, 30);
	end(sums, 7, "waiter");
	end(sums, 9, "other"); /* after the one that waited */
	assert_int_equal(wait_sums_finish(sums), 0);
	expect(sums, "waiter", PARTY_SPAN, "holder", 1, 40);
	expect(sums, "waiter", PARTY_SPAN, "other", 1, 30);
	assert_int_equal(wait_sums_count(sums), 2);
	assert_int_equal(wait_sums_get(sums, 0)->max_ns, 40);
	assert_int_equal(wait_sums_totals(sums)->in_span_ns, 70);
	wait_sums_free(sums);
}

/* A wait in no span is its thread's, by the name that it has then. */
static void threads_in_no_span_are_named_if_wanted(void **state)
{
	const struct wait_sums_options options = {
		.max_bytes = 1 << 20, .is_by_object = true, .names_threads = true, .kernel = "6.18.5 x86_64"
	};
	struct wait_sums *sums = wait_sums_new(&options);
	const struct wait_cell *cell;

	(void)state;
	assert_non_null(sums);
	add(sums, (struct txtrace_record){ .kind = TXTRACE_RECORD_THREAD,
					   .thread = { .tid = 1, .pid = PID, .comm = string("worker") } });
	stay(sums, 1, 0, 100, 0);
	wake(sums, 1, 140, 0, 0);
	stay(sums, 1, 140, 200, 40);
	stay(sums, 2, 0, 100, 0);
	wake(sums, 2, 110, 0, 0);
	stay(sums, 2, 110, 200, 10);
	assert_int_equal(wait_sums_finish(sums), 0);
	assert_int_equal(wait_sums_count(sums), 2);
	cell = wait_sums_get(sums, 0);
	assert_true(is_party(sums, cell->waiter, PARTY_THREAD, "worker"));
	assert_int_equal(cell->ns, 40);
	cell = wait_sums_get(sums, 1);
	assert_true(is_party(sums, cell->waiter, PARTY_THREAD, ""));
	assert_int_equal(cell->ns, 10);
	assert_int_equal(wait_sums_totals(sums)->no_span_ns, 50);
	wait_sums_free(sums);
}

/*
 * The id of an ended span is another span's from there, also while a wait of the first is still to be told.
 */
static void an_id_that_is_used_again_is_another_span(void **state)
{
	struct wait_sums *sums = new_sums(1 << 20, false);

	(void)state;
	stay(sums, 1, 0, 100, 0);
	stay(sums, 2, 0, 100, 0);
	wake(sums, 1, 110, 7, 0);
	end(sums, 7, "first");
	wake(sums, 2, 120, 7, 0);
	stay(sums, 2, 120, 130, 20);
	stay(sums, 1, 110, 130, 10);
	end(sums, 7, "second");
	assert_int_equal(wait_sums_finish(sums), 0);
	expect(sums, "first", PARTY_THREAD, "helper", 1, 10);
	expect(sums, "second", PARTY_THREAD, "helper", 1, 20);
	wait_sums_free(sums);
}

static void spans_of_one_label_become_one_sum(void **state)
{
	struct wait_sums *sums = new_sums(1 << 20, false);

	(void)state;
	stay(sums, 1, 0, 100, 0);
	for (uint64_t i = 1; i <= 1000; i++) {
		/* Each in a span of its own, which wakes itself: another thread is in it, too. */
		wake(sums, 1, 100 * i + i, i, i);
		stay(sums, 1, 100 * i + i, 100 * i + 100, i);
		if (i > 1)
			end(sums, i - 1, "tx");
	}
	end(sums, 1000, "tx");
	assert_int_equal(wait_sums_finish(sums), 0);
	assert_int_equal(wait_sums_count(sums), 1);
	expect(sums, "tx", PARTY_SPAN, "tx", 1000, 1000 * 1001 / 2);
	wait_sums_free(sums);
}

/*
 * Somebody's outermost span is open all the time, and is woken by many short ones: what is held follows their
 * labels, not their number.
 */
static void a_long_span_holds_no_more_than_the_labels_that_woke_it(void **state)
{
	struct wait_sums *sums = new_sums(1 << 20, false);

	(void)state;
	stay(sums, 1, 0, 100, 0);
	for (uint64_t i = 1; i <= 200000; i++) {
		wake(sums, 1, 100 * i + 10, 1, i + 1);
		end(sums, i + 1, i % 2 ? "odd" : "even");
		stay(sums, 1, 100 * i + 10, 100 * i + 100, 10);
	}
	end(sums, 1, "server");
	assert_int_equal(wait_sums_finish(sums), 0);
	assert_false(wait_sums_is_full(sums));
	expect(sums, "server", PARTY_SPAN, "odd", 100000, 1000000);
	expect(sums, "server", PARTY_SPAN, "even", 100000, 1000000);
	wait_sums_free(sums);
}

static void what_is_not_told_is_not_guessed(void **state)
{
	struct wait_sums *sums = new_sums(1 << 20, false);
	const struct wait_totals *totals = wait_sums_totals(sums);

	(void)state;
	stay(sums, 1, 0, 100, 0);
	stay(sums, 1, 150, 200, 40); /* no wakeup */
	wake(sums, 1, 240, 7, 0);
	stay(sums, 1, 260, 300, 40); /* one, but at another moment: this one began unseen */
	wake(sums, 1, 320, 7, 0);
	wake(sums, 1, 330, 8, 0); /* found it awake */
	stay(sums, 1, 330, 400, 20);
	/* runnable and blocked for longer than there was time */
	add(sums, (struct txtrace_record){ .kind = TXTRACE_RECORD_RUN,
					   .run = { .tid = 1,
						    .pid = PID,
						    .begin_ns = 500,
						    .end_ns = 600,
						    .blocked_ns = 400,
						    .runnable_ns = UINT64_MAX } });
	assert_int_equal(wait_sums_finish(sums), 0);
	assert_int_equal(totals->cnt, 4);
	assert_int_equal(totals->unseen_cnt, 3);
	assert_int_equal(totals->unseen_ns, 40 + 40 + 400);
	assert_int_equal(totals->in_span_ns, 20);
	expect(sums, "", PARTY_THREAD, "helper", 1, 20); /* span 7 never ended */
	wait_sums_free(sums);
}

static void the_budget_holds_and_nothing_goes_missing(void **state)
{
	struct wait_sums *sums = new_sums(256 << 10, true);
	const struct wait_totals *totals = wait_sums_totals(sums);
	uint64_t ns = 0, cnt = 0;
	char label[32];

	(void)state;
	for (uint32_t i = 1; i <= 20000; i++) {
		stay(sums, i, 100, 100 + i, 0);
		wake(sums, i, 110 + i, i, i + 1);
		stay(sums, i, 110 + i, 120 + i, 10);
		snprintf(label, sizeof(label), "label %u", i);
		end(sums, i, label);
	}
	assert_int_equal(wait_sums_finish(sums), 0);
	assert_true(wait_sums_is_full(sums));
	assert_int_equal(totals->cnt, 20000);
	assert_int_equal(totals->ns, 200000);
	assert_int_equal(totals->in_span_ns + totals->no_span_ns + totals->unseen_ns, 200000);
	for (size_t i = 0; i < wait_sums_count(sums); i++) {
		ns += wait_sums_get(sums, i)->ns;
		cnt += wait_sums_get(sums, i)->cnt;
	}
	assert_int_equal(cnt, 20000);
	assert_int_equal(ns, 200000);
	assert_in_range(wait_sums_count(sums), 10, 2000);
	wait_sums_free(sums);
}

static struct wait_object object_of(const char *kernel, uint8_t reason, int32_t syscall_nr, uint64_t object)
{
	struct syscall_table syscalls;
	struct wait wait = { .pid = PID, .reason = reason, .syscall_nr = syscall_nr, .object = object };

	syscall_table_init(&syscalls, kernel);
	return wait_object_of(&syscalls, &wait);
}

static void the_object_is_what_the_system_call_waits_for(void **state)
{
	static const struct {
		const char *kernel;
		uint8_t reason;
		int32_t syscall_nr;
		uint64_t object;
		enum wait_object_kind kind;
		uint64_t value;
		const char *call;
	} cases[] = {
		{ "6.18.5 x86_64", TXTRACE_BLOCK_LOCK, 202, 0x1000, WAIT_OBJECT_FUTEX, 0x1000, NULL },
		{ "6.18.5 x86_64", TXTRACE_BLOCK_LOCK, 73, 0, WAIT_OBJECT_FD, 0, NULL }, /* flock(0) */
		{ "6.18.5 x86_64", TXTRACE_BLOCK_SLEEP, 230, 5000000, WAIT_OBJECT_SLEEP, 5000000, NULL },
		{ "6.18.5 x86_64", TXTRACE_BLOCK_SLEEP, 230, 0, WAIT_OBJECT_CALL, 230, "clock_nanosleep" },
		{ "6.18.5 x86_64", TXTRACE_BLOCK_OTHER, 318, 0, WAIT_OBJECT_CALL, 318, "getrandom" },
		{ "6.18.5 x86_64", TXTRACE_BLOCK_OTHER, 511, 0, WAIT_OBJECT_CALL, 511, NULL },
		{ "6.18.5 x86_64", TXTRACE_BLOCK_OTHER, INT32_MAX, 0, WAIT_OBJECT_CALL, INT32_MAX, NULL },
		{ "6.18.5 x86_64", TXTRACE_BLOCK_PAGE_FAULT, -1, 0, WAIT_OBJECT_MEMORY, 0, NULL },
		{ "6.18.5 x86_64", TXTRACE_BLOCK_DISK, -2, 0, WAIT_OBJECT_UNKNOWN, 0, NULL },
		{ "6.18.5 x86_64", TXTRACE_BLOCK_STOPPED, 0, 0, WAIT_OBJECT_NONE, 0, NULL },
		{ "6.18.5 x86_64", WAIT_REASON_UNKNOWN, 202, 0x1000, WAIT_OBJECT_UNKNOWN, 0, NULL },
		/* The same numbers are other calls elsewhere. */
		{ "6.1.0 aarch64", TXTRACE_BLOCK_LOCK, 98, 0x1000, WAIT_OBJECT_FUTEX, 0x1000, NULL },
		{ "6.1.0 aarch64", TXTRACE_BLOCK_NETWORK, 202, 4, WAIT_OBJECT_FD, 4, NULL }, /* accept */
		{ "6.1.0 aarch64", TXTRACE_BLOCK_OTHER, 278, 0, WAIT_OBJECT_CALL, 278, "getrandom" },
		/* Nobody knows the calls of this one. */
		{ "6.1.0 riscv64", TXTRACE_BLOCK_LOCK, 98, 0x1000, WAIT_OBJECT_FUTEX, 0x1000, NULL },
		{ "", TXTRACE_BLOCK_NETWORK, 45, 7, WAIT_OBJECT_FD, 7, NULL },
		{ "", TXTRACE_BLOCK_OTHER, 318, 0, WAIT_OBJECT_CALL, 318, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wait_object object = object_of(cases[i].kernel, cases[i].reason, cases[i].syscall_nr,
						      cases[i].object);

		if (object.kind != cases[i].kind || object.value != cases[i].value)
			fail_msg("case %zu: kind %d, value %ju", i, object.kind, (uintmax_t)object.value);
		if (cases[i].call)
			assert_string_equal(object.call, cases[i].call);
		else
			assert_null(object.call);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_is_charged_when_the_labels_come),
		cmocka_unit_test(threads_in_no_span_are_named_if_wanted),
		cmocka_unit_test(an_id_that_is_used_again_is_another_span),
		cmocka_unit_test(spans_of_one_label_become_one_sum),
		cmocka_unit_test(a_long_span_holds_no_more_than_the_labels_that_woke_it),
		cmocka_unit_test(what_is_not_told_is_not_guessed),
		cmocka_unit_test(the_budget_holds_and_nothing_goes_missing),
		cmocka_unit_test(the_object_is_what_the_system_call_waits_for),
	};

	return cmocka_run_group_tests_name("analyze_wait_sums", tests, NULL, NULL);
}
