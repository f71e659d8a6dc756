/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the wire to the event: every kind, every text, and records that are cut off or lie about their
 * lengths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_decode.h"

#define LABEL_AT 0x5000
#define NAME_AT 0x6000

/* The traced program's memory: a label and a name. */
static int read_label(void *context, uint32_t tgid, uint64_t address, struct event_text *label)
{
	(void)context;
	assert_int_equal(tgid, 10);
	if (address == LABEL_AT)
		*label = (struct event_text){ .bytes = "commit", .length = 6 };
	else if (address == NAME_AT)
		*label = (struct event_text){ .bytes = "bytes", .length = 5, .is_truncated = true };
	else
		return -EFAULT;
	return 0;
}

static const struct label_source labels = { .read = read_label };

/*
 * A record is decoded out of memory of just its size, so that a sanitizer sees every byte that is read beyond
 * it.
 */
static int decode(const void *record, size_t size, struct event *event)
{
	static void *copy;

	free(copy); /* the event of the call before referred to it */
	copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, record, size);
	(void)event_subject(copy, size);
	return event_decode(copy, size, &labels, event);
}

static struct wire_header header(uint8_t kind, uint16_t flags, size_t size)
{
	return (struct wire_header){
		.time_ns = 1000, .tid = 11, .tgid = 10, .kind = kind, .flags = flags, .cpu = 3, .size = size
	};
}

#define HEADER(record, kind, flags) ((record).header = header(kind, flags, sizeof(record)))

static void assert_text(const struct event_text *text, const char *string)
{
	assert_int_equal(text->length, strlen(string));
	assert_memory_equal(text->bytes, string, text->length);
}

static void a_switch(void **state)
{
	struct wire_switch wire = {
		.next_tid = 12, .next_tgid = 10, .object = 0x7f00, .inode = 99,
		.syscall_nr = 202, .left_as = WIRE_LEFT_BLOCKED, .reason = BLOCK_LOCK, .next_is_traced = 1,
	};
	struct event event;

	(void)state;
	HEADER(wire, WIRE_SWITCH, 0);
	assert_int_equal(decode(&wire, sizeof(wire), &event), 0);
	assert_int_equal(event.time_ns, 1000);
	assert_int_equal(event.tid, 11);
	assert_int_equal(event.tgid, 10);
	assert_int_equal(event.cpu, 3);
	assert_int_equal(event.kind, EVENT_SWITCH);
	assert_null(event.clocks);
	assert_int_equal(event.sched.next_tid, 12);
	assert_int_equal(event.sched.next_tgid, 10);
	assert_int_equal(event.sched.object, 0x7f00);
	assert_int_equal(event.sched.inode, 99);
	assert_int_equal(event.sched.syscall_nr, 202);
	assert_int_equal(event.sched.left_as, WIRE_LEFT_BLOCKED);
	assert_true(event.sched.next_is_traced);
}

/*
 * Who was pushed off by the traced thread, and who had the CPU that one waits for: other meanings of the same
 * bytes.
 */
static void untraced_tasks_have_names(void **state)
{
	struct wire_switch wire = {
		.next_tid = 12, .next_tgid = 10, .other_comm = "noisy", .other_ns = 250, .next_is_traced = 1
	};
	struct wire_other other = { .since_ns = 700, .comm = "noisy" };
	struct wire_move move = { .since_ns = 700,
				  .from_cpu = 5,
				  .other_tid = 900,
				  .other_tgid = 901,
				  .other_comm = "exactly-16-bytes" };
	struct event event;

	(void)state;
	HEADER(wire, WIRE_SWITCH, 0);
	assert_int_equal(decode(&wire, sizeof(wire), &event), 0);
	assert_int_equal(event.sched.other_ns, 250);
	assert_text(&event.sched.other_comm, "noisy");
	assert_int_equal(event.sched.object, 0);
	assert_int_equal(event.sched.inode, 0);
	assert_int_equal(event.sched.syscall_nr, -1);
	wire.other_ns = 0; /* then there is no name either */
	assert_int_equal(decode(&wire, sizeof(wire), &event), 0);
	assert_int_equal(event.sched.other_comm.length, 0);
	HEADER(other, WIRE_OTHER, 0);
	assert_int_equal(decode(&other, sizeof(other), &event), 0);
	assert_int_equal(event.other.since_ns, 700);
	assert_text(&event.other.comm, "noisy");
	other.header.tid = 0; /* nobody's name is that of no thread */
	assert_int_equal(decode(&other, sizeof(other), &event), 0);
	assert_int_equal(event.other.comm.length, 0);
	HEADER(move, WIRE_MOVE, 0);
	assert_int_equal(decode(&move, sizeof(move), &event), 0);
	assert_int_equal(event.move.since_ns, 700);
	assert_int_equal(event.move.from_cpu, 5);
	assert_int_equal(event.move.other_tid, 900);
	assert_int_equal(event.move.other_tgid, 901);
	assert_false(event.move.is_unknown);
	assert_text(&event.move.other_comm, "exactly-16-bytes");
}

static void names_of_threads_end_at_their_nul_or_after_16_bytes(void **state)
{
	struct wire_wake wake = { .wakee_tid = 12, .wakee_tgid = 10, .waker_comm = "exactly-16-bytes" };
	struct wire_thread thread = { .born_ns = 900,
				      .comm = "bank\0garbage",
				      .state = WIRE_THREAD_BLOCKED,
				      .reason = BLOCK_OTHER,
				      .parent_tgid = 7 };
	struct event event;

	(void)state;
	HEADER(wake, WIRE_WAKE, WIRE_IN_INTERRUPT);
	assert_int_equal(decode(&wake, sizeof(wake), &event), 0);
	assert_int_equal(event.flags, WIRE_IN_INTERRUPT);
	assert_int_equal(event.wake.wakee_tid, 12);
	assert_int_equal(event.wake.wakee_tgid, 10);
	assert_text(&event.wake.waker_comm, "exactly-16-bytes");
	HEADER(thread, WIRE_THREAD, WIRE_IS_SEED);
	assert_int_equal(decode(&thread, sizeof(thread), &event), 0);
	assert_int_equal(event.thread.born_ns, 900);
	assert_int_equal(event.thread.state, WIRE_THREAD_BLOCKED);
	assert_int_equal(event.thread.reason, BLOCK_OTHER);
	assert_int_equal(event.thread.parent_tgid, 7);
	assert_text(&event.thread.comm, "bank");
}

struct span_with_clocks {
	struct wire_span span;
	struct wire_clocks clocks;
};

static void spans_with_and_without_clocks(void **state)
{
	struct span_with_clocks wire = { .span = { .id = 5, .label = LABEL_AT, .parent = 4 },
					 .clocks = { .born_ns = 1, .on_cpu_ns = 99 } };
	struct event event;

	(void)state;
	wire.span.header = header(WIRE_BEGIN, WIRE_HAS_CLOCKS, sizeof(wire));
	assert_int_equal(decode(&wire, sizeof(wire), &event), 0);
	assert_int_equal(event.span.id, 5);
	assert_int_equal(event.span.parent, 4);
	assert_text(&event.span.label, "commit");
	assert_memory_equal(event.clocks, &wire.clocks, sizeof(wire.clocks));
	/* it promises more than there is */
	assert_int_equal(decode(&wire, sizeof(wire) - 1, &event), -EBADMSG);

	wire.span.header.flags = WIRE_HAS_CLOCKS | WIRE_NO_CLOCKS;
	assert_int_equal(decode(&wire, sizeof(wire), &event), 0);
	assert_null(event.clocks); /* they are there and worth nothing */

	wire.span.header.flags = 0;
	assert_int_equal(decode(&wire, sizeof(wire.span), &event), 0);
	assert_null(event.clocks);
}

static void labels_that_cannot_be_read(void **state)
{
	struct wire_span wire = { .id = 5, .label = 0x1234 };
	struct event event;

	(void)state;
	HEADER(wire, WIRE_BEGIN, 0);
	assert_int_equal(decode(&wire, sizeof(wire), &event), 0);
	assert_true(event.span.label.is_unreadable);
	assert_int_equal(event.span.label.length, 0);
	wire.label = 0; /* there is none */
	assert_int_equal(decode(&wire, sizeof(wire), &event), 0);
	assert_false(event.span.label.is_unreadable);
	assert_int_equal(event.span.label.length, 0);
}

static void marks(void **state)
{
	struct wire_mark wire = { .id = 5, .name = NAME_AT, .value = (uint64_t)-3 };
	struct event event;

	(void)state;
	for (uint8_t kind = WIRE_INSTANT; kind <= WIRE_LINK; kind++) {
		HEADER(wire, kind, 0);
		assert_int_equal(decode(&wire, sizeof(wire), &event), 0);
		assert_int_equal(event.kind, kind);
		assert_int_equal(event.mark.id, 5);
		assert_int_equal((int64_t)event.mark.value, -3);
		assert_text(&event.mark.name, "bytes");
		assert_true(event.mark.name.is_truncated);
	}
}

struct text_wire {
	struct wire_text base;
	char text[WIRE_TEXT_SHORT];
};

static void texts(void **state)
{
	struct text_wire wire = {
		.base = { .id = 5, .name = NAME_AT, .type = ATTR_STRING, .value = 7, .text_length = 3 },
		.text = "abc"
	};
	struct event event;

	(void)state;
	wire.base.header = header(WIRE_ATTR, WIRE_IS_TRUNCATED, sizeof(wire));
	assert_int_equal(decode(&wire, sizeof(wire), &event), 0);
	assert_text(&event.mark.text, "abc");
	assert_true(event.mark.text.is_truncated);
	assert_text(&event.mark.name, "bytes");
	assert_int_equal(event.mark.type, ATTR_STRING);
	assert_int_equal(event.mark.value, 7);

	wire.base.text_length = WIRE_TEXT_SHORT;
	assert_int_equal(decode(&wire, sizeof(wire), &event), 0);
	assert_int_equal(event.mark.text.length, WIRE_TEXT_SHORT);
	wire.base.text_length = WIRE_TEXT_SHORT + 1;
	assert_int_equal(decode(&wire, sizeof(wire), &event), -EBADMSG);
	wire.base.text_length = UINT32_MAX;
	assert_int_equal(decode(&wire, sizeof(wire), &event), -EBADMSG);

	wire.base.text_length = 0;
	wire.base.header.flags = WIRE_IS_UNREADABLE;
	assert_int_equal(decode(&wire, sizeof(wire.base), &event), 0);
	assert_true(event.mark.text.is_unreadable);
	wire.base.text_length = 3; /* what could not be read has no bytes, whatever the record says */
	assert_int_equal(decode(&wire, sizeof(wire), &event), 0);
	assert_true(event.mark.text.is_unreadable);
	assert_int_equal(event.mark.text.length, 0);
}

static int read_literal(void *context, uint32_t tgid, uint64_t address, struct event_text *text)
{
	(void)context;
	assert_int_equal(tgid, 10);
	*text = (struct event_text){ .bytes = "literal", .length = 7, .is_unreadable = address != 0x5000 };
	return address == 0x7000 ? -ENOMEM : 0;
}

/*
 * What the kernel side could not copy: if it is a string that can be read all the same, it is as if it had
 * been copied.
 */
static void a_text_that_was_not_copied(void **state)
{
	static const struct label_source with_literals = { .read = read_label, .read_literal = read_literal };
	static const struct {
		uint8_t kind;
		uint8_t type;
		uint16_t flags;
		uint64_t value;
		bool is_readable;
	} cases[] = {
		{ WIRE_VALUE, ATTR_STRING, WIRE_IS_UNREADABLE, 0x5000, true },
		{ WIRE_ATTR, ATTR_STRING, WIRE_IS_UNREADABLE, 0x5000, true },
		{ WIRE_TAG, 0, WIRE_IS_UNREADABLE, 0x5000, true },
		{ WIRE_VALUE, ATTR_STRING, WIRE_IS_UNREADABLE, 0x6000, false },
		{ WIRE_TAG, 0, WIRE_IS_UNREADABLE, 0x7000, false },
		{ WIRE_TAG, 0, WIRE_IS_UNREADABLE, 0, false },
		{ WIRE_VALUE, ATTR_UINT, WIRE_IS_UNREADABLE, 0x5000, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wire_text wire = { .type = cases[i].type, .value = cases[i].value };
		struct event event;

		HEADER(wire, cases[i].kind, cases[i].flags);
		assert_int_equal(event_decode(&wire, sizeof(wire), &with_literals, &event), 0);
		assert_int_equal(event.mark.text.is_unreadable, !cases[i].is_readable);
		assert_int_equal(event.flags, cases[i].is_readable ? 0 : WIRE_IS_UNREADABLE);
		assert_text(&event.mark.text, cases[i].is_readable ? "literal" : "");
	}
}

static struct event_text copied; /* what the source was told last */
static uint64_t copied_at;

static int note_copy(void *context, uint32_t tgid, uint64_t address, const struct event_text *text)
{
	(void)context;
	assert_int_equal(tgid, 10);
	copied_at = address;
	copied = *text;
	return 0;
}

static void a_copied_label_is_told_to_the_source(void **state)
{
	static const struct label_source source = { .read = read_label, .note_copy = note_copy };
	struct {
		struct wire_text base;
		char text[WIRE_TEXT_SHORT];
	} wire = { .base = { .value = 0x7000, .text_length = 4 }, .text = "heap" };
	struct event event;

	(void)state;
	HEADER(wire.base, WIRE_LABEL, 0);
	assert_int_equal(event_decode(&wire, sizeof(wire), &source, &event), 1);
	assert_int_equal(copied_at, 0x7000);
	assert_text(&copied, "heap");
	assert_false(copied.is_truncated || copied.is_unreadable);
	wire.base.header.flags = WIRE_IS_TRUNCATED;
	assert_int_equal(event_decode(&wire, sizeof(wire), &source, &event), 1);
	assert_true(copied.is_truncated);
	wire.base.header.flags = WIRE_IS_UNREADABLE;
	assert_int_equal(event_decode(&wire, sizeof(wire), &source, &event), 1);
	assert_true(copied.is_unreadable);
	assert_int_equal(copied.length, 0);
	assert_int_equal(event_decode(&wire, sizeof(wire), &labels, &event), 1); /* nobody wants to know */
	wire.base.text_length = WIRE_TEXT_SHORT + 1;
	assert_int_equal(event_decode(&wire, sizeof(wire), &source, &event), -EBADMSG);
}

struct key_with_clocks {
	struct wire_key keyed;
	struct wire_clocks clocks;
};

static void keys(void **state)
{
	struct key_with_clocks wire = { .keyed = { .name = LABEL_AT, .key_length = 3, .key = "k\0k" },
					.clocks = { .born_ns = 1 } };
	struct event event;

	(void)state;
	for (uint8_t kind = WIRE_KEY_BEGIN; kind <= WIRE_KEY_INSTANT; kind++) {
		wire.keyed.header = header(kind, WIRE_HAS_CLOCKS | WIRE_IS_TRUNCATED, sizeof(wire));
		assert_int_equal(decode(&wire, sizeof(wire), &event), 0);
		assert_int_equal(event.keyed.key.length, 3);
		assert_memory_equal(event.keyed.key.bytes, "k\0k", 3);
		assert_true(event.keyed.key.is_truncated);
		assert_text(&event.keyed.name, "commit");
		assert_int_equal(event.clocks->born_ns, 1);
	}
	wire.keyed.key_length = WIRE_KEY_MAX;
	assert_int_equal(decode(&wire, sizeof(wire), &event), 0);
	wire.keyed.key_length = WIRE_KEY_MAX + 1;
	assert_int_equal(decode(&wire, sizeof(wire), &event), -EBADMSG);
}

static void a_loss(void **state)
{
	struct wire_loss wire = { .last_ns = 2000, .span_event_cnt = 1, .sched_event_cnt = 2, .kinds = 6 };
	struct event event;

	(void)state;
	HEADER(wire, EVENT_LOSS, 0);
	assert_int_equal(decode(&wire, sizeof(wire), &event), 0);
	assert_int_equal(event.loss.last_ns, 2000);
	assert_int_equal(event.loss.span_event_cnt, 1);
	assert_int_equal(event.loss.kinds, 6);
	assert_int_equal(event.loss.sched_event_cnt, 2);
}

static void a_process(void **state)
{
	struct wire_process wire = {
		.start_ns = 5,
		.code_start = 0x1000,
		.parent_tgid = 3,
		.inner_pid = 1,
		.thread_cnt = 2,
		.change = WIRE_PROCESS_EXEC,
		.reasons = TARGET_CHILD | TARGET_EXE,
		.path_length = 4,
		.comm = "sixteen bytes ..",
		.path = "/bin and what was there",
	};
	struct event event;

	(void)state;
	HEADER(wire, WIRE_PROCESS, 0);
	assert_int_equal(decode(&wire, sizeof(wire), &event), 0);
	assert_int_equal(event.process.start_ns, 5);
	assert_int_equal(event.process.code_start, 0x1000);
	assert_int_equal(event.process.parent_tgid, 3);
	assert_int_equal(event.process.inner_pid, 1);
	assert_int_equal(event.process.thread_cnt, 2);
	assert_int_equal(event.process.change, WIRE_PROCESS_EXEC);
	assert_int_equal(event.process.reasons, TARGET_CHILD | TARGET_EXE);
	assert_int_equal(event.process.comm.length, 16); /* no NUL, no matter */
	assert_int_equal(event.process.path.length, 4);
	assert_memory_equal(event.process.path.bytes, "/bin", 4);

	wire.path_length = WIRE_PATH_MAX + 1;
	assert_int_equal(decode(&wire, sizeof(wire), &event), -EBADMSG);
	wire.path_length = WIRE_PATH_MAX;
	assert_int_equal(decode(&wire, sizeof(wire), &event), 0);
	wire.change = WIRE_PROCESS_EXITED + 1;
	assert_int_equal(decode(&wire, sizeof(wire), &event), -EBADMSG);
	wire.change = 0;
	assert_int_equal(decode(&wire, sizeof(wire), &event), -EBADMSG);
}

static void numbers_that_mean_nothing_are_refused(void **state)
{
	struct wire_switch left = { .left_as = WIRE_LEFT_DEAD + 1 },
			   why = { .left_as = WIRE_LEFT_BLOCKED, .reason = BLOCK_REASON_COUNT };
	struct wire_thread doing = { .state = WIRE_THREAD_BLOCKED + 1 },
			   sleeping = { .reason = BLOCK_REASON_COUNT };
	struct event event;

	(void)state;
	HEADER(left, WIRE_SWITCH, 0);
	assert_int_equal(decode(&left, sizeof(left), &event), -EBADMSG);
	HEADER(why, WIRE_SWITCH, 0);
	assert_int_equal(decode(&why, sizeof(why), &event), -EBADMSG);
	HEADER(doing, WIRE_THREAD, 0);
	assert_int_equal(decode(&doing, sizeof(doing), &event), -EBADMSG);
	HEADER(sleeping, WIRE_THREAD, 0);
	assert_int_equal(decode(&sleeping, sizeof(sleeping), &event), -EBADMSG);
}

/*
 * The struct of each kind, and a record that is a byte short of it. Kinds that do not exist are refused at
 * any size.
 */
static void records_that_are_cut_off_are_refused(void **state)
{
	static const size_t sizes[EVENT_LOSS + 1] = {
		[WIRE_PROCESS] = sizeof(struct wire_process),
		[WIRE_SWITCH] = sizeof(struct wire_switch),
		[WIRE_WAKE] = sizeof(struct wire_wake),
		[WIRE_THREAD] = sizeof(struct wire_thread),
		[WIRE_THREAD_EXIT] = sizeof(struct wire_thread_end),
		[WIRE_EXEC] = sizeof(struct wire_thread_end),
		[WIRE_BEGIN] = sizeof(struct wire_span),
		[WIRE_BEGIN_DETACHED] = sizeof(struct wire_span),
		[WIRE_ENTER] = sizeof(struct wire_span),
		[WIRE_LEAVE] = sizeof(struct wire_span),
		[WIRE_OTHER] = sizeof(struct wire_other),
		[WIRE_MOVE] = sizeof(struct wire_move),
		[WIRE_END] = sizeof(struct wire_span),
		[WIRE_TAG] = sizeof(struct wire_text),
		[WIRE_ATTR] = sizeof(struct wire_text),
		[WIRE_INSTANT] = sizeof(struct wire_mark),
		[WIRE_COUNTER] = sizeof(struct wire_mark),
		[WIRE_LINK] = sizeof(struct wire_mark),
		[WIRE_KEY_BEGIN] = sizeof(struct wire_key),
		[WIRE_KEY_ENTER] = sizeof(struct wire_key),
		[WIRE_KEY_LEAVE] = sizeof(struct wire_key),
		[WIRE_KEY_END] = sizeof(struct wire_key),
		[WIRE_KEY_INSTANT] = sizeof(struct wire_key),
		[EVENT_LOSS] = sizeof(struct wire_loss),
		[WIRE_VALUE] = sizeof(struct wire_text),
		[WIRE_ABANDON] = sizeof(struct wire_span),
		[WIRE_LABEL] = sizeof(struct wire_text),
	};
	uint64_t bytes[64] = { 0 };
	struct event event;

	(void)state;
	for (unsigned int kind = 0; kind <= UINT8_MAX; kind++) {
		struct wire_header *wire = (void *)bytes;
		size_t wanted = kind <= EVENT_LOSS ? sizes[kind] : 0;

		*wire = (struct wire_header){ .tgid = 10, .kind = kind };
		if (kind == WIRE_PROCESS)
			((struct wire_process *)bytes)->change = WIRE_PROCESS_EXITED;
		for (size_t size = 0; size <= sizeof(bytes); size++)
			assert_int_equal(decode(bytes, size, &event),
					 wanted && size >= wanted ? kind == WIRE_LABEL : -EBADMSG);
	}
}

/* Bytes that nobody ever sent: decoding them reads nothing beyond their end. */
static void any_bytes_are_survived(void **state)
{
	uint64_t random = 1;
	unsigned int decoded_cnt = 0;

	(void)state;
	for (int round = 0; round < 50000; round++) {
		uint64_t bytes[90];
		size_t size;
		struct event event;
		struct wire_header *wire = (void *)bytes;

		for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			bytes[i] = random >> 62 ? random >> 56 : random;
		}
		wire->tgid = 10;
		wire->kind = random >> 33 & 31;
		size = (random >> 40) % sizeof(bytes);
		decoded_cnt += decode(bytes, size, &event) == 0;
	}
	assert_true(decoded_cnt > 1000);
}

static void assert_subject(const void *record, size_t size, uint32_t tid, uint64_t span)
{
	struct event_subject subject = event_subject(record, size);

	assert_int_equal(subject.tgid, 10);
	assert_int_equal(subject.tid, tid);
	assert_int_equal(subject.span, span);
}

static void whom_a_record_is_about(void **state)
{
	struct wire_switch left = { .next_tid = 12, .next_tgid = 10, .left_as = WIRE_LEFT_BLOCKED };
	struct wire_wake wake = { .wakee_tid = 13, .wakee_tgid = 10 };
	struct wire_span span = { .id = 99 };

	(void)state;
	HEADER(left, WIRE_SWITCH, 0);
	assert_subject(&left, sizeof(left), 11, 0);
	left.left_as = WIRE_LEFT_UNTRACED;
	assert_subject(&left, sizeof(left), 12, 0);
	HEADER(wake, WIRE_WAKE, 0);
	assert_subject(&wake, sizeof(wake), 13, 0);
	for (uint8_t kind = WIRE_BEGIN; kind <= WIRE_END; kind++) {
		HEADER(span, kind, 0);
		assert_subject(&span, sizeof(span), 11, 99);
	}
	assert_subject(&span, sizeof(span) - 1, 11, 0);
	assert_int_equal(event_subject(&span, sizeof(span.header) - 1).tid, 0);
}

static void the_kinds_that_tell_about_spans(void **state)
{
	(void)state;
	assert_false(wire_kind_is_span(WIRE_SWITCH));
	assert_false(wire_kind_is_span(WIRE_WAKE));
	assert_false(wire_kind_is_span(WIRE_THREAD));
	assert_true(wire_kind_is_span(WIRE_THREAD_EXIT)); /* it leaves its spans */
	assert_true(wire_kind_is_span(WIRE_EXEC));
	for (uint8_t kind = WIRE_BEGIN; kind <= WIRE_KEY_INSTANT; kind++)
		assert_true(wire_kind_is_span(kind));
	assert_true(wire_kind_is_span(WIRE_VALUE));
	assert_true(wire_kind_is_span(WIRE_ABANDON));
	assert_true(wire_kind_is_span(WIRE_LABEL));
	assert_false(wire_kind_is_span(EVENT_LOSS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_switch),
		cmocka_unit_test(untraced_tasks_have_names),
		cmocka_unit_test(names_of_threads_end_at_their_nul_or_after_16_bytes),
		cmocka_unit_test(spans_with_and_without_clocks),
		cmocka_unit_test(labels_that_cannot_be_read),
		cmocka_unit_test(marks),
		cmocka_unit_test(texts),
		cmocka_unit_test(a_text_that_was_not_copied),
		cmocka_unit_test(a_copied_label_is_told_to_the_source),
		cmocka_unit_test(keys),
		cmocka_unit_test(a_loss),
		cmocka_unit_test(a_process),
		cmocka_unit_test(numbers_that_mean_nothing_are_refused),
		cmocka_unit_test(records_that_are_cut_off_are_refused),
		cmocka_unit_test(any_bytes_are_survived),
		cmocka_unit_test(whom_a_record_is_about),
		cmocka_unit_test(the_kinds_that_tell_about_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
