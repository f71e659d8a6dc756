/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/span_choice.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/files/capture_info.h"
#include "cli/print/ledger_part.h"
#include "cli/files/log_input.h"
#include "cli/print/party_print.h"

#define LABEL_COLUMNS_MAX 30
#define THREAD_COLUMNS_MAX 16
#define TAG_COLUMNS_MAX 80

const char *const window_state_names[] = {
	[WINDOW_ON_CPU] = "on_cpu",
	[WINDOW_RUNNABLE] = "runnable",
	[WINDOW_BLOCKED] = "blocked",
	[WINDOW_UNKNOWN] = "unknown",
};

/* ---- three readings ---- */

static int find(struct chosen_span *chosen, const struct txtrace_record *record)
{
	if (record->kind == TXTRACE_RECORD_THREAD)
		thread_names_add(chosen->names, &record->thread);
	return span_query_add(&chosen->query, record);
}

static int add_spans(struct chosen_span *chosen, const struct txtrace_record *record)
{
	return span_window_add_spans(&chosen->window, record);
}

static int add_threads(struct chosen_span *chosen, const struct txtrace_record *record)
{
	return span_window_add_threads(&chosen->window, record);
}

/*
 * Returns enum cli_status of the reading; *err: what went wrong with the records. Only the first reading says
 * what is missing in the log.
 */
static int read_all(struct cli *cli, struct chosen_span *chosen, const struct options_result *operands,
		    bool is_first,
		    int (*add)(struct chosen_span *chosen, const struct txtrace_record *record), int *err)
{
	struct txtrace_record record;
	struct log_input input;
	int status = log_input_open(&input, cli, operands->operands, operands->operand_cnt - 1, true);

	if (status)
		return status;
	input.is_quiet = !is_first;
	if (log_input_check_one_capture(&input)) {
		log_input_close(&input);
		return CLI_FAILED;
	}
	while (!*err && log_input_next(&input, &record))
		*err = add(chosen, &record);
	if (is_first) {
		chosen->info = input.info;
		chosen->census = input.census;
	}
	return log_input_close(&input);
}

static bool complain(struct cli *cli, const struct span_choice *choice, const struct chosen_span *chosen,
		     const char *path, const char *id)
{
	if (chosen->query.is_found) {
		if (chosen->query.match_cnt > 1)
			cli_warn(cli,
				 "'%s' has %" PRIu64 " spans with the id %s; this is number %" PRIu64
				 ": --pid and --nth choose another",
				 path, chosen->query.match_cnt, id, choice->nth);
		return false;
	}
	if (chosen->query.match_cnt > 0)
		cli_fail(cli, "'%s' has only %" PRIu64 " spans with the id %s", path, chosen->query.match_cnt,
			 id);
	else
		cli_fail(cli, "'%s' has no %sspan with the id %s%s, see 'txtrace spans --json' for ids", path,
			 choice->is_keyed ? "keyed " : "", id, choice->pid ? " in this process" : "");
	return true;
}

static const char *id_of(const struct options_result *operands)
{
	return operands->operands[operands->operand_cnt - 1];
}

static int load(struct cli *cli, const struct span_choice *choice, const struct options_result *operands,
		bool wants_all_threads, struct chosen_span *chosen, int *err)
{
	int status = read_all(cli, chosen, operands, true, find, err);

	chosen->status = status;
	if (status == CLI_FAILED || *err)
		return status;
	span_query_found(&chosen->query, chosen->census.last_ns);
	if (complain(cli, choice, chosen, operands->operands[0], id_of(operands)))
		return CLI_FAILED;
	*err = span_window_init(&chosen->window, &chosen->query, wants_all_threads, choice->max_memory_bytes,
				chosen->info.kernel);
	if (!*err)
		status = read_all(cli, chosen, operands, false, add_spans, err);
	if (!*err && status != CLI_FAILED)
		*err = span_window_link(&chosen->window);
	if (!*err && status != CLI_FAILED)
		status = read_all(cli, chosen, operands, false, add_threads, err);
	if (!*err && status != CLI_FAILED)
		*err = span_window_finish(&chosen->window);
	return status;
}

bool span_choice_load(struct cli *cli, const struct span_choice *choice,
		      const struct options_result *operands, bool wants_all_threads,
		      struct chosen_span *chosen, int *status)
{
	int err;

	cli->nest = choice->nest;
	*chosen = (struct chosen_span){
		.query = { .pid = (uint32_t)choice->pid, .nth = choice->nth, .is_keyed = choice->is_keyed }
	};
	if (units_parse_u64(id_of(operands), &chosen->query.id)) {
		*status = cli_fail(cli, "'%s' is no id of a span: a number, see 'txtrace spans --json'",
				   id_of(operands));
		return false;
	}
	err = span_query_init(&chosen->query);
	chosen->names = thread_names_new();
	if (!chosen->names)
		err = -ENOMEM;
	*status = err ? CLI_OK : load(cli, choice, operands, wants_all_threads, chosen, &err);
	if (err)
		*status = cli_fail(cli, "can't read about the span %s in '%s': %s", id_of(operands),
				   operands->operands[0], strerror(-err));
	if (*status != CLI_FAILED)
		return true;
	chosen_span_release(chosen);
	return false;
}

void chosen_span_release(struct chosen_span *chosen)
{
	if (chosen->window.strings)
		span_window_release(&chosen->window);
	span_query_release(&chosen->query);
	thread_names_free(chosen->names);
}

/* ---- words ---- */

void chosen_span_append_thread(const struct chosen_span *chosen, struct text *text, uint32_t pid,
			       uint32_t tid)
{
	struct txtrace_string name = thread_names_get(chosen->names, pid, tid);

	text_append_clipped(text, name.bytes, name.length, THREAD_COLUMNS_MAX);
	text_append_format(text, "%s%" PRIu32, name.length ? " " : "", tid);
}

void chosen_span_append_label(const struct chosen_span *chosen, struct text *text, size_t span)
{
	struct party party = { .kind = span == WINDOW_NO_SPAN ? PARTY_NO_SPAN : PARTY_SPAN };

	if (span != WINDOW_NO_SPAN)
		party.name = chosen->window.spans[span].span.label;
	party_append(text, &party);
}

static struct party waker_party(const struct chosen_span *chosen, const struct window_segment *wait)
{
	const struct txtrace_wake *wake = &wait->wake;
	size_t span;

	if (!wait->has_wake)
		return (struct party){ .kind = PARTY_UNSEEN };
	if (wake->flags & TXTRACE_WAKE_WAKER_UNKNOWN)
		return (struct party){ .kind = PARTY_UNKNOWN };
	if (wake->flags & TXTRACE_WAKE_INTERRUPT)
		return (struct party){ .kind = party_of_interrupt(wake->flags) };
	if (wake->waker_span) {
		span = span_window_find(&chosen->window, wake->flags & TXTRACE_WAKE_WAKER_SPAN_KEYED,
					wake->waker_pid, wake->waker_span, wake->time_ns);
		return (struct party){ .kind = PARTY_SPAN,
				       .name = span == WINDOW_NO_SPAN
						       ? (struct txtrace_string){ NULL, 0 }
						       : chosen->window.spans[span].span.label };
	}
	if (!wake->waker_tid && !wake->waker_comm.length)
		return (struct party){ .kind = PARTY_UNKNOWN };
	return (struct party){ .kind = PARTY_THREAD, .name = wake->waker_comm };
}

void chosen_span_append_waker(const struct chosen_span *chosen, struct text *text,
			      const struct window_segment *wait)
{
	struct party party = waker_party(chosen, wait);

	if (party.kind == PARTY_UNSEEN)
		return;
	if (party.kind != PARTY_THREAD)
		party_append(text, &party);
	if (party.kind == PARTY_SPAN)
		text_append(text, " (");
	if (party.kind == PARTY_SPAN || party.kind == PARTY_THREAD) {
		text_append_clipped(text, wait->wake.waker_comm.bytes, wait->wake.waker_comm.length,
				    THREAD_COLUMNS_MAX);
		text_append_format(text, "%s%" PRIu32, wait->wake.waker_comm.length ? " " : "",
				   wait->wake.waker_tid);
	}
	if (party.kind == PARTY_SPAN)
		text_append(text, ")");
}

void chosen_span_waker_json(const struct chosen_span *chosen, struct json *json,
			    const struct window_segment *wait)
{
	struct party party = waker_party(chosen, wait);

	party_json(json, "waker", &party);
	if (party.kind != PARTY_SPAN && party.kind != PARTY_THREAD)
		return;
	json_member_u64(json, "waker_pid", wait->wake.waker_pid);
	json_member_u64(json, "waker_tid", wait->wake.waker_tid);
	json_member_u64_string(json, "waker_span", wait->wake.waker_span);
}

/* ---- above and below ---- */

static void append_bound(struct text *text, const struct txtrace_span *span)
{
	if (!(span->flags & TXTRACE_SPAN_LOWER_BOUND))
		return;
	text_append(text, "\n  a lower bound: ");
	if (span->flags & TXTRACE_SPAN_UNFINISHED)
		text_append(text, "it never ended; the end is that of its process or of the capture");
	else if (span->flags & TXTRACE_SPAN_LOSS)
		text_append(text, "lost events may have affected it");
	else
		text_append(text, "its ledger is incomplete");
}

void chosen_span_print_header(const struct chosen_span *chosen, const struct screen *screen)
{
	const struct txtrace_span *span = &chosen->window.span;
	uint64_t work_ns = txtrace_ledger_sum_ns(&span->ledger), wall_ns = span_wall_ns(span);
	uint64_t offset_ns = span->begin_ns > chosen->census.first_ns
				     ? span->begin_ns - chosen->census.first_ns
				     : 0;
	struct text text = { 0 };
	char time[UNITS_SIZE];

	chosen_span_append_label(chosen, &text, chosen->window.self);
	text_append_format(&text, "  %s%s, %sid %" PRIu64 " of process %" PRIu32,
			   span->flags & TXTRACE_SPAN_LOWER_BOUND ? ">=" : "",
			   units_format_duration(time, wall_ns),
			   span->flags & TXTRACE_SPAN_KEYED ? "keyed, " : "", span->id, span->pid);
	if (span->tag.length > 0) {
		text_append(&text, "\n  tag ");
		text_append_clipped(&text, span->tag.bytes, span->tag.length, TAG_COLUMNS_MAX);
	}
	if (span->key.length > 0) {
		text_append(&text, "\n  key ");
		text_append_clipped(&text, span->key.bytes, span->key.length, TAG_COLUMNS_MAX);
	}
	text_append_format(&text, "\n  begun %s%s into the log by ", offset_ns ? "+" : "",
			   units_format_duration(time, offset_ns));
	chosen_span_append_thread(chosen, &text, span->pid, span->tid);
	if (span->end_tid && span->end_tid != span->tid) {
		text_append(&text, ", ended by ");
		chosen_span_append_thread(chosen, &text, span->pid, span->end_tid);
	}
	append_bound(&text, span);
	text_append(&text, "\n  ");
	if (span->work_ns != wall_ns)
		text_append_format(&text, "work %s: ", units_format_duration(time, span->work_ns));
	if (work_ns > 0)
		ledger_list(&text, &span->ledger, work_ns, 1, 2, screen->columns);
	fprintf(screen->file, "%s\n\n", text_string(&text));
	text_release(&text);
}

void chosen_span_print_missing(const struct chosen_span *chosen, const struct screen *screen)
{
	if (chosen->window.is_full)
		fputs("\nmemory used up: a part of what happened is missing here; --max-memory allows more\n",
		      screen->file);
}
