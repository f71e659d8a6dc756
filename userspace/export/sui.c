/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sui's transaction trace, with four event types or with two. An imported trace
 * comes back in its batches (log/format/sui_marks.h). Of any other log, each
 * keyed span whose key has 32 bytes becomes a transaction: enqueued when it was
 * made, begun when a thread first entered it, complete at its end. These are
 * put into the order of time, within a window, and into batches as Sui's writer
 * makes them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_map.h"
#include "base/order_heap.h"
#include "export/formats.h"
#include "export/sui_files.h"
#include "export/sui_pack.h"

#define TYPE_CNT_MAX 4u
#define ORDER_MAX (256u << 10)	 /* events that are held back to be put into order: 15 MB */
#define STATE_MAX 500000u	 /* spans of which something is known before their end: 45 MB */
#define PACK_RECORDS_MAX 10000u	 /* of a batch of Sui's writer, */
#define PACK_NS_MAX 15000000000u /* and the time between the first events of two */
#define HELD_MAX 128u		 /* batches of an import that are not complete, or wait for one that is not */
#define HELD_EVENTS_MAX (1u << 20)

enum lost {
	LOST_TIME,
	LOST_LATE,
	LOST_KEY,
	LOST_SPAN,
	LOST_STAGE,
	LOST_UNENTERED,
	LOST_OPEN,
	LOST_ROOM,
	LOST_NAME,
	LOST_COUNTER,
	LOST_MARK,
	LOST_LOSS,
	LOST_CNT,
};

static const char *const lost_names[LOST_CNT] = {
	[LOST_TIME] = "times cut to whole \xc2\xb5s",
	[LOST_LATE] = "events too late in the log to be put into order, which begin a batch",
	[LOST_KEY] = "keyed spans whose key has not the 32 bytes of a digest, left out",
	[LOST_SPAN] = "spans without a key, left out",
	[LOST_STAGE] = "events before the begin of an execution, which files with two event types can't tell",
	[LOST_UNENTERED] = "transactions that no thread entered, which have no begin",
	[LOST_OPEN] = "transactions without an end",
	[LOST_ROOM] = "stays and events of more spans than can be followed, left out",
	[LOST_NAME] = "labels, tags, attributes and parents of transactions, and names of threads, left out",
	[LOST_COUNTER] = "values of counters, left out",
	[LOST_MARK] = "instants, links, runs, wakeups, stacks and other records without a place, left out",
	[LOST_LOSS] = "records of losses and damage, left out: readers of the file can't know of them",
};

/* A span that has not ended, as far as it is known. */
struct state {
	uint64_t enter_ns;     /* UINT64_MAX: no stay was told */
	uint64_t scheduled_ns; /* likewise */
	bool is_imported;      /* its events are told */
	uint8_t digest[SUI_DIGEST_BYTES];
};

struct ordered_event {
	struct sui_pack_event event;
	uint64_t number;
};

struct sui {
	struct sui_files files;
	uint32_t type_cnt;
	bool is_import;
	uint64_t clock_ns;    /* what the wall clock is ahead of the log's */
	uint64_t start_ns;    /* of the log, since the epoch */
	struct id_map states; /* (pid, id) -> struct state */

	struct sui_pack *lanes[SUI_LANE_CNT]; /* in `held` */
	struct sui_pack *held[HELD_MAX];      /* by their number */
	size_t held_cnt, held_event_cnt;
	uint64_t next_number;

	struct order_heap order; /* of struct ordered_event: those of no batch */
	uint64_t ordered_cnt;
	uint64_t taken_ns;
	struct sui_pack *pack; /* of these */
	uint64_t lost_cnt[LOST_CNT];
};

static bool is_text(const struct txtrace_string *string, const char *text)
{
	size_t length = strlen(text);

	return string->length == length && memcmp(string->bytes, text, length) == 0;
}

static int count(void *state, enum lost lost)
{
	((struct sui *)state)->lost_cnt[lost]++;
	return 0;
}

/* ---- batches of an import ---- */

static int write_batch(struct sui *sui, struct sui_pack *pack)
{
	FILE *out;
	int err = sui_files_choose(&sui->files, pack->number, &out);

	return err ? err : sui_pack_write(pack, out, &sui->lost_cnt[LOST_TIME]);
}

/* The one with the lowest number: nothing more comes for it. */
static int write_first(struct sui *sui)
{
	struct sui_pack *pack = sui->held[0];
	int err = write_batch(sui, pack);

	for (unsigned int i = 0; i < SUI_LANE_CNT; i++) {
		if (sui->lanes[i] == pack)
			sui->lanes[i] = NULL;
	}
	if (pack->number >= sui->next_number)
		sui->next_number = pack->number + 1;
	sui->held_event_cnt -= pack->cnt;
	memmove(sui->held, sui->held + 1, --sui->held_cnt * sizeof(*sui->held));
	sui_pack_free(pack);
	return err;
}

/* In the order of their numbers, as far as those before are complete. */
static int write_complete(struct sui *sui)
{
	int err = 0;

	while (!err && sui->held_cnt > 0) {
		const struct sui_pack *first = sui->held[0];
		bool is_next = first->number <= sui->next_number && first->seen_cnt >= first->event_cnt;

		if (!is_next && sui->held_cnt < HELD_MAX && sui->held_event_cnt < HELD_EVENTS_MAX)
			break;
		err = write_first(sui);
	}
	return err;
}

static void hold(struct sui *sui, struct sui_pack *pack)
{
	size_t at = sui->held_cnt++;

	for (; at > 0 && sui->held[at - 1]->number > pack->number; at--)
		sui->held[at] = sui->held[at - 1];
	sui->held[at] = pack;
}

/* "batch NUMBER EVENTS", perhaps with words. false: it is called otherwise. */
static bool read_batch(struct sui_pack *pack, const struct txtrace_string *name)
{
	const char *at = SUI_BATCH " ";
	size_t length = strlen(at);
	char *text, *end, *events;

	if (name->length <= length || memcmp(name->bytes, at, length) != 0)
		return false;
	text = strndup(name->bytes + length, name->length - length);
	if (!text)
		return false;
	pack->number = strtoull(text, &events, 10);
	pack->event_cnt = strtoull(events, &end, 10);
	if (*end == ' ')
		pack->words = strdup(end);
	free(text);
	return true;
}

static int begin_batch(struct sui *sui, const struct txtrace_instant *instant, struct sui_pack **lane)
{
	int marked = sui_files_mark(&sui->files, &instant->name);
	struct sui_pack *pack;

	if (marked != 0)
		return marked < 0 ? marked : 0;
	pack = sui_pack_new(instant->time_ns + sui->clock_ns);
	if (!pack)
		return -ENOMEM;
	if (!read_batch(pack, &instant->name)) {
		sui_pack_free(pack);
		return count(sui, LOST_MARK);
	}
	if (*lane) /* it lacks events, and none comes any more */
		(*lane)->event_cnt = (*lane)->seen_cnt;
	*lane = pack;
	hold(sui, pack);
	return write_complete(sui);
}

/* ---- events of no batch ---- */

static int write_pack(struct sui *sui)
{
	int err = sui->pack ? write_batch(sui, sui->pack) : 0;

	sui_pack_free(sui->pack);
	sui->pack = NULL;
	return err;
}

static bool is_before(const void *first, const void *second)
{
	const struct ordered_event *a = first, *b = second;

	return a->event.time_ns != b->event.time_ns ? a->event.time_ns < b->event.time_ns
						    : a->number < b->number;
}

static const struct order_heap_kind order_kind = { sizeof(struct ordered_event), is_before };

static int take(struct sui *sui)
{
	struct ordered_event ordered;
	const struct sui_pack_event *event = &ordered.event;
	int err = 0;

	if (!order_heap_take(&sui->order, &order_kind, &ordered))
		return 0;
	if (sui->pack && (1 + 2 * sui->pack->cnt + 2 > PACK_RECORDS_MAX || event->time_ns < sui->taken_ns ||
			  event->time_ns - sui->pack->begin_ns >= PACK_NS_MAX))
		err = write_pack(sui);
	sui->taken_ns = event->time_ns;
	if (!sui->pack)
		sui->pack = sui_pack_new(event->time_ns);
	if (err || !sui->pack)
		return err ? err : -ENOMEM;
	return sui_pack_add(sui->pack, event);
}

/* Into the batch, or, if that is NULL, into order. */
static int add_event(struct sui *sui, struct sui_pack *pack, enum sui_stage stage, uint64_t time_ns,
		     const void *digest)
{
	struct ordered_event ordered = { .event = { .time_ns = time_ns + sui->clock_ns } };
	int err = 0;

	if (pack)
		pack->seen_cnt++;
	if (stage < TYPE_CNT_MAX - sui->type_cnt)
		return count(sui, LOST_STAGE);
	ordered.event.type = (uint8_t)(stage - (TYPE_CNT_MAX - sui->type_cnt));
	memcpy(ordered.event.digest, digest, SUI_DIGEST_BYTES);
	if (pack) {
		sui->held_event_cnt++;
		return sui_pack_add(pack, &ordered.event);
	}
	if (sui->order.cnt >= ORDER_MAX)
		err = take(sui);
	ordered.number = sui->ordered_cnt++;
	sui->lost_cnt[LOST_LATE] += ordered.event.time_ns < sui->taken_ns;
	return err ? err : order_heap_add(&sui->order, &order_kind, &ordered);
}

/* ---- spans ---- */

/* *found is NULL when there are too many, which was counted. */
static int find_state(struct sui *sui, uint32_t pid, uint64_t span, struct state **found)
{
	struct state *state = id_map_get(&sui->states, pid, span);

	*found = state;
	if (state)
		return 0;
	if (sui->states.cnt >= STATE_MAX)
		return count(sui, LOST_ROOM);
	state = calloc(1, sizeof(*state));
	if (!state || id_map_put(&sui->states, pid, span, state)) {
		free(state);
		return -ENOMEM;
	}
	*state = (struct state){ .enter_ns = UINT64_MAX, .scheduled_ns = UINT64_MAX };
	*found = state;
	return 0;
}

/* An import tells the key of a transaction at its first event; a recorder's checkpoints come later. */
static int sui_open_span(void *context, const struct txtrace_open_span *span)
{
	struct sui *sui = context;
	struct state *state;
	int err;

	if (!sui->is_import || span->pid != SUI_PID || !is_text(&span->label, SUI_TRANSACTION) ||
	    span->key.length != SUI_DIGEST_BYTES)
		return 0;
	err = find_state(sui, span->pid, span->id, &state);
	if (err || !state)
		return err;
	state->is_imported = true;
	memcpy(state->digest, span->key.bytes, SUI_DIGEST_BYTES);
	return 0;
}

static int sui_stay(void *context, const struct txtrace_stay *stay)
{
	struct state *state;
	int err;

	if (!stay->is_keyed)
		return 0;
	err = find_state(context, stay->span_pid, stay->span, &state);
	if (!err && state && stay->enter_ns < state->enter_ns)
		state->enter_ns = stay->enter_ns;
	return err;
}

/* When it was first entered; false: it never was. Without stays one thread was in it, behind detached_ns. */
static bool find_enter(const struct txtrace_span *span, const struct state *state, uint64_t *enter_ns)
{
	uint64_t wall_ns = span->end_ns > span->begin_ns ? span->end_ns - span->begin_ns : 0;

	*enter_ns = state->enter_ns;
	if (*enter_ns != UINT64_MAX)
		return true;
	if (span->ledger.detached_ns >= wall_ns && wall_ns > 0)
		return false;
	*enter_ns = span->begin_ns + (span->ledger.detached_ns < wall_ns ? span->ledger.detached_ns : 0);
	return true;
}

static int tell_transaction(struct sui *sui, const struct txtrace_span *span, const struct state *state)
{
	const void *digest = span->key.bytes;
	uint64_t enter_ns;
	bool is_entered = find_enter(span, state, &enter_ns);
	int err = add_event(sui, NULL, SUI_ENQUEUED, span->begin_ns, digest);

	sui->lost_cnt[LOST_NAME] += (span->tag.length > 0) + (span->parent > 0) + (span->label.length > 0);
	if (!err && state->scheduled_ns != UINT64_MAX)
		err = add_event(sui, NULL, SUI_SCHEDULED, state->scheduled_ns, digest);
	if (!err && is_entered)
		err = add_event(sui, NULL, SUI_BEGIN, enter_ns, digest);
	sui->lost_cnt[LOST_UNENTERED] += !is_entered;
	if (span->flags & TXTRACE_SPAN_UNFINISHED)
		sui->lost_cnt[LOST_OPEN]++;
	else if (!err)
		err = add_event(sui, NULL, SUI_COMPLETE, span->end_ns, digest);
	return err;
}

/* Children of a transaction that the import has made of its events. */
static bool is_of_import(const struct sui *sui, const struct txtrace_span *span)
{
	return sui->is_import && span->pid == SUI_PID && span->flags & TXTRACE_SPAN_PARENT_KEYED &&
	       (is_text(&span->label, SUI_EXECUTION) || is_text(&span->label, SUI_WAIT_FOR_INPUTS) ||
		is_text(&span->label, SUI_WAIT_FOR_EXECUTOR) || is_text(&span->label, SUI_OBJECT));
}

static int sui_span(void *context, const struct txtrace_span *span)
{
	static const struct state unknown = { .enter_ns = UINT64_MAX, .scheduled_ns = UINT64_MAX };
	struct sui *sui = context;
	struct state *state;
	int err = 0;

	if (!(span->flags & TXTRACE_SPAN_KEYED))
		return is_of_import(sui, span) ? 0 : count(sui, LOST_SPAN);
	state = id_map_remove(&sui->states, span->pid, span->id);
	if (span->key.length != SUI_DIGEST_BYTES)
		err = count(sui, LOST_KEY);
	else if (!state || !state->is_imported)
		err = tell_transaction(sui, span, state ? state : &unknown);
	free(state);
	return err;
}

/* ---- instants ---- */

static int add_scheduled(struct sui *sui, const struct txtrace_instant *instant)
{
	struct state *state;
	int err = find_state(sui, instant->pid, instant->span, &state);

	if (!err && state && instant->time_ns < state->scheduled_ns)
		state->scheduled_ns = instant->time_ns;
	return err;
}

static int sui_instant(void *context, const struct txtrace_instant *instant)
{
	struct sui *sui = context;
	const struct state *state = id_map_get(&sui->states, instant->pid, instant->span);
	bool is_in_lane = sui->is_import && instant->pid == SUI_PID && instant->tid >= SUI_LANE_TID &&
			  instant->tid < SUI_LANE_TID + SUI_LANE_CNT;
	struct sui_pack *none = NULL, **lane = is_in_lane ? &sui->lanes[instant->tid - SUI_LANE_TID] : &none;
	unsigned int stage = 0;
	int err;

	if (instant->span == 0)
		return is_in_lane ? begin_batch(sui, instant, lane) : count(sui, LOST_MARK);
	while (stage < SUI_STAGE_CNT && !is_text(&instant->name, sui_stage_name(stage)))
		stage++;
	if (stage < SUI_STAGE_CNT && state && state->is_imported) {
		err = add_event(sui, *lane, stage, instant->time_ns, state->digest);
		return err ? err : write_complete(sui);
	}
	return stage == SUI_SCHEDULED ? add_scheduled(sui, instant) : count(sui, LOST_MARK);
}

static int sui_thread(void *context, const struct txtrace_thread *thread)
{
	struct sui *sui = context;

	if (!sui->is_import || thread->pid != SUI_PID || thread->tid > SUI_OBJECT_TID)
		sui->lost_cnt[LOST_NAME] += thread->comm.length > 0;
	return 0;
}

static int sui_counter(void *context, const struct txtrace_counter *counter)
{
	struct sui *sui = context;

	/* the import's own, which its events tell */
	sui->lost_cnt[LOST_COUNTER] +=
		!sui->is_import || counter->pid != SUI_PID ||
		(counter->tid != SUI_OBJECT_TID && !is_text(&counter->name, SUI_EXECUTING));
	return 0;
}

static int sui_attribute(void *context, const struct txtrace_attribute *attribute)
{
	struct sui *sui = context;

	/* which objects a transaction takes was not in the file */
	sui->lost_cnt[LOST_NAME] += !sui->is_import || attribute->pid != SUI_PID ||
				    attribute->tid != SUI_OBJECT_TID;
	return 0;
}

/* ---- what there is no room for ---- */

#define LEFT_OUT(kind, lost)                                                  \
	static int sui_##kind(void *state, const struct txtrace_##kind *kind) \
	{                                                                     \
		(void)kind;                                                   \
		return count(state, lost);                                    \
	}

LEFT_OUT(run, LOST_MARK)
LEFT_OUT(wake, LOST_MARK)
LEFT_OUT(link, LOST_MARK)
LEFT_OUT(object, LOST_MARK)
LEFT_OUT(stack, LOST_MARK)
LEFT_OUT(other_run, LOST_MARK)
LEFT_OUT(loss, LOST_LOSS)
LEFT_OUT(dropped, LOST_LOSS)
LEFT_OUT(damage, LOST_LOSS)

/* ---- begin and end ---- */

static bool is_import(const struct txtrace_log_info *info)
{
	static const char end[] = " import";
	size_t length = strlen(info->recorder);

	return length >= strlen(end) && strcmp(info->recorder + length - strlen(end), end) == 0;
}

/* out NULL: in the directory. */
static int open_types(void **state, FILE *out, int directory, const struct txtrace_log_info *info,
		      uint32_t type_cnt)
{
	struct sui *sui = calloc(1, sizeof(*sui));

	if (!sui)
		return -ENOMEM;
	sui_files_init(&sui->files, out, directory);
	sui->type_cnt = type_cnt;
	sui->is_import = is_import(info);
	if (info->start_realtime_ns > 0) /* else there is no wall clock */
		sui->clock_ns = info->start_realtime_ns - info->start_monotonic_ns;
	sui->start_ns = info->start_monotonic_ns + sui->clock_ns;
	id_map_init(&sui->states);
	*state = sui;
	return 0;
}

static int open_2(void **state, FILE *out, const struct txtrace_log_info *info)
{
	return open_types(state, out, -1, info, 2);
}

static int open_4(void **state, FILE *out, const struct txtrace_log_info *info)
{
	return open_types(state, out, -1, info, TYPE_CNT_MAX);
}

static int open_2_in(void **state, int directory, const struct txtrace_log_info *info)
{
	return open_types(state, NULL, directory, info, 2);
}

static int open_4_in(void **state, int directory, const struct txtrace_log_info *info)
{
	return open_types(state, NULL, directory, info, TYPE_CNT_MAX);
}

static int sui_finish(void *state, const struct export_totals *totals)
{
	struct sui *sui = state;
	int err = 0;

	(void)totals;
	while (!err && sui->held_cnt > 0)
		err = write_first(sui);
	while (!err && sui->order.cnt > 0)
		err = take(sui);
	if (!err && !sui->is_import && sui->ordered_cnt == 0) { /* as of a writer that saw no event */
		sui->pack = sui_pack_new(sui->start_ns);
		err = sui->pack ? 0 : -ENOMEM;
	}
	if (!err)
		err = write_pack(sui);
	return err ? err : sui_files_finish(&sui->files);
}

static void sui_tell(const void *state, export_say *say, void *context)
{
	export_tell_counts(lost_names, ((const struct sui *)state)->lost_cnt, LOST_CNT, say, context);
}

static void sui_free(void *context)
{
	struct sui *sui = context;
	struct state *state;

	for (size_t i = 0; (state = id_map_next(&sui->states, &i));)
		free(state);
	id_map_release(&sui->states);
	for (size_t i = 0; i < sui->held_cnt; i++)
		sui_pack_free(sui->held[i]);
	sui_pack_free(sui->pack);
	sui_files_release(&sui->files);
	order_heap_release(&sui->order);
	free(sui);
}

#define SUI_FORMAT(format_name, format_suffix, opened, with, words)                                      \
	{                                                                                                \
		.name = format_name, .help = "Sui's transaction trace, with " words,                     \
		.suffix = format_suffix, .is_binary = true, .opened = with, .span = sui_span,            \
		.run = sui_run, .wake = sui_wake, .thread = sui_thread, .attribute = sui_attribute,      \
		.instant = sui_instant, .counter = sui_counter, .link = sui_link,                        \
		.open_span = sui_open_span, .loss = sui_loss, .stay = sui_stay, .object = sui_object,    \
		.stack = sui_stack, .other_run = sui_other_run, .dropped = sui_dropped,                  \
		.damage = sui_damage, .finish = sui_finish, .tell = sui_tell, .free = sui_free,          \
	}

const struct export_format format_sui = SUI_FORMAT("sui", ".suitrace", open, open_4, "four event types");
const struct export_format format_sui2 = SUI_FORMAT("sui2", ".suitrace2", open, open_2, "two event types");
const struct export_format format_sui_files =
	SUI_FORMAT("sui-files", ".suitraces", open_in, open_4_in, "four event types, a directory of files");
const struct export_format format_sui2_files =
	SUI_FORMAT("sui2-files", ".suitraces2", open_in, open_2_in, "two event types, a directory of files");
