/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/formats.h"

static const struct export_format *const formats[] = {
	&format_jsonl,
	&format_perfetto,
	&format_chrome,
	&format_ctf,
	&format_pprof,
	&format_speedscope,
	&format_csv,
	&format_tokio,
	&format_tokio4,
	&format_tokio6,
	&format_sui,
	&format_sui2,
	&format_ftr,
	&format_ftr_double,
	&format_ftr_lz4,
	&format_ftr_text,
	&format_fvm,
	&format_sqlite,
	&format_firefox,
	&format_sui_files,
	&format_sui2_files,
	&format_otlp,
	&format_otlp_json,
};

#define FORMAT_CNT (sizeof(formats) / sizeof(formats[0]))

struct export
{
	const struct export_format *format;
	FILE *out;
	void *state;
	struct export_totals totals;
	export_say *say; /* NULL: nobody wants to hear what was left out */
	void *say_context;
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

/* ---- one export ---- */

#define CALL(format, member, state, value) ((format)->member ? (format)->member(state, value) : 0)

static int dispatch(const struct export_format *format, void *state, const struct txtrace_record *record)
{
	if (format->record)
		return record->kind == TXTRACE_RECORD_SUMMARY ? 0 : format->record(state, record);
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
	if (!err && out && ferror(out))
		err = errno ? -errno : -EIO;
	return err;
}

static int begin(struct export **export, const struct export_format *format)
{
	*export = calloc(1, sizeof(**export));
	if (!*export)
		return -ENOMEM;
	(*export)->format = format;
	errno = 0;
	return 0;
}

static int check_opened(struct export **export, int err)
{
	if (!err)
		return 0;
	export_abort(*export);
	*export = NULL;
	return err;
}

int export_open(struct export **export, const struct export_format *format, FILE *out,
		const struct txtrace_log_info *info)
{
	int err = format->open ? begin(export, format) : -EISDIR;

	if (err)
		return err;
	(*export)->out = out;
	return check_opened(export, check_out(out, format->open(&(*export)->state, out, info)));
}

int export_open_in(struct export **export, const struct export_format *format, int directory,
		   const struct txtrace_log_info *info)
{
	int err = format->open_in ? begin(export, format) : -ENOTDIR;

	return err ? err : check_opened(export, format->open_in(&(*export)->state, directory, info));
}

int export_open_sink(struct export **export, const struct export_format *format,
		     const struct export_sink *sink, const struct txtrace_log_info *info)
{
	int err = begin(export, format);

	return err ? err : check_opened(export, format->open_sink(&(*export)->state, sink, info));
}

int export_flush(struct export *export)
{
	return export->format->flush(export->state);
}

int export_survey(struct export *export, const struct txtrace_record *record)
{
	return CALL(export->format, survey, export->state, record);
}

int export_begin_capture(struct export *export, const uint8_t capture_id[16])
{
	return CALL(export->format, capture, export->state, capture_id);
}

int export_add(struct export *export, const struct txtrace_record *record)
{
	if (!txtrace_record_kind_name(record->kind))
		return 0;
	log_census_add(&export->totals.census, record);
	errno = 0;
	return check_out(export->out, dispatch(export->format, export->state, record));
}

void export_tell_at_close(struct export *export, export_say *say, void *context)
{
	export->say = say;
	export->say_context = context;
}

void export_tell_counts(const char *const *names, const uint64_t *counts, size_t cnt, export_say *say,
			void *context)
{
	char sentence[256];

	for (size_t i = 0; i < cnt; i++) {
		if (counts[i] == 0)
			continue;
		snprintf(sentence, sizeof(sentence), "%s: %" PRIu64, names[i], counts[i]);
		say(context, sentence);
	}
}

int export_close(struct export *export, int read_error, struct export_totals *totals)
{
	struct export_totals *sums = &export->totals;
	int err;

	sums->read_error = read_error;
	sums->is_complete = !read_error && sums->census.record_cnt[TXTRACE_RECORD_SUMMARY] > 0 &&
			    sums->census.record_cnt[TXTRACE_RECORD_DAMAGE] == 0;
	errno = 0;
	err = check_out(export->out, export->format->finish(export->state, sums));
	if (!err && export->out && fflush(export->out))
		err = errno ? -errno : -EIO;
	if (!err && export->say && export->format->tell)
		export->format->tell(export->state, export->say, export->say_context);
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

int export_log(struct txtrace_log *log, const struct export_format *format, FILE *out,
	       struct export_totals *totals)
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
