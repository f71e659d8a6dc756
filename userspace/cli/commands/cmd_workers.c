/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/thread/wakeup_report.h"
#include "analyze/thread/worker_report.h"
#include "base/units.h"
#include "cli/print/worker_print.h"
#include "cli/commands/analysis.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"

#define TOP_MAX 1000

struct workers_options {
	struct analysis_options common;
	const char *queue;
	const char *threads;
	uint64_t top;
};

struct workers_state {
	struct worker_report *report;
	struct wakeup_report *wakeups; /* NULL: nobody asks for them */
};

static const struct option_spec specs[] = {
	OPTION("queue", 'q', OPTION_STRING, "NAME",
	       "the counter (TXTRACE_COUNTER) that has the length of the program's queue",
	       offsetof(struct workers_options, queue)),
	OPTION("threads", 'T', OPTION_STRING, "GLOB",
	       "the threads with such a name are the workers; leave out others (default: all are shown, and "
	       "workers are those that ever entered a span)",
	       offsetof(struct workers_options, threads)),
	OPTION_LIMIT("show the N threads with the most time on a CPU; 0: all (default 30)"),
	OPTION("top", 't', OPTION_U64, "N",
	       "list the N longest runs, and the N longest idle sleeps (default 5)",
	       offsetof(struct workers_options, top), .maximum = TOP_MAX),
	OPTION_SORT,
	OPTIONS_OUTPUT("write one JSON object, with all threads"),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace workers",
	.about = "What each thread did: how long it was on a CPU, how long it was active between two sleeps, "
		 "how much of its time it was in spans. With "
		 "--queue, also for how long workers slept, outside of spans, while the queue was not empty.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace workers bank.txtrace", "All threads, and the longest runs." },
			{ "txtrace workers --queue 'open orders' bank.txtrace",
			  "Who slept while there was work." },
			{ "txtrace workers --queue 'open orders' --threads 'worker*' bank.txtrace",
			  "Of these threads, also those that never had any." },
			{ NULL, NULL },
		},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

static const char *reason_name(unsigned int reason)
{
	return reason == BLOCK_REASON_UNKNOWN ? "unknown" : txtrace_block_reason_name(reason);
}

/* ---- for people ---- */

static void append_begin(struct text *text, const struct log_input *input, uint64_t ns)
{
	char time[UNITS_SIZE];

	text_append_format(text, "at +%s",
			   units_format_duration(time, ns > log_input_begin_ns(input)
							       ? ns - log_input_begin_ns(input)
							       : 0));
}

/* "worker-1 4201 ran for 35.2 ms at +200 ms on CPU 1, in audit" */
static void print_runs(struct cli *cli, const struct log_input *input, const struct worker_report *report)
{
	struct text text = { 0 };
	char time[UNITS_SIZE];

	if (worker_report_run_count(report) > 0)
		text_append(&text, "longest without a break\n");
	for (size_t i = 0; i < worker_report_run_count(report); i++) {
		const struct worker_run *top = worker_report_run(report, i);
		const struct txtrace_run *run = &top->run;

		text_append(&text, "  ");
		worker_append_thread(&text, worker_report_find(report, run->pid, run->tid));
		text_append_format(&text, " ran for %s ",
				   units_format_duration(time, run->end_ns > run->begin_ns
								       ? run->end_ns - run->begin_ns
								       : 0));
		append_begin(&text, input, run->begin_ns);
		if (run->cpu != TXTRACE_CPU_UNKNOWN)
			text_append_format(&text, " on CPU %" PRIu32, run->cpu);
		if (top->in_span_ns > 0) {
			text_append(&text, ", in ");
			if (top->label_length > 0)
				text_append_escaped(&text, top->label, top->label_length);
			else
				text_append(&text, "(unknown label)");
			if (top->in_span_ns < run->end_ns - run->begin_ns)
				text_append_format(&text, " for %s",
						   units_format_duration(time, top->in_span_ns));
		}
		text_append(&text, "\n");
	}
	fprintf(cli->out.file, "%s\n", text_string(&text));
	text_release(&text);
}

/* "worker-3 4203 slept for 12.0 ms at +1.20 s (lock); the queue was 4.2 long for 10.0 ms of it" */
static void print_parked(struct cli *cli, const struct workers_options *values, const struct log_input *input,
			 const struct worker_report *report)
{
	struct text text = { 0 };
	char time[UNITS_SIZE], queued[UNITS_SIZE];

	text_append(&text, "idle while ");
	text_append_quoted(&text, values->queue, strlen(values->queue));
	if (worker_report_queue_count(report) == 0)
		text_append(&text, " was above 0: there is no such counter in the log\n");
	else if (worker_report_parked_count(report) == 0)
		text_append(&text, " was above 0: no thread\n");
	else
		text_append(&text, " was above 0\n");
	for (size_t i = 0; i < worker_report_parked_count(report); i++) {
		const struct worker_parked *parked = worker_report_parked(report, i);

		text_append(&text, "  ");
		worker_append_thread(&text, worker_report_find(report, parked->pid, parked->tid));
		text_append_format(&text, " slept for %s ",
				   units_format_duration(time, parked->end_ns - parked->begin_ns));
		append_begin(&text, input, parked->begin_ns);
		text_append_format(&text, " (%s), %s of it with %.1f in the queue\n",
				   reason_name(parked->reason),
				   units_format_duration(queued, parked->queued_ns), parked->mean_depth);
	}
	fprintf(cli->out.file, "%s\n", text_string(&text));
	text_release(&text);
}

static struct worker_table_options table_of(const struct analysis_run *run)
{
	const struct workers_options *values = run->values;

	return (struct worker_table_options){
		.row_limit = (size_t)values->common.limit,
		.has_spans = run->input->census.record_cnt[TXTRACE_RECORD_SPAN] || values->queue,
		.has_queue = values->queue
	};
}

static bool has_column(const struct analysis_run *run, const struct column *column)
{
	const struct worker_table_options table = table_of(run);

	return run->common->wants_csv || run->common->wants_json ||
	       worker_has_column(((const struct workers_state *)run->state)->report, &table, column);
}

static int notes(struct analysis_run *run)
{
	const struct worker_report *report = ((const struct workers_state *)run->state)->report;
	const struct workers_options *values = run->values;
	struct cli *cli = run->cli;
	char count[UNITS_SIZE];

	fputc('\n', cli->out.file);
	print_runs(cli, run->input, report);
	if (values->queue)
		print_parked(cli, values, run->input, report);
	if (worker_report_hidden_count(report) > 0)
		fprintf(cli->out.file, "too many threads: %s runs of others are left out\n\n",
			units_format_count(count, worker_report_hidden_count(report)));
	if (worker_report_is_coarse(report))
		fputs("some threads were in very long spans: their time in spans is at least, and their idle "
		      "time at most, what is shown\n\n",
		      cli->out.file);
	return 0;
}

/* ---- for machines ---- */

static void thread_json(struct json *json, const struct worker_row *row)
{
	json_member_u64(json, "pid", row->pid);
	json_member_u64(json, "tid", row->tid);
	if (row->name_length > 0)
		json_member_string(json, "thread_name", row->name, row->name_length);
	else
		json_member_null(json, "thread_name");
}

/* How it slept and woke; no runs: nothing is known of that. */
static void wakeups_json(struct json *json, const struct wakeup_row *row)
{
	json_name(json, "wakeups");
	if (!row) {
		json_null(json);
		return;
	}
	json_object_begin(json);
	json_member_u64(json, "sleeps", row->sleep_cnt);
	json_member_u64(json, "sleeps_above_10ms", row->long_sleep_cnt);
	json_member_u64(json, "wakeups", row->wakeup_cnt);
	json_member_u64(json, "wait_ns", row->wait_ns);
	json_member_u64(json, "longest_wait_ns", row->longest_wait_ns);
	json_member_u64(json, "waits_above_100us", row->long_wait_cnt);
	json_member_u64(json, "periods", row->period_cnt);
	json_member_u64(json, "measured_periods", row->measured_cnt);
	json_member_u64(json, "periods_95_percent_on_cpu", row->busy_cnt);
	json_member_u64(json, "periods_below_50_percent_on_cpu", row->slack_cnt);
	if (row->measured_cnt > 0)
		json_member_double(json, "mean_ratio", row->ratio_sum / (double)row->measured_cnt);
	else
		json_member_null(json, "mean_ratio");
	json_object_end(json);
}

static void row_json(const struct analysis_run *run, const void *row, struct json *json)
{
	const struct worker_row *worker = row;

	wakeups_json(json, wakeup_report_find(((const struct workers_state *)run->state)->wakeups,
					      worker->pid, worker->tid));
}

static void idle_wakeups_json(struct json *json, const struct worker_report *report,
			      const struct wakeup_report *wakeups)
{
	const struct wakeup_idle *idle;

	json_member_u64(json, "idle_wakeup_count", wakeup_report_idle_count(wakeups));
	json_name(json, "idle_wakeups");
	json_array_begin(json);
	for (size_t i = 0; (idle = wakeup_report_idle(wakeups, i)); i++) {
		const struct worker_row *row = worker_report_find(report, idle->pid, idle->tid);

		json_object_begin(json);
		json_member_u64(json, "pid", idle->pid);
		json_member_u64(json, "tid", idle->tid);
		if (row && row->name_length > 0)
			json_member_string(json, "thread_name", row->name, row->name_length);
		else
			json_member_null(json, "thread_name");
		json_member_u64(json, "begin_ns", idle->begin_ns);
		json_member_u64(json, "end_ns", idle->end_ns);
		json_member_i64(json, "depth", idle->depth);
		json_object_end(json);
	}
	json_array_end(json);
}

static void counters_json(struct json *json, const struct wakeup_report *wakeups)
{
	const struct wakeup_counter *counter;

	json_name(json, "counters");
	json_array_begin(json);
	for (size_t i = 0; (counter = wakeup_report_counter(wakeups, i)); i++) {
		json_object_begin(json);
		json_member_u64(json, "pid", counter->pid);
		json_member_u64(json, "tid", counter->tid);
		json_member_string(json, "name", counter->name, counter->name_length);
		json_member_u64(json, "count", counter->cnt);
		json_member_i64(json, "max", counter->maximum);
		json_member_double(json, "mean", counter->sum / (double)counter->cnt);
		json_object_end(json);
	}
	json_array_end(json);
}

static void runs_json(struct json *json, const struct worker_report *report)
{
	json_name(json, "longest_runs");
	json_array_begin(json);
	for (size_t i = 0; i < worker_report_run_count(report); i++) {
		const struct worker_run *top = worker_report_run(report, i);

		json_object_begin(json);
		thread_json(json, worker_report_find(report, top->run.pid, top->run.tid));
		json_member_u64(json, "begin_ns", top->run.begin_ns);
		json_member_u64(json, "end_ns", top->run.end_ns);
		json_member_u64(json, "cpu", top->run.cpu);
		json_member_u64(json, "in_span_ns", top->in_span_ns);
		if (top->in_span_ns > 0)
			json_member_string(json, "label", top->label, top->label_length);
		else
			json_member_null(json, "label");
		json_object_end(json);
	}
	json_array_end(json);
}

static void parked_json(struct json *json, const struct worker_report *report)
{
	json_name(json, "longest_idle");
	json_array_begin(json);
	for (size_t i = 0; i < worker_report_parked_count(report); i++) {
		const struct worker_parked *parked = worker_report_parked(report, i);

		json_object_begin(json);
		thread_json(json, worker_report_find(report, parked->pid, parked->tid));
		json_member_u64(json, "begin_ns", parked->begin_ns);
		json_member_u64(json, "end_ns", parked->end_ns);
		json_member_u64(json, "queued_ns", parked->queued_ns);
		json_name(json, "mean_depth");
		json_fixed(json, parked->mean_depth, 3);
		json_member_text(json, "reason", reason_name(parked->reason));
		json_object_end(json);
	}
	json_array_end(json);
}

static void head_json(struct analysis_run *run, struct json *json)
{
	const struct workers_state *state = run->state;
	const struct workers_options *values = run->values;

	json_member_text(json, "queue", values->queue);
	json_member_u64(json, "queue_counters", worker_report_queue_count(state->report));
}

static void tail_json(struct analysis_run *run, struct json *json)
{
	const struct workers_state *state = run->state;

	runs_json(json, state->report);
	parked_json(json, state->report);
	idle_wakeups_json(json, state->report, state->wakeups);
	counters_json(json, state->wakeups);
	json_member_u64(json, "hidden_runs", worker_report_hidden_count(state->report));
	json_member_bool(json, "coarse", worker_report_is_coarse(state->report));
}

/* ---- the analysis ---- */

static void free_state(void *made)
{
	struct workers_state *state = made;

	wakeup_report_free(state->wakeups);
	worker_report_free(state->report);
	free(state);
}

static void *new_state(struct analysis_run *run)
{
	const struct workers_options *values = run->values;
	struct workers_state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->report = worker_report_new(values->queue, values->threads, (size_t)values->top);
	if (values->common.wants_json)
		state->wakeups = wakeup_report_new(values->queue);
	if (state->report && (state->wakeups || !values->common.wants_json))
		return state;
	free_state(state);
	return NULL;
}

static int begin_capture(struct analysis_run *run)
{
	struct workers_state *state = run->state;

	worker_report_begin_capture(state->report);
	if (state->wakeups)
		wakeup_report_begin_capture(state->wakeups);
	return 0;
}

static int add(struct analysis_run *run, const struct txtrace_record *record)
{
	struct workers_state *state = run->state;
	int err = worker_report_add(state->report, record);

	return err || !state->wakeups ? err : wakeup_report_add(state->wakeups, record);
}

static int finish(struct analysis_run *run)
{
	worker_report_finish(((struct workers_state *)run->state)->report);
	return 0;
}

static int rows(struct analysis_run *run, struct row_list *list)
{
	const struct worker_report *report = ((const struct workers_state *)run->state)->report;

	for (size_t i = 0; i < worker_report_row_count(report); i++)
		row_list_add(list, worker_report_row(report, i));
	return 0;
}

static const struct workers_options defaults = { .common = { .limit = 30 }, .top = 5 };

static const struct analysis analysis = {
	.type = "workers",
	.rows_names = { "threads" },
	.what = "report on the threads of",
	.no_rows = "no threads",
	.more = " threads",
	.columns = worker_columns,
	.sorts_text = true,
	.finds_spans = true,
	.new = new_state,
	.free = free_state,
	.passes = { { begin_capture, add, finish } },
	.has_column = has_column,
	.rows = rows,
	.row_json = row_json,
	.notes = notes,
	.head_json = head_json,
	.tail_json = tail_json,
	.values_bytes = sizeof(defaults),
	.defaults = &defaults,
};

const struct command command_workers = { "workers", "what each thread did, who was idle while there was work",
					 &options, .analysis = &analysis };
