/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FTR, and its text format, of any log. A span is a transaction, on the stream
 * of its track or else of its thread, by the generator of its label. What is
 * said of a span before it ends is held until then. An imported recording comes
 * back with its ids (log/format/ftr_marks.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/track_names.h"
#include "base/saturating.h"
#include "export/formats.h"
#include "export/ftr_export.h"

#define MARK_BYTES_MAX (128u << 20)
#define TRACK_MAX 100000u		  /* further ones share a stream */
#define VIEWER_PS_MAX 9223372036854775ull /* 2^63 fs: a viewer shows no later times */

static const char *const lost_names[FTR_LOST_CNT] = {
	[FTR_LOST_EARLY] = "times before the start of the log, which become its start",
	[FTR_LOST_LATE] =
		"times more than 2 h 33 min behind the start of the log, which SCViewer does not show",
	[FTR_LOST_TEXT] = "texts with characters that the format does not allow, which are replaced",
	[FTR_LOST_NAME] = "names that threads got after they had begun something, left out",
	[FTR_LOST_ROUNDED] =
		"numbers in double precision, written in single precision with an attribute NAME.exact",
	[FTR_LOST_UNSORTED] = "transactions behind a block with later ones of their stream",
	[FTR_LOST_ARROW] = "relations without the streams of their transactions",
	[FTR_LOST_CLASS] = "attributes renamed, since their name had another type before",
	[FTR_LOST_TIME] = "values of the type TIME that are no whole units, cut",
	[FTR_LOST_HELD] =
		"attributes and instants of spans that are not in the log, or beyond 128 MiB, left out",
	[FTR_LOST_TRACK] = "spans of tracks beyond 100,000, on the stream 'other tracks'",
	[FTR_LOST_WAKE] = "wakers of threads, written as attributes without a relation",
	[FTR_LOST_STAY] = "stays of threads in spans, left out",
	[FTR_LOST_OTHER] =
		"stacks, objects, processes, runs of other tasks and other records without a place, left out",
};

static int count(void *state, enum ftr_lost lost)
{
	((struct ftr *)state)->lost_cnt[lost]++;
	return 0;
}

/* ---- times ---- */

static uint64_t to_ps(struct ftr *ftr, uint64_t time_ns)
{
	uint64_t ps;

	ftr->lost_cnt[FTR_LOST_EARLY] += time_ns < ftr->start_ns;
	time_ns = time_ns > ftr->start_ns ? time_ns - ftr->start_ns : 0;
	if (__builtin_mul_overflow(time_ns, FTR_PS_PER_NS, &ps))
		ps = UINT64_MAX;
	ftr->lost_cnt[FTR_LOST_LATE] += ps > VIEWER_PS_MAX;
	return ps;
}

/* ---- streams and generators ---- */

static int write_info(struct ftr *ftr)
{
	if (ftr->has_info || ftr->is_ftr) /* an import says itself whether it had one */
		return 0;
	ftr->has_info = true;
	return ftr->writer->as->info(ftr->writer, FTR_EXPONENT, ftr->realtime_ns / 1000000000u);
}

static int new_stream(struct ftr *ftr, struct txtrace_string name, const char *kind, uint64_t *id)
{
	int err = write_info(ftr);

	*id = ftr->next_id++;
	return err ? err : ftr->writer->as->stream(ftr->writer, *id, name, ftr_text_of(kind));
}

static int find_thread(struct ftr *ftr, uint32_t pid, uint32_t tid, struct ftr_thread **thread)
{
	uint32_t key[2] = { pid, tid };
	bool is_new;

	*thread = key_map_add(&ftr->threads, key, sizeof(key), &is_new);
	return *thread ? 0 : -ENOMEM;
}

static int thread_stream(struct ftr *ftr, uint32_t pid, uint32_t tid, bool is_state, uint64_t *id)
{
	struct text name = { 0 };
	struct ftr_thread *thread;
	uint64_t *stream;
	int err = find_thread(ftr, pid, tid, &thread);

	if (err)
		return err;
	stream = is_state ? &thread->state_stream : &thread->stream;
	*id = *stream;
	if (*id)
		return 0;
	text_append_format(&name, "%s %" PRIu32 "%s",
			   thread->name && thread->name[0] ? thread->name : "thread", tid,
			   is_state ? " state" : "");
	err = name.err ? name.err
		       : new_stream(ftr, ftr_text_of(name.bytes), is_state ? "state" : FTR_KIND_THREAD,
				    stream);
	text_release(&name);
	*id = *stream;
	return err;
}

/* One of the whole log, or a process' track. */
static int named_stream(struct ftr *ftr, uint32_t pid, struct txtrace_string name, const char *kind,
			uint64_t *id)
{
	struct text key = { 0 };
	uint64_t *stream;
	bool is_new;
	int err;

	text_append_bytes(&key, (const char *)&pid, sizeof(pid));
	text_append_bytes(&key, name.bytes, name.length);
	if (!key.err && ftr->tracks.count >= TRACK_MAX &&
	    !key_map_find(&ftr->tracks, key.bytes, key.length)) {
		text_release(&key);
		ftr->lost_cnt[FTR_LOST_TRACK]++;
		name = ftr_text_of("other tracks");
		text_append(&key, "other tracks");
	}
	err = key.err;
	stream = err ? NULL : key_map_add(&ftr->tracks, key.bytes, key.length, &is_new);
	text_release(&key);
	if (!stream)
		return err ? err : -ENOMEM;
	err = is_new ? new_stream(ftr, name, kind, stream) : 0;
	*id = *stream;
	return err;
}

static int find_generator(struct ftr *ftr, uint64_t stream, struct txtrace_string name, const char *end,
			  uint64_t *id)
{
	struct text key = { 0 };
	uint64_t *generator;
	bool is_new = false;
	int err;

	text_append_bytes(&key, (const char *)&stream, sizeof(stream));
	text_append_bytes(&key, name.bytes, name.length);
	text_append(&key, end);
	err = key.err;
	generator = err ? NULL : key_map_add(&ftr->generators, key.bytes, key.length, &is_new);
	if (generator && is_new) {
		name = (struct txtrace_string){ key.bytes + sizeof(stream), key.length - sizeof(stream) };
		*generator = ftr->next_id++;
		err = ftr->writer->as->generator(ftr->writer, *generator, name, stream);
	}
	text_release(&key);
	*id = generator ? *generator : 0;
	return generator ? err : err ? err : -ENOMEM;
}

/* ---- what an import says of itself ---- */

/* The number at *at, which goes on behind it and a blank. */
static bool take_number(const char **at, const char *end, uint64_t *number)
{
	const char *begin = *at;

	*number = 0;
	for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
		*number = *number * 10 + (uint64_t)(**at - '0');
	if (*at == begin)
		return false;
	*at += *at < end && **at == ' ';
	return true;
}

static int read_info(struct ftr *ftr, const char *at, const char *end)
{
	bool is_negative = at < end && *at == '-';
	uint64_t exponent, creation_s;

	at += is_negative;
	if (!take_number(&at, end, &exponent) || exponent > 100)
		return 0;
	ftr->exponent = is_negative ? -(int64_t)exponent : (int64_t)exponent;
	if (!take_number(&at, end, &creation_s) || ftr->has_info)
		return 0;
	ftr->has_info = true;
	return ftr->writer->as->info(ftr->writer, ftr->exponent, creation_s);
}

static int read_stream(struct ftr *ftr, const char *at, const char *end)
{
	struct ftr_thread *thread;
	uint64_t tid, id;
	int err;

	if (!take_number(&at, end, &tid) || !take_number(&at, end, &id))
		return 0;
	err = find_thread(ftr, FTR_PID, (uint32_t)tid, &thread);
	if (err || thread->stream)
		return err;
	thread->stream = id;
	if (id >= ftr->next_id)
		ftr->next_id = id + 1;
	return ftr->writer->as->stream(ftr->writer, id, ftr_text_of(thread->name ? thread->name : ""),
				       (struct txtrace_string){ at, (size_t)(end - at) });
}

static int read_generator(struct ftr *ftr, const char *at, const char *end)
{
	struct text key = { 0 };
	struct ftr_thread *thread;
	uint64_t tid, id, *generator;
	bool is_new = false, is_told;
	int err;

	if (!take_number(&at, end, &tid) || !take_number(&at, end, &id))
		return 0;
	err = find_thread(ftr, FTR_PID, (uint32_t)tid, &thread);
	if (err || thread->stream == 0)
		return err;
	if (id >= ftr->next_id)
		ftr->next_id = id + 1;
	text_append_bytes(&key, (const char *)&thread->stream, sizeof(thread->stream));
	text_append_bytes(&key, at, (size_t)(end - at));
	err = key.err;
	generator = err ? NULL : key_map_add(&ftr->generators, key.bytes, key.length, &is_new);
	text_release(&key);
	if (!generator)
		return err ? err : -ENOMEM;
	*generator = id;
	is_told = id_map_get(&ftr->told, 0, id) != NULL;
	err = id_map_put(&ftr->told, 0, id, ftr);
	if (err || is_told)
		return err;
	return ftr->writer->as->generator(ftr->writer, id, (struct txtrace_string){ at, (size_t)(end - at) },
					  thread->stream);
}

static int read_attribute(struct ftr *ftr, const char *at, const char *end)
{
	struct ftr_declared *declared;
	uint64_t class, type;
	bool is_new;

	if (!take_number(&at, end, &class) || !take_number(&at, end, &type) || class >= FTR_CLASS_CNT ||
	    type >= FTR_TYPE_CNT)
		return 0;
	declared = key_map_add(&ftr->types, at, (size_t)(end - at), &is_new);
	if (!declared)
		return -ENOMEM;
	*declared = (struct ftr_declared){ (uint8_t) class, (uint8_t)type };
	return 0;
}

static int read_mark(struct ftr *ftr, struct txtrace_string name, bool *is_mark)
{
	static const struct {
		const char *begin;
		int (*read)(struct ftr *ftr, const char *at, const char *end);
	} marks[] = {
		{ FTR_INFO, read_info },
		{ FTR_STREAM, read_stream },
		{ FTR_GENERATOR, read_generator },
		{ FTR_ATTRIBUTE, read_attribute },
	};

	*is_mark = false;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		size_t length = strlen(marks[i].begin);

		if (name.length < length || memcmp(name.bytes, marks[i].begin, length) != 0)
			continue;
		*is_mark = ftr->is_ftr = ftr->ids.is_given = true;
		return marks[i].read(ftr, name.bytes + length, name.bytes + name.length);
	}
	return 0;
}

/* A transaction of the values, of which there are none then. */
static int write_row(struct ftr *ftr, struct ftr_row *row)
{
	row->values = ftr->values;
	row->value_cnt = ftr->value_cnt;
	ftr->value_cnt = 0;
	if (row->end_ps > ftr->last_ps)
		ftr->last_ps = row->end_ps;
	return ftr->writer->as->row(ftr->writer, row);
}

/* ---- spans ---- */

/* Of its track, or else of its thread; in an import its thread is its stream. */
static int stream_of(struct ftr *ftr, const struct txtrace_span *span, const struct span_mark *mark,
		     uint64_t *stream)
{
	const struct marked_attribute *marked = mark && !ftr->is_ftr ? mark->attributes : NULL;
	struct txtrace_string track = { 0 };

	for (; marked; marked = marked->next) {
		if (marked->attribute.type != FTR_EVENT && track_is_given(&marked->attribute))
			track = marked->attribute.string;
	}
	if (track.length > 0)
		return named_stream(ftr, span->pid, track, "track", stream);
	return thread_stream(ftr, span->pid, span->tid, false, stream);
}

/* Instants of a span are transactions of the generator LABEL.events. */
static int write_events(struct ftr *ftr, const struct txtrace_span *span, const struct span_mark *mark,
			uint64_t stream)
{
	const struct marked_attribute *marked = mark ? mark->attributes : NULL;
	int err = 0;

	for (; !err && marked; marked = marked->next) {
		const struct txtrace_attribute *event = &marked->attribute;
		struct ftr_row row = { .stream = stream };
		struct ftr_arrow arrow = { .name = ftr_text_of(FTR_PARENT),
					   .has_streams = true,
					   .from_stream = stream,
					   .to_stream = stream };

		if (event->type != FTR_EVENT)
			continue;
		row.id = arrow.to = ftr_ids_new(&ftr->ids);
		row.begin_ps = row.end_ps = to_ps(ftr, event->time_ns);
		err = find_generator(ftr, stream, span->label, FTR_EVENTS, &row.generator);
		err = err ? err : ftr_ids_find(&ftr->ids, span->pid, span->id, &arrow.from);
		err = err ? err : ftr_add_text(ftr, FTR_BEGIN, FTR_EVENT_NAME, event->name);
		err = err ? err : write_row(ftr, &row);
		err = err ? err : ftr->writer->as->arrow(ftr->writer, &arrow);
	}
	return err;
}

/* Keyed spans have ids of their own, in all processes. */
static uint32_t space_of(uint32_t pid, bool is_keyed)
{
	return is_keyed ? 0 : pid;
}

static int write_span(struct ftr *ftr, const struct txtrace_span *span, const struct span_mark *mark,
		      struct ftr_row *row)
{
	int err = find_generator(ftr, row->stream, span->label, "", &row->generator);

	row->begin_ps = to_ps(ftr, span->begin_ns);
	row->end_ps = to_ps(ftr, span->end_ns);
	if (!err && span->tag.length > 0)
		err = ftr_add_text(ftr, FTR_BEGIN, "tag", span->tag);
	if (!err && span->key.length > 0)
		err = ftr_add_key(ftr, span->key);
	err = err ? err : ftr_add_attributes(ftr, mark, row);
	err = err ? err : ftr_add_ledger(ftr, span);
	err = err ? err : ftr_add_flags(ftr, span);
	return err ? err : write_row(ftr, row);
}

static int ftr_span(void *state, const struct txtrace_span *span)
{
	struct ftr *ftr = state;
	bool is_keyed = span->flags & TXTRACE_SPAN_KEYED,
	     is_parent_keyed = span->flags & TXTRACE_SPAN_PARENT_KEYED;
	uint32_t pid = space_of(span->pid, is_keyed);
	const struct span_mark *mark = is_keyed ? NULL : span_marks_find(&ftr->marks, span->pid, span->id);
	struct ftr_row row = { 0 };
	int err = stream_of(ftr, span, mark, &row.stream);

	err = err ? err : ftr_ids_find(&ftr->ids, pid, span->id, &row.id);
	err = err ? err : write_span(ftr, span, mark, &row);
	err = err ? err : ftr_ids_place(&ftr->ids, pid, span->id, row.stream);
	if (!err && span->parent)
		err = ftr_ids_relate(&ftr->ids, ftr->writer, ftr_text_of(FTR_PARENT),
				     space_of(span->pid, is_parent_keyed), span->parent, pid, span->id);
	err = err ? err : write_events(ftr, span, mark, row.stream);
	if (mark)
		span_marks_forget(&ftr->marks, span->pid, span->id);
	return err;
}

/* ---- what is said of spans ---- */

static int ftr_attribute(void *state, const struct txtrace_attribute *attribute)
{
	struct ftr *ftr = state;
	struct txtrace_attribute held = *attribute;

	held.tid = ftr_held_as(ftr, attribute);
	if (held.type == FTR_EVENT)
		return count(ftr, FTR_LOST_OTHER);
	return span_marks_add_attribute(&ftr->marks, &held);
}

/* Said of no span: it stands by itself on its thread. */
static int write_instant(struct ftr *ftr, const struct txtrace_instant *instant)
{
	struct ftr_row row = { .id = ftr_ids_new(&ftr->ids) };
	int err = thread_stream(ftr, instant->pid, instant->tid, false, &row.stream);

	row.begin_ps = row.end_ps = to_ps(ftr, instant->time_ns);
	err = err ? err : find_generator(ftr, row.stream, ftr_text_of("instant"), "", &row.generator);
	err = err ? err : ftr_add_text(ftr, FTR_BEGIN, FTR_EVENT_NAME, instant->name);
	return err ? err : write_row(ftr, &row);
}

/* What an import has made an instant of. */
static int write_event(struct ftr *ftr, const struct txtrace_instant *instant)
{
	struct ftr_event_link *event = &ftr->event;
	struct txtrace_string generator = { event->generator.bytes, event->generator.length };
	struct ftr_row row = { 0 };
	int err = thread_stream(ftr, instant->pid, instant->tid, false, &row.stream);

	row.begin_ps = row.end_ps = to_ps(ftr, instant->time_ns);
	err = err ? err : ftr_ids_find(&ftr->ids, instant->pid, event->to, &row.id);
	err = err ? err : find_generator(ftr, row.stream, generator, "", &row.generator);
	err = err ? err : ftr_add_text(ftr, FTR_BEGIN, FTR_EVENT_NAME, instant->name);
	err = err ? err : write_row(ftr, &row);
	err = err ? err : ftr_ids_place(&ftr->ids, instant->pid, event->to, row.stream);
	return err ? err
		   : ftr_ids_relate(&ftr->ids, ftr->writer, ftr_text_of(FTR_PARENT), instant->pid,
				    event->from, instant->pid, event->to);
}

/* A link that was taken for that of an event, and is none. */
static int release_event(struct ftr *ftr)
{
	struct ftr_event_link *event = &ftr->event;

	if (!event->is_there)
		return 0;
	event->is_there = false;
	return ftr_ids_relate(&ftr->ids, ftr->writer,
			      (struct txtrace_string){ event->generator.bytes, event->generator.length },
			      FTR_PID, event->from, FTR_PID, event->to);
}

static int ftr_instant(void *state, const struct txtrace_instant *instant)
{
	struct ftr *ftr = state;
	struct ftr_event_link *event = &ftr->event;
	struct txtrace_attribute held = { .time_ns = instant->time_ns,
					  .span = instant->span,
					  .pid = instant->pid,
					  .type = FTR_EVENT,
					  .name = instant->name };
	bool is_mark = false;
	int err = 0;

	if (ftr->is_import && instant->span == 0 && instant->pid == FTR_PID && instant->tid == FTR_TID)
		err = read_mark(ftr, instant->name, &is_mark);
	if (err || is_mark)
		return err;
	if (event->is_there && event->from == instant->span && event->time_ns == instant->time_ns &&
	    event->tid == instant->tid) {
		event->is_there = false;
		return write_event(ftr, instant);
	}
	if (instant->span == 0)
		return write_instant(ftr, instant);
	return span_marks_add_attribute(&ftr->marks, &held);
}

static int ftr_link(void *state, const struct txtrace_link *link)
{
	struct ftr *ftr = state;
	size_t length = strlen(FTR_EVENTS);
	int err = release_event(ftr);

	if (err)
		return err;
	if (!ftr->is_ftr || link->name.length <= length ||
	    memcmp(link->name.bytes + link->name.length - length, FTR_EVENTS, length) != 0)
		return ftr_ids_relate(&ftr->ids, ftr->writer, link->name, link->pid, link->from, link->pid,
				      link->to);
	ftr->event.is_there = true;
	ftr->event.time_ns = link->time_ns;
	ftr->event.tid = link->tid;
	ftr->event.from = link->from;
	ftr->event.to = link->to;
	text_clear(&ftr->event.generator);
	text_append_bytes(&ftr->event.generator, link->name.bytes, link->name.length);
	return ftr->event.generator.err;
}

static int drop_mark(void *state, const struct span_mark *mark)
{
	struct ftr *ftr = state;

	for (const struct marked_attribute *marked = mark->attributes; marked; marked = marked->next)
		ftr->lost_cnt[FTR_LOST_HELD]++;
	return 0;
}

/* ---- threads, counters, losses ---- */

static int ftr_thread(void *state, const struct txtrace_thread *told)
{
	struct ftr *ftr = state;
	struct ftr_thread *thread;
	char *name;
	int err;

	if (told->is_exit || told->comm.length == 0)
		return 0;
	err = find_thread(ftr, told->pid, told->tid, &thread);
	if (err)
		return err;
	if (thread->name && strlen(thread->name) == told->comm.length &&
	    memcmp(thread->name, told->comm.bytes, told->comm.length) == 0)
		return 0;
	ftr->lost_cnt[FTR_LOST_NAME] += thread->stream || thread->state_stream;
	name = strndup(told->comm.bytes, told->comm.length);
	if (!name)
		return -ENOMEM;
	free(thread->name);
	thread->name = name;
	return 0;
}

static int write_state(struct ftr *ftr, const struct txtrace_run *run, const struct state_slice *slice)
{
	struct ftr_row row = { .id = ftr_ids_new(&ftr->ids),
			       .begin_ps = to_ps(ftr, slice->begin_ns),
			       .end_ps = to_ps(ftr, slice->end_ns) };
	int err = thread_stream(ftr, run->pid, run->tid, true, &row.stream);

	err = err ? err
		  : find_generator(ftr, row.stream, ftr_text_of(state_name(slice->state, slice->reason)), "",
				   &row.generator);
	if (!err && slice->state == STATE_RUNNING && run->cpu != TXTRACE_CPU_UNKNOWN)
		err = ftr_add_number(ftr, FTR_BEGIN, FTR_UNSIGNED, "on_cpu", run->cpu);
	return err ? err : write_row(ftr, &row);
}

static int ftr_run(void *state, const struct txtrace_run *run)
{
	struct ftr *ftr = state;
	struct state_slice slices[STATE_COUNT];
	struct ftr_thread *thread;
	unsigned int cnt;
	int err = find_thread(ftr, run->pid, run->tid, &thread);

	if (err)
		return err;
	cnt = state_row_run(&thread->states, run, slices);
	for (unsigned int i = 0; !err && i < cnt; i++)
		err = write_state(ftr, run, &slices[i]);
	return err;
}

static int ftr_wake(void *state, const struct txtrace_wake *wake)
{
	struct ftr *ftr = state;
	struct ftr_row row = { .id = ftr_ids_new(&ftr->ids) };
	int err = thread_stream(ftr, wake->pid, wake->tid, true, &row.stream);

	row.begin_ps = row.end_ps = to_ps(ftr, wake->time_ns);
	err = err ? err : find_generator(ftr, row.stream, ftr_text_of("woken"), "", &row.generator);
	if (!err && wake->waker_comm.length > 0)
		err = ftr_add_text(ftr, FTR_BEGIN, "waker", wake->waker_comm);
	if (!err && wake->waker_tid)
		err = ftr_add_number(ftr, FTR_BEGIN, FTR_UNSIGNED, "waker_tid", wake->waker_tid);
	ftr->lost_cnt[FTR_LOST_WAKE] += wake->waker_tid != 0;
	return err ? err : write_row(ftr, &row);
}

static int ftr_counter(void *state, const struct txtrace_counter *counter)
{
	struct ftr *ftr = state;
	struct ftr_row row = { .id = ftr_ids_new(&ftr->ids) };
	int err = named_stream(ftr, counter->pid, ftr_text_of("counters"), "counter", &row.stream);

	row.begin_ps = row.end_ps = to_ps(ftr, counter->time_ns);
	err = err ? err : find_generator(ftr, row.stream, counter->name, "", &row.generator);
	err = err ? err : ftr_add_number(ftr, FTR_BEGIN, FTR_INTEGER, "value", (uint64_t)counter->value);
	return err ? err : write_row(ftr, &row);
}

static int losses_stream(struct ftr *ftr, const char *name, struct ftr_row *row)
{
	int err;

	row->id = ftr_ids_new(&ftr->ids);
	err = named_stream(ftr, 0, ftr_text_of(FTR_LOSSES), "losses", &row->stream);
	return err ? err : find_generator(ftr, row->stream, ftr_text_of(name), "", &row->generator);
}

static int ftr_loss(void *state, const struct txtrace_loss *loss)
{
	struct ftr *ftr = state;
	struct ftr_row row = { .begin_ps = to_ps(ftr, loss->first_ns), .end_ps = to_ps(ftr, loss->last_ns) };
	int err = losses_stream(ftr, FTR_LOSS, &row);

	if (!err && loss->cpu != TXTRACE_CPU_UNKNOWN)
		err = ftr_add_number(ftr, FTR_BEGIN, FTR_UNSIGNED, FTR_LOSS_CPU, loss->cpu);
	err = err ? err
		  : ftr_add_number(ftr, FTR_BEGIN, FTR_UNSIGNED, FTR_LOSS_SPAN_EVENTS, loss->span_event_cnt);
	err = err ? err
		  : ftr_add_number(ftr, FTR_BEGIN, FTR_UNSIGNED, FTR_LOSS_SCHED_EVENTS,
				   loss->sched_event_cnt);
	if (!err && loss->tid)
		err = ftr_add_number(ftr, FTR_BEGIN, FTR_UNSIGNED, FTR_LOSS_PID, loss->pid);
	if (!err && loss->tid)
		err = ftr_add_number(ftr, FTR_BEGIN, FTR_UNSIGNED, FTR_LOSS_TID, loss->tid);
	return err ? err : write_row(ftr, &row);
}

static int ftr_dropped(void *state, const struct txtrace_dropped *dropped)
{
	struct ftr *ftr = state;
	struct ftr_row row = { .begin_ps = to_ps(ftr, dropped->first_ns),
			       .end_ps = to_ps(ftr, dropped->last_ns) };
	int err = losses_stream(ftr, "not written", &row);
	uint64_t cnt = 0;

	for (size_t i = 0; i < TXTRACE_RECORD_KIND_COUNT; i++)
		increase(&cnt, dropped->record_cnt[i]);
	err = err ? err : ftr_add_number(ftr, FTR_BEGIN, FTR_UNSIGNED, "records", cnt);
	return err ? err : write_row(ftr, &row);
}

static int ftr_damage(void *state, const struct txtrace_damage *damage)
{
	struct ftr *ftr = state;
	struct ftr_row row = { .begin_ps = ftr->last_ps, .end_ps = ftr->last_ps };
	int err = losses_stream(ftr, "damage", &row);

	err = err ? err : ftr_add_number(ftr, FTR_BEGIN, FTR_UNSIGNED, "bytes", damage->length_bytes);
	err = err ? err
		  : ftr_add_text(ftr, FTR_BEGIN, "reason", ftr_text_of(damage->reason ? damage->reason : ""));
	return err ? err : write_row(ftr, &row);
}

#define LEFT_OUT(kind, lost)                                                  \
	static int ftr_##kind(void *state, const struct txtrace_##kind *kind) \
	{                                                                     \
		(void)kind;                                                   \
		return count(state, lost);                                    \
	}

LEFT_OUT(stay, FTR_LOST_STAY)
LEFT_OUT(object, FTR_LOST_OTHER)
LEFT_OUT(stack, FTR_LOST_OTHER)
LEFT_OUT(other_run, FTR_LOST_OTHER)
LEFT_OUT(process, FTR_LOST_OTHER)
LEFT_OUT(trigger, FTR_LOST_OTHER)

/* ---- begin and end ---- */

static bool is_import(const struct txtrace_log_info *info)
{
	static const char end[] = " import";
	size_t length = strlen(info->recorder);

	return length >= strlen(end) && strcmp(info->recorder + length - strlen(end), end) == 0;
}

static void release_thread(void *value)
{
	free(((struct ftr_thread *)value)->name);
}

static void ftr_free(void *state)
{
	struct ftr *ftr = state;

	if (ftr->writer)
		ftr->writer->as->free(ftr->writer);
	key_map_release(&ftr->threads);
	key_map_release(&ftr->tracks);
	key_map_release(&ftr->generators);
	key_map_release(&ftr->types);
	id_map_release(&ftr->told);
	ftr_ids_release(&ftr->ids);
	span_marks_release(&ftr->marks);
	string_pool_free(ftr->names);
	text_release(&ftr->event.generator);
	text_release(&ftr->key);
	free(ftr->values);
	free(ftr);
}

static int open_as(void **state, FILE *out, const struct txtrace_log_info *info, const struct ftr_writing *as,
		   bool has_doubles, bool is_packed)
{
	struct ftr *ftr = calloc(1, sizeof(*ftr));
	int err;

	if (!ftr)
		return -ENOMEM;
	*state = ftr;
	ftr->is_import = is_import(info);
	ftr->start_ns = info->start_monotonic_ns;
	ftr->realtime_ns = info->start_realtime_ns;
	ftr->exponent = FTR_EXPONENT;
	ftr->next_id = 1;
	key_map_init(&ftr->threads, sizeof(struct ftr_thread), release_thread);
	key_map_init(&ftr->tracks, sizeof(uint64_t), NULL);
	key_map_init(&ftr->generators, sizeof(uint64_t), NULL);
	key_map_init(&ftr->types, sizeof(struct ftr_declared), NULL);
	id_map_init(&ftr->told);
	span_marks_init(&ftr->marks, MARK_BYTES_MAX, drop_mark, ftr);
	err = ftr_ids_init(&ftr->ids);
	ftr->names = string_pool_new();
	err = err || !ftr->names ? -ENOMEM : ftr_declare_own(ftr);
	err = err ? err : as->open(&ftr->writer, out);
	if (err)
		return err;
	ftr->writer->has_doubles = has_doubles;
	ftr->writer->is_packed = is_packed;
	return 0;
}

static int open_single(void **state, FILE *out, const struct txtrace_log_info *info)
{
	return open_as(state, out, info, &ftr_as_chunks, false, false);
}

static int open_double(void **state, FILE *out, const struct txtrace_log_info *info)
{
	return open_as(state, out, info, &ftr_as_chunks, true, false);
}

static int open_lz4(void **state, FILE *out, const struct txtrace_log_info *info)
{
	return open_as(state, out, info, &ftr_as_chunks, false, true);
}

static int open_text(void **state, FILE *out, const struct txtrace_log_info *info)
{
	return open_as(state, out, info, &ftr_as_text, true, false);
}

static int ftr_finish(void *state, const struct export_totals *totals)
{
	struct ftr *ftr = state;
	int err = release_event(ftr);

	(void)totals;
	err = err ? err : span_marks_drop_all(&ftr->marks);
	err = err ? err : write_info(ftr);
	err = err ? err : ftr_ids_finish(&ftr->ids, ftr->writer);
	return err ? err : ftr->writer->as->finish(ftr->writer);
}

static void ftr_tell(const void *state, export_say *say, void *context)
{
	const struct ftr *ftr = state;
	const struct ftr_written *written = &ftr->writer->written;
	uint64_t counts[FTR_LOST_CNT];

	memcpy(counts, ftr->lost_cnt, sizeof(counts));
	counts[FTR_LOST_TEXT] = written->text_cnt;
	counts[FTR_LOST_ROUNDED] = written->rounded_cnt;
	counts[FTR_LOST_UNSORTED] = written->unsorted_cnt;
	counts[FTR_LOST_ARROW] = written->streamless_cnt;
	if (!ftr->is_ftr && ftr->realtime_ns == 0)
		say(context, "the time of the recording is not known, and written as 0");
	export_tell_counts(lost_names, counts, FTR_LOST_CNT, say, context);
}

#define FTR_FORMAT(format_name, format_help, format_suffix, binary, open_function)                      \
	{                                                                                               \
		.name = format_name, .help = format_help, .suffix = format_suffix, .is_binary = binary, \
		.open = open_function, .span = ftr_span, .run = ftr_run, .wake = ftr_wake,              \
		.thread = ftr_thread, .attribute = ftr_attribute, .instant = ftr_instant,               \
		.counter = ftr_counter, .link = ftr_link, .loss = ftr_loss, .stay = ftr_stay,           \
		.object = ftr_object, .stack = ftr_stack, .other_run = ftr_other_run,                   \
		.process = ftr_process, .trigger = ftr_trigger, .dropped = ftr_dropped,                 \
		.damage = ftr_damage, .finish = ftr_finish, .tell = ftr_tell, .free = ftr_free,         \
	}

const struct export_format format_ftr =
	FTR_FORMAT("ftr", "FTR for SCViewer and Surfer, with numbers in single precision", ".ftr", true,
		   open_single);
const struct export_format format_ftr_double = FTR_FORMAT("ftr-double",
							  "the same in double precision, which both refuse",
							  ".double.ftr", true, open_double);
const struct export_format format_ftr_lz4 = FTR_FORMAT("ftr-lz4", "FTR, compressed", ".lz4.ftr", true,
						       open_lz4);
const struct export_format format_ftr_text = FTR_FORMAT("ftr-text", "the text format of LWTR4SC", ".txlog",
							false, open_text);
