/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/live/live_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/span_key.h"
#include "base/array.h"
#include "base/id_map.h"
#include "base/key_map.h"
#include "base/saturating.h"
#include "base/string_pool.h"
#include "log/format/record_table.h"

#define SECOND_NS 1000000000u
#define GROUP_MAX 200	/* of a kind */
#define OPEN_MAX 65536	/* spans that are known to be open */
#define RECENT_CNT 8192 /* ended spans, threads, and spans that were waited in */
#define NAME_MAX_CNT 65536
#define NAME_BYTES_MAX (16u << 20)
#define WAITS_OF_SPAN 4

const unsigned int live_windows[LIVE_WINDOW_COUNT] = { 1, 10, 60 };

/* A cache: who comes later takes the place of who was there. */
struct ended_span {
	uint64_t scope, id;
	uint32_t label;
};

/* What a thread did last, and who woke it. */
struct known_thread {
	uint32_t pid, tid;
	uint8_t left_as, reason;
	bool is_woken;
	uint64_t left_ns;
	/* of the last wakeup: the span that the thread was in, and the waker's; 0: in none */
	uint64_t span_scope, span;
	uint64_t waker_scope, waker_span;
	uint32_t waker_name;
};

/* Waits in a span that is open yet: its label is known when it ends. */
struct span_waits {
	uint64_t scope, id;
	struct span_wait {
		uint64_t waker_scope, waker_span;
		uint32_t waker_name;
		uint64_t ns;
	} waits[WAITS_OF_SPAN];
};

struct open_span {
	uint64_t id, begin_ns;
	uint32_t pid, tid, flags;
	uint32_t label;
	uint32_t in_rest; /* a bit for each kind in which there was no room for its group */
};

struct live_view {
	uint64_t begin_ns;
	struct key_map groups[LIVE_KIND_COUNT]; /* key, see key_of() -> struct live_group */
	uint64_t pruned[LIVE_KIND_COUNT];	/* the last second in which those that are idle went */
	struct live_group rest[LIVE_KIND_COUNT];
	struct live_totals totals;
	struct thread_names *threads;
	struct string_pool *names; /* of labels, and of threads that woke others */
	struct text name;
	struct id_map open; /* scope, id -> struct open_span */
	struct ended_span *ended;
	struct known_thread *known;
	struct span_waits *waits;
};

static void release_group(void *value)
{
	live_group_release(value);
}

struct live_view *live_view_new(uint64_t begin_ns)
{
	struct live_view *view = calloc(1, sizeof(*view));

	if (!view)
		return NULL;
	view->begin_ns = begin_ns;
	id_map_init(&view->open);
	for (size_t kind = 0; kind < LIVE_KIND_COUNT; kind++)
		key_map_init(&view->groups[kind], sizeof(struct live_group), release_group);
	view->threads = thread_names_new();
	view->names = string_pool_new();
	view->ended = calloc(RECENT_CNT, sizeof(*view->ended));
	view->known = calloc(RECENT_CNT, sizeof(*view->known));
	view->waits = calloc(RECENT_CNT, sizeof(*view->waits));
	if (view->threads && view->names && view->ended && view->known && view->waits)
		return view;
	live_view_free(view);
	return NULL;
}

void live_view_free(struct live_view *view)
{
	struct open_span *open;

	if (!view)
		return;
	for (size_t i = 0; (open = id_map_next(&view->open, &i));)
		free(open);
	id_map_release(&view->open);
	for (size_t kind = 0; kind < LIVE_KIND_COUNT; kind++) {
		key_map_release(&view->groups[kind]);
		live_group_release(&view->rest[kind]);
	}
	thread_names_free(view->threads);
	string_pool_free(view->names);
	text_release(&view->name);
	free(view->ended);
	free(view->known);
	free(view->waits);
	free(view);
}

/* ---- names ---- */

/* STRING_POOL_NONE: it has none, or there is no room for it. */
static int number_of(struct live_view *view, struct txtrace_string name, uint32_t *number)
{
	*number = name.length ? string_pool_find(view->names, name.bytes, name.length) : STRING_POOL_NONE;
	if (!name.length || *number != STRING_POOL_NONE || string_pool_count(view->names) >= NAME_MAX_CNT ||
	    string_pool_bytes(view->names) > NAME_BYTES_MAX)
		return 0;
	return string_pool_add(view->names, name.bytes, name.length, number);
}

struct txtrace_string live_view_name(const struct live_view *view, uint32_t name)
{
	struct txtrace_string string = { 0 };

	if (name != STRING_POOL_NONE)
		string.bytes = string_pool_get(view->names, name, &string.length);
	return string;
}

/* ---- spans by process; those with keys are of no process ---- */

static uint64_t scope_of(uint32_t pid, bool is_keyed)
{
	return is_keyed ? UINT64_C(1) << 32 : pid;
}

static size_t place_of(uint64_t scope, uint64_t id)
{
	/* ids are given out in a row: neighbours are neighbours in memory */
	return (size_t)(id + scope * 1031) % RECENT_CNT;
}

static struct known_thread *thread_of(struct live_view *view, uint32_t pid, uint32_t tid)
{
	struct known_thread *thread = &view->known[place_of(pid, tid)];

	if (thread->pid != pid || thread->tid != tid)
		*thread = (struct known_thread){ .pid = pid, .tid = tid };
	return thread;
}

/* ---- groups ---- */

/* Nothing of it would be shown any more. */
static bool is_idle(void *context, const void *value)
{
	const struct live_group *group = value;

	return !group->open_cnt && group->last_second + LIVE_SECONDS < *(const uint64_t *)context;
}

static void prune(struct live_view *view, enum live_kind kind)
{
	uint64_t now = view->totals.end;

	if (view->pruned[kind] == now)
		return;
	view->pruned[kind] = now;
	key_map_prune(&view->groups[kind], is_idle, &now);
}

static int make_group(struct live_view *view, enum live_kind kind, struct txtrace_string key,
		      struct live_group **group)
{
	struct key_map *groups = &view->groups[kind];
	bool is_new;

	if (groups->count >= GROUP_MAX)
		prune(view, kind);
	*group = &view->rest[kind];
	if (groups->count >= GROUP_MAX)
		return 0;
	*group = key_map_add(groups, key.bytes, key.length, &is_new);
	if (!*group)
		return -ENOMEM;
	if (is_new && key.length) {
		(*group)->key = malloc(key.length);
		if (!(*group)->key) {
			key_map_remove(groups, key.bytes, key.length);
			return -ENOMEM;
		}
		memcpy((*group)->key, key.bytes, key.length);
		(*group)->key_length = key.length;
	}
	return 0;
}

_Static_assert(offsetof(struct txtrace_span, tid) == offsetof(struct txtrace_span, pid) + sizeof(uint32_t),
	       "the key of a thread");

/* What all spans of a group have in common. */
static struct txtrace_string key_of(enum live_kind kind, const struct txtrace_span *span)
{
	switch (kind) {
	case LIVE_THREADS:
		return (struct txtrace_string){ (const char *)span + offsetof(struct txtrace_span, pid),
						2 * sizeof(uint32_t) };
	case LIVE_PROCESSES:
		return (struct txtrace_string){ (const char *)&span->pid, sizeof(span->pid) };
	case LIVE_TAGS:
		return span->tag;
	default:
		return span->label;
	}
}

static int group_of(struct live_view *view, enum live_kind kind, const struct txtrace_span *span,
		    struct live_group **group)
{
	struct txtrace_string key = key_of(kind, span);

	*group = key_map_find(&view->groups[kind], key.bytes, key.length);
	return *group ? 0 : make_group(view, kind, key, group);
}

/* Of threads and processes, from their numbers. */
static struct txtrace_string name_of(struct live_view *view, enum live_kind kind,
				     const struct live_group *group)
{
	static const struct span_key thread = { .kind = SPAN_KEY_THREAD },
				     process = { .kind = SPAN_KEY_PROCESS };
	const struct span_names names = { .threads = view->threads };
	struct txtrace_string name = { group->key, group->key_length };
	struct txtrace_span span = { 0 };

	if (!group->key || (kind != LIVE_THREADS && kind != LIVE_PROCESSES))
		return name;
	memcpy((char *)&span + offsetof(struct txtrace_span, pid), group->key, group->key_length);
	span_key_name(kind == LIVE_THREADS ? &thread : &process, &span, &names, &view->name, &name);
	return name;
}

/* ---- who ended waits ---- */

static uint32_t label_of(const struct live_view *view, uint64_t scope, uint64_t id)
{
	const struct ended_span *ended = &view->ended[place_of(scope, id)];
	const struct open_span *open;

	if (!id)
		return STRING_POOL_NONE;
	if (ended->id == id && ended->scope == scope)
		return ended->label;
	open = id_map_get(&view->open, scope, id);
	return open ? open->label : STRING_POOL_NONE;
}

static int see_wake(struct live_view *view, const struct txtrace_wake *wake)
{
	struct known_thread *thread = thread_of(view, wake->pid, wake->tid);
	bool is_by_thread = !(wake->flags & (TXTRACE_WAKE_INTERRUPT | TXTRACE_WAKE_WAKER_UNKNOWN));

	thread->is_woken = wake->time_ns >= thread->left_ns;
	thread->span_scope = scope_of(wake->pid, wake->flags & TXTRACE_WAKE_SPAN_KEYED);
	thread->span = wake->span;
	thread->waker_scope = scope_of(wake->waker_pid, wake->flags & TXTRACE_WAKE_WAKER_SPAN_KEYED);
	thread->waker_span = is_by_thread ? wake->waker_span : 0;
	thread->waker_name = STRING_POOL_NONE;
	return is_by_thread ? number_of(view, wake->waker_comm, &thread->waker_name) : 0;
}

static bool is_by(const struct span_wait *wait, const struct known_thread *thread)
{
	return wait->ns && wait->waker_span == thread->waker_span &&
	       wait->waker_scope == thread->waker_scope && wait->waker_name == thread->waker_name;
}

/*
 * The wait before this run was ended by the last wakeup. Where there is no room,
 * the waker with the least time goes, and its time with it.
 */
static void note_wait(struct live_view *view, const struct known_thread *thread, uint64_t ns)
{
	struct span_waits *waits = &view->waits[place_of(thread->span_scope, thread->span)];
	struct span_wait *wait = waits->waits;

	if (waits->id != thread->span || waits->scope != thread->span_scope)
		*waits = (struct span_waits){ .scope = thread->span_scope, .id = thread->span };
	for (size_t i = 0; i < WAITS_OF_SPAN; i++) {
		if (is_by(&waits->waits[i], thread)) {
			increase(&waits->waits[i].ns, ns);
			return;
		}
		if (waits->waits[i].ns < wait->ns)
			wait = &waits->waits[i];
	}
	*wait = (struct span_wait){ thread->waker_scope, thread->waker_span, thread->waker_name, ns };
}

static void see_run(struct live_view *view, const struct txtrace_run *run)
{
	struct known_thread *thread = thread_of(view, run->pid, run->tid);

	if (run->blocked_ns && thread->span && (thread->waker_span || thread->waker_name != STRING_POOL_NONE))
		note_wait(view, thread, run->blocked_ns);
	thread->span = 0;
	thread->left_as = run->left_as;
	thread->reason = run->reason;
	thread->left_ns = run->end_ns;
	thread->is_woken = false;
}

/* The waits of a span that has ended go to the groups that it is in. */
static void blame(struct live_view *view, struct live_group *const groups[LIVE_KIND_COUNT], uint64_t second,
		  uint64_t scope, uint64_t id)
{
	struct span_waits *waits = &view->waits[place_of(scope, id)];

	if (waits->id != id || waits->scope != scope)
		return;
	for (size_t i = 0; i < WAITS_OF_SPAN && waits->waits[i].ns; i++) {
		const struct span_wait *wait = &waits->waits[i];
		uint32_t name = label_of(view, wait->waker_scope, wait->waker_span);

		if (name == STRING_POOL_NONE)
			name = wait->waker_name;
		for (size_t kind = 0; kind < LIVE_KIND_COUNT && name != STRING_POOL_NONE; kind++)
			live_group_blame(groups[kind], second, name, wait->ns);
	}
	waits->id = 0;
}

/* ---- spans ---- */

static uint64_t second_of(const struct live_view *view, uint64_t time_ns)
{
	return time_ns > view->begin_ns ? (time_ns - view->begin_ns) / SECOND_NS : 0;
}

/*
 * It has begun, or ended. Its tag is known only when it has ended. A group with
 * open spans stays; one for which there was no room may have some when they end.
 */
static int count_open(struct live_view *view, struct open_span *open, bool has_begun)
{
	struct txtrace_span span = { .pid = open->pid, .tid = open->tid };
	int err = 0;

	span.label = live_view_name(view, open->label);
	for (size_t kind = 0; !err && kind < LIVE_TAGS; kind++) {
		struct live_group *group = &view->rest[kind];

		if (!(open->in_rest & 1u << kind))
			err = group_of(view, kind, &span, &group);
		if (!err && group == &view->rest[kind])
			open->in_rest |= 1u << kind;
		if (!err)
			group->open_cnt = has_begun ? group->open_cnt + 1 : group->open_cnt - 1;
	}
	return err;
}

static int see_open(struct live_view *view, const struct txtrace_open_span *record)
{
	uint64_t scope = scope_of(record->pid, record->flags & TXTRACE_SPAN_KEYED);
	struct open_span *open;
	int err;

	if (!record->id || id_map_get(&view->open, scope, record->id) || view->open.cnt >= OPEN_MAX)
		return 0;
	open = calloc(1, sizeof(*open));
	if (!open)
		return -ENOMEM;
	*open = (struct open_span){ .id = record->id,
				    .begin_ns = record->begin_ns,
				    .pid = record->pid,
				    .tid = record->tid,
				    .flags = record->flags };
	err = number_of(view, record->label, &open->label);
	if (!err)
		err = id_map_put(&view->open, scope, record->id, open);
	if (err) {
		free(open);
		return err;
	}
	return count_open(view, open, true);
}

static int see_span(struct live_view *view, const struct txtrace_span *span)
{
	uint64_t scope = scope_of(span->pid, span->flags & TXTRACE_SPAN_KEYED);
	uint64_t second = second_of(view, span->end_ns);
	struct ended_span *ended = &view->ended[place_of(scope, span->id)];
	struct open_span *open = id_map_remove(&view->open, scope, span->id);
	struct live_group *groups[LIVE_KIND_COUNT];
	int err = open ? count_open(view, open, false) : 0;

	free(open);
	view->totals.span_cnt++;
	ended->scope = scope;
	ended->id = span->id;
	if (!err)
		err = number_of(view, span->label, &ended->label);
	for (size_t kind = 0; !err && kind < LIVE_KIND_COUNT; kind++) {
		err = group_of(view, kind, span, &groups[kind]);
		if (!err)
			err = live_group_add(groups[kind], second, span);
	}
	if (!err)
		blame(view, groups, second, scope, span->id);
	return err;
}

/* ---- records ---- */

static int see_record(struct live_view *view, const struct txtrace_record *record)
{
	switch (record->kind) {
	case TXTRACE_RECORD_SPAN:
		return see_span(view, &record->span);
	case TXTRACE_RECORD_OPEN_SPAN:
		return see_open(view, &record->open_span);
	case TXTRACE_RECORD_RUN:
		see_run(view, &record->run);
		return 0;
	case TXTRACE_RECORD_WAKE:
		return see_wake(view, &record->wake);
	case TXTRACE_RECORD_THREAD:
		thread_names_add(view->threads, &record->thread);
		return 0;
	case TXTRACE_RECORD_LOSS:
		increase(&view->totals.lost_cnt, record->loss.span_event_cnt);
		increase(&view->totals.lost_cnt, record->loss.sched_event_cnt);
		return 0;
	case TXTRACE_RECORD_DROPPED:
		for (size_t kind = 0; kind < TXTRACE_RECORD_KIND_COUNT; kind++)
			increase(&view->totals.lost_cnt, record->dropped.record_cnt[kind]);
		return 0;
	case TXTRACE_RECORD_DAMAGE:
		view->totals.damage_cnt++;
		return 0;
	default:
		return 0;
	}
}

void live_view_pass(struct live_view *view, uint64_t time_ns)
{
	if (second_of(view, time_ns) > view->totals.end)
		view->totals.end = second_of(view, time_ns);
}

int live_view_add(struct live_view *view, const struct txtrace_record *record)
{
	uint64_t time_ns = record->kind == TXTRACE_RECORD_DAMAGE ? 0 : record_finished_ns(record);

	if (time_ns > view->totals.last_ns) {
		view->totals.last_ns = time_ns;
		live_view_pass(view, time_ns);
	}
	view->totals.has_ended |= record->kind == TXTRACE_RECORD_SUMMARY;
	return see_record(view, record);
}

void live_view_end(struct live_view *view)
{
	view->totals.has_ended = true;
}

void live_view_totals(const struct live_view *view, struct live_totals *totals)
{
	*totals = view->totals;
	totals->begin_ns = view->begin_ns;
	totals->open_cnt = view->open.cnt;
	/* the last second will not get any longer; and of the first one there is nothing before */
	totals->end += totals->has_ended || totals->end == 0;
}

/* ---- rows ---- */

struct row_making {
	struct live_view *view;
	struct live_rows *rows;
	enum live_kind kind;
	unsigned int window;
	size_t room;
	uint64_t end;
	int err;
};

static int name_row(struct row_making *making, const struct live_group *group, struct live_row *row)
{
	struct txtrace_string name = name_of(making->view, making->kind, group);

	if (!name.length)
		return making->view->name.err;
	row->name = malloc(name.length);
	if (!row->name)
		return -ENOMEM;
	memcpy(row->name, name.bytes, name.length);
	row->name_length = name.length;
	return 0;
}

static void add_row(struct row_making *making, const struct live_group *group, bool is_rest)
{
	struct live_row *rows, *row;
	uint64_t end = making->end;

	if (making->err || (!group->open_cnt && !live_group_has_any(group, end)))
		return;
	rows = array_grow(making->rows->rows, &making->room, making->rows->cnt, sizeof(*rows));
	if (!rows) {
		making->err = -ENOMEM;
		return;
	}
	making->rows->rows = rows;
	row = &rows[making->rows->cnt++];
	*row = (struct live_row){ .is_rest = is_rest, .open_cnt = group->open_cnt };
	making->err = name_row(making, group, row);
	for (size_t i = 0; !making->err && i < LIVE_WINDOW_COUNT; i++)
		if (making->window == i || making->window == LIVE_WINDOW_COUNT)
			making->err = live_group_sum(group, end > live_windows[i] ? end - live_windows[i] : 0,
						     end, &row->windows[i]);
}

/* Of all groups: none goes. */
static bool visit_group(void *context, const void *value)
{
	add_row(context, value, false);
	return false;
}

int live_view_rows(struct live_view *view, enum live_kind kind, unsigned int window, struct live_rows *rows)
{
	struct live_totals totals;
	struct row_making making = { .view = view, .rows = rows, .kind = kind, .window = window };

	*rows = (struct live_rows){ 0 };
	live_view_totals(view, &totals);
	making.end = totals.end;
	key_map_prune(&view->groups[kind], visit_group, &making);
	add_row(&making, &view->rest[kind], true);
	return making.err;
}

void live_rows_release(struct live_rows *rows)
{
	for (size_t i = 0; i < rows->cnt; i++) {
		for (size_t j = 0; j < LIVE_WINDOW_COUNT; j++)
			live_figures_release(&rows->rows[i].windows[j]);
		free(rows->rows[i].name);
	}
	free(rows->rows);
	*rows = (struct live_rows){ 0 };
}

/* ---- open spans ---- */

static void fill_open(const struct live_view *view, const struct open_span *open, struct live_open *filled)
{
	const struct known_thread *thread = &view->known[place_of(open->pid, open->tid)];

	*filled = (struct live_open){ .label = live_view_name(view, open->label),
				      .thread = thread_names_get(view->threads, open->pid, open->tid),
				      .id = open->id,
				      .begin_ns = open->begin_ns,
				      .pid = open->pid,
				      .tid = open->tid,
				      .flags = open->flags };
	if (thread->pid != open->pid || thread->tid != open->tid || thread->left_ns < open->begin_ns)
		return;
	filled->since_ns = thread->left_ns;
	filled->state = thread->left_as == TXTRACE_LEFT_BLOCKED && !thread->is_woken ? LIVE_STATE_BLOCKED
										     : LIVE_STATE_AWAKE;
	filled->reason = thread->reason;
}

size_t live_view_oldest(const struct live_view *view, struct live_open *oldest, size_t max_cnt)
{
	const struct open_span *open;
	size_t cnt = 0;

	for (size_t i = 0; (open = id_map_next(&view->open, &i));) {
		size_t at = cnt;

		if (cnt == max_cnt && (!cnt || open->begin_ns >= oldest[cnt - 1].begin_ns))
			continue;
		while (at > 0 && oldest[at - 1].begin_ns > open->begin_ns)
			at--;
		cnt += cnt < max_cnt;
		memmove(&oldest[at + 1], &oldest[at], (cnt - at - 1) * sizeof(*oldest));
		fill_open(view, open, &oldest[at]);
	}
	return cnt;
}
