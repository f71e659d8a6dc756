/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/files/log_scope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/span/trigger_rule.h"
#include "analyze/span_set.h"
#include "log/format/record_table.h"
#include "log/read/log_range.h"

#define SPANS_BYTES (1u << 30)

struct log_filter {
	uint64_t from_ns;
	uint64_t to_ns; /* UINT64_MAX: no end */
	bool has_range;
	bool is_in_names; /* reading is in the first batch, for its names */
	bool has_sequence;
	uint64_t sequence;	   /* of that batch */
	struct trigger_rule *rule; /* NULL: all spans */
	struct span_set *spans;	   /* for which it holds; NULL: not asked for */
};

/* ---- which spans ---- */

static uint32_t owner(bool is_keyed, uint32_t pid)
{
	return is_keyed ? 0 : pid;
}

static bool has(const struct log_filter *filter, uint32_t pid, uint64_t span)
{
	return !span || span_set_get(filter->spans, pid, span) || span_set_get(filter->spans, 0, span);
}

bool log_filter_has_span(const struct log_filter *filter, bool is_keyed, uint32_t pid, uint64_t span)
{
	return !filter || !filter->spans || span_set_get(filter->spans, owner(is_keyed, pid), span);
}

static int find_spans(struct log_filter *filter, struct txtrace_log *log)
{
	struct txtrace_record record;

	filter->spans = span_set_new(SPANS_BYTES);
	if (!filter->spans)
		return -ENOMEM;
	while (txtrace_log_next(log, &record) > 0) {
		const struct txtrace_span *span = &record.span;

		if (record.kind == TXTRACE_RECORD_SPAN && trigger_rule_holds(filter->rule, span) &&
		    !span_set_add(filter->spans, owner(span->flags & TXTRACE_SPAN_KEYED, span->pid),
				  span->id))
			return -ENOMEM;
	}
	return 0;
}

static int find_all(struct log_filter *filter, struct log_input *input, char *const *paths, int path_cnt)
{
	struct txtrace_log *log = NULL;
	int err = txtrace_log_open_files(&log, (const char *const *)paths, (size_t)path_cnt);

	err = err ? err : find_spans(filter, log);
	txtrace_log_close(log);
	if (!err)
		return CLI_OK;
	return cli_fail(input->cli, "can't find the spans of --where in '%s': %s", input->path,
			err == -ENOMEM ? "they are too many for 1 GiB of memory" : strerror(-err));
}

static bool is_of_span(const struct log_filter *filter, const struct txtrace_record *record)
{
	if (record->kind == TXTRACE_RECORD_SPAN)
		return trigger_rule_holds(filter->rule, &record->span);
	if (!filter->spans)
		return true;
	switch (record->kind) {
	case TXTRACE_RECORD_OPEN_SPAN:
		return has(filter, record->open_span.pid, record->open_span.id);
	case TXTRACE_RECORD_ATTRIBUTE:
		return has(filter, record->attribute.pid, record->attribute.span);
	case TXTRACE_RECORD_INSTANT:
		return has(filter, record->instant.pid, record->instant.span);
	case TXTRACE_RECORD_LINK:
		return has(filter, record->link.pid, record->link.from) &&
		       has(filter, record->link.pid, record->link.to);
	case TXTRACE_RECORD_STAY:
		return has(filter, record->stay.span_pid, record->stay.span);
	case TXTRACE_RECORD_OVERLAP:
		return has(filter, record->overlap.pid, record->overlap.span);
	case TXTRACE_RECORD_STACK:
		return has(filter, record->stack.span_pid, record->stack.span);
	default:
		return true;
	}
}

/* ---- the range ---- */

static bool is_name(const struct txtrace_record *record)
{
	return record->kind == TXTRACE_RECORD_THREAD || record->kind == TXTRACE_RECORD_PROCESS ||
	       record->kind == TXTRACE_RECORD_OBJECT;
}

static enum log_filter_choice choose_name(struct log_filter *filter, const struct txtrace_log *log,
					  const struct txtrace_record *record)
{
	struct txtrace_batch batch;

	if (record->kind == TXTRACE_RECORD_DAMAGE || !txtrace_log_batch(log, &batch) ||
	    (filter->has_sequence && batch.sequence != filter->sequence) || batch.last_ns >= filter->from_ns)
		return LOG_FILTER_SEEK;
	filter->has_sequence = true;
	filter->sequence = batch.sequence;
	return is_name(record) ? LOG_FILTER_NAME : LOG_FILTER_SKIP;
}

enum log_filter_choice log_filter_choose(struct log_filter *filter, const struct txtrace_log *log,
					 const struct txtrace_record *record)
{
	uint64_t time_ns;

	if (filter->is_in_names)
		return choose_name(filter, log, record);
	time_ns = record_finished_ns(record);
	if (filter->has_range && time_ns && (time_ns < filter->from_ns || time_ns >= filter->to_ns))
		return is_name(record) && time_ns < filter->from_ns ? LOG_FILTER_NAME : LOG_FILTER_SKIP;
	return !filter->rule || is_of_span(filter, record) ? LOG_FILTER_TAKE : LOG_FILTER_SKIP;
}

static uint64_t end_ns(const struct log_filter *filter)
{
	return filter->to_ns == UINT64_MAX ? 0 : filter->to_ns;
}

int log_filter_seek(struct log_filter *filter, struct txtrace_log *log)
{
	filter->is_in_names = false;
	return log_seek_range(log, filter->from_ns, end_ns(filter));
}

/* ---- opening ---- */

static int resolve(struct log_filter *filter, const struct log_scope *scope, struct log_input *input)
{
	int status = moment_resolve(&scope->from, input, 0, &filter->from_ns);

	if (status == CLI_OK)
		status = moment_resolve(&scope->to, input, UINT64_MAX, &filter->to_ns);
	if (status)
		return status;
	filter->has_range = filter->from_ns > 0 || filter->to_ns < UINT64_MAX;
	input->census.is_range = filter->has_range;
	if (filter->from_ns >= filter->to_ns)
		return cli_fail(input->cli, "there is nothing between --from %s and --to %s",
				scope->from.text ? scope->from.text : "the beginning", scope->to.text);
	return CLI_OK;
}

int log_filter_new(struct log_filter **made, const struct log_scope *scope, struct log_input *input,
		   char *const *paths, int path_cnt)
{
	struct log_filter *filter;
	struct error error;
	int status;

	*made = NULL;
	if (!scope || !(scope->from.text || scope->to.text || scope->where))
		return CLI_OK;
	filter = calloc(1, sizeof(*filter));
	if (!filter)
		return cli_fail(input->cli, "there is not enough memory");
	status = resolve(filter, scope, input);
	if (status == CLI_OK && scope->where && trigger_rule_parse(&filter->rule, scope->where, &error))
		status = cli_fail(input->cli, "--where: %s", error.text);
	if (status == CLI_OK && filter->rule && scope->finds_spans && paths)
		status = find_all(filter, input, paths, path_cnt);
	filter->is_in_names = filter->from_ns > 0 && !scope->needs_no_names;
	if (status == CLI_OK && filter->has_range && !filter->is_in_names)
		status = log_input_seek_range(input, filter->from_ns, end_ns(filter));
	if (status) {
		log_filter_free(filter);
		return status;
	}
	*made = filter;
	return CLI_OK;
}

void log_filter_free(struct log_filter *filter)
{
	if (!filter)
		return;
	trigger_rule_free(filter->rule);
	span_set_free(filter->spans);
	free(filter);
}
