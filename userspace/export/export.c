/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/formats.h"

static const struct export_format *const formats[] = {
	&format_jsonl,
	&format_perfetto,
	&format_chrome,
};

#define FORMAT_CNT (sizeof(formats) / sizeof(formats[0]))

struct export {
	const struct export_format *format;
	FILE *out;
	void *state;
	struct export_totals totals;
};

const struct export_format *export_format_at(size_t index)
{
	return index < FORMAT_CNT ? formats[index] : NULL;
}

const struct export_format *export_format_find(const char *name)
{
	for (size_t i = 0; i < FORMAT_CNT; i++) {
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	}
	return NULL;
}

/* ---- totals ---- */

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static void count_time(struct export_totals *totals, uint64_t begin_ns, uint64_t end_ns)
{
	if (totals->first_ns == 0 || begin_ns < totals->first_ns)
		totals->first_ns = begin_ns;
	if (end_ns > totals->last_ns)
		totals->last_ns = end_ns;
}

static void count_record(struct export_totals *totals, const struct txtrace_record *record)
{
	totals->record_cnt[record->kind]++;
	switch (record->kind) {
	case TXTRACE_RECORD_SPAN:
		totals->lower_bound_cnt += (record->span.flags & TXTRACE_SPAN_LOWER_BOUND) != 0;
		count_time(totals, record->span.begin_ns, record->span.end_ns);
		break;
	case TXTRACE_RECORD_RUN:
		count_time(totals, record->run.begin_ns, record->run.end_ns);
		break;
	case TXTRACE_RECORD_WAKE:
		count_time(totals, record->wake.time_ns, record->wake.time_ns);
		break;
	case TXTRACE_RECORD_THREAD:
		count_time(totals, record->thread.time_ns, record->thread.time_ns);
		break;
	case TXTRACE_RECORD_ATTRIBUTE:
		count_time(totals, record->attribute.time_ns, record->attribute.time_ns);
		break;
	case TXTRACE_RECORD_INSTANT:
		count_time(totals, record->instant.time_ns, record->instant.time_ns);
		break;
	case TXTRACE_RECORD_COUNTER:
		count_time(totals, record->counter.time_ns, record->counter.time_ns);
		break;
	case TXTRACE_RECORD_LINK:
		count_time(totals, record->link.time_ns, record->link.time_ns);
		break;
	case TXTRACE_RECORD_LOSS:
		totals->lost_span_event_cnt = add_saturating(totals->lost_span_event_cnt, record->loss.span_event_cnt);
		totals->lost_sched_event_cnt = add_saturating(totals->lost_sched_event_cnt, record->loss.sched_event_cnt);
		count_time(totals, record->loss.first_ns, record->loss.last_ns);
		break;
	case TXTRACE_RECORD_OPEN_SPAN:
		count_time(totals, record->open_span.begin_ns, record->open_span.time_ns);
		break;
	case TXTRACE_RECORD_SUMMARY:
		totals->summary = record->summary;
		count_time(totals, record->summary.time_ns, record->summary.time_ns);
		break;
	case TXTRACE_RECORD_DROPPED:
		for (unsigned int kind = 0; kind < TXTRACE_RECORD_KIND_COUNT; kind++)
			totals->dropped_record_cnt = add_saturating(totals->dropped_record_cnt, record->dropped.record_cnt[kind]);
		count_time(totals, record->dropped.first_ns, record->dropped.last_ns);
		break;
	case TXTRACE_RECORD_CONTINUED:
		count_time(totals, record->continued.time_ns, record->continued.time_ns);
		break;
	case TXTRACE_RECORD_STAY:
		count_time(totals, record->stay.enter_ns, record->stay.exit_ns);
		break;
	case TXTRACE_RECORD_OBJECT:
		count_time(totals, record->object.time_ns, record->object.time_ns);
		break;
	case TXTRACE_RECORD_STACK:
		count_time(totals, record->stack.time_ns, record->stack.time_ns);
		break;
	case TXTRACE_RECORD_FRAMES:
		count_time(totals, record->frames.time_ns, record->frames.time_ns);
		break;
	case TXTRACE_RECORD_OTHER_RUN:
		count_time(totals, record->other_run.begin_ns, record->other_run.end_ns);
		break;
	case TXTRACE_RECORD_COST:
		count_time(totals, record->cost.time_ns, record->cost.time_ns);
		break;
	case TXTRACE_RECORD_PROCESS:
		count_time(totals, record->process.time_ns, record->process.time_ns);
		break;
	case TXTRACE_RECORD_TRIGGER:
		count_time(totals, record->trigger.time_ns, record->trigger.time_ns);
		break;
	case TXTRACE_RECORD_DAMAGE:
		totals->damaged_bytes = add_saturating(totals->damaged_bytes, record->damage.length_bytes);
		totals->damaged_record_cnt = add_saturating(totals->damaged_record_cnt, record->damage.record_cnt);
		break;
	}
}

/* ---- one export ---- */

#define CALL(format, member, state, value) ((format)->member ? (format)->member(state, value) : 0)

static int dispatch(const struct export_format *format, void *state, const struct txtrace_record *record)
{
	switch (record->kind) {
	case TXTRACE_RECORD_SPAN:
		return CALL(format, span, state, &record->span);
	case TXTRACE_RECORD_RUN:
		return CALL(format, run, state, &record->run);
	case TXTRACE_RECORD_WAKE:
		return CALL(format, wake, state, &record->wake);
	case TXTRACE_RECORD_THREAD:
		return CALL(format, thread, state, &record->thread);
	case TXTRACE_RECORD_ATTRIBUTE:
		return CALL(format, attribute, state, &record->attribute);
	case TXTRACE_RECORD_INSTANT:
		return CALL(format, instant, state, &record->instant);
	case TXTRACE_RECORD_COUNTER:
		return CALL(format, counter, state, &record->counter);
	case TXTRACE_RECORD_LINK:
		return CALL(format, link, state, &record->link);
	case TXTRACE_RECORD_OPEN_SPAN:
		return CALL(format, open_span, state, &record->open_span);
	case TXTRACE_RECORD_LOSS:
		return format->loss(state, &record->loss);
	case TXTRACE_RECORD_DROPPED:
		return format->dropped(state, &record->dropped);
	case TXTRACE_RECORD_CONTINUED:
		return CALL(format, continued, state, &record->continued);
	case TXTRACE_RECORD_STAY:
		return CALL(format, stay, state, &record->stay);
	case TXTRACE_RECORD_OBJECT:
		return CALL(format, object, state, &record->object);
	case TXTRACE_RECORD_OVERLAP:
		return CALL(format, overlap, state, &record->overlap);
	case TXTRACE_RECORD_STACK:
		return CALL(format, stack, state, &record->stack);
	case TXTRACE_RECORD_FRAMES:
		return CALL(format, frames, state, &record->frames);
	case TXTRACE_RECORD_OTHER_RUN:
		return CALL(format, other_run, state, &record->other_run);
	case TXTRACE_RECORD_COST:
		return CALL(format, cost, state, &record->cost);
	case TXTRACE_RECORD_PROCESS:
		return CALL(format, process, state, &record->process);
	case TXTRACE_RECORD_TRIGGER:
		return CALL(format, trigger, state, &record->trigger);
	case TXTRACE_RECORD_DAMAGE:
		return format->damage(state, &record->damage);
	default: /* the summary is finish()'s */
		return 0;
	}
}

/* A format may leave it to us to see that stdio could not write. */
static int check_out(FILE *out, int err)
{
	if (!err && ferror(out))
		err = errno ? -errno : -EIO;
	return err;
}

int export_open(struct export **export, const struct export_format *format, FILE *out, const struct txtrace_log_info *info)
{
	struct export *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	new->format = format;
	new->out = out;
	errno = 0;
	err = check_out(out, format->open(&new->state, out, info));
	if (err) {
		export_abort(new);
		return err;
	}
	*export = new;
	return 0;
}

int export_survey(struct export *export, const struct txtrace_record *record)
{
	return record->kind == TXTRACE_RECORD_SPAN ? CALL(export->format, survey, export->state, &record->span) : 0;
}

int export_add(struct export *export, const struct txtrace_record *record)
{
	if (record->kind >= TXTRACE_RECORD_KIND_COUNT)
		return 0;
	count_record(&export->totals, record);
	errno = 0;
	return check_out(export->out, dispatch(export->format, export->state, record));
}

int export_close(struct export *export, int read_error, struct export_totals *totals)
{
	struct export_totals *sums = &export->totals;
	int err;

	sums->read_error = read_error;
	sums->is_complete = !read_error && sums->record_cnt[TXTRACE_RECORD_SUMMARY] > 0 &&
			    sums->record_cnt[TXTRACE_RECORD_DAMAGE] == 0;
	errno = 0;
	err = check_out(export->out, export->format->finish(export->state, sums));
	if (!err && fflush(export->out))
		err = errno ? -errno : -EIO;
	if (err)
		sums->read_error = 0; /* what the caller hears of is the writing */
	if (totals)
		*totals = *sums;
	export_abort(export);
	return err;
}

void export_abort(struct export *export)
{
	if (!export)
		return;
	if (export->state)
		export->format->free(export->state);
	free(export);
}

int export_log(struct txtrace_log *log, const struct export_format *format, FILE *out, struct export_totals *totals)
{
	struct export *export;
	struct txtrace_record record;
	int err, got;

	if (totals)
		*totals = (struct export_totals){ 0 };
	err = export_open(&export, format, out, txtrace_log_info(log));
	if (err)
		return err;
	while ((got = txtrace_log_next(log, &record)) > 0) {
		err = export_add(export, &record);
		if (err) {
			if (totals)
				*totals = export->totals;
			export_abort(export);
			return err;
		}
	}
	err = export_close(export, got, totals);
	return err ? err : got;
}
