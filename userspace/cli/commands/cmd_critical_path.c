/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/span/critical_path.h"
#include "base/table.h"
#include "base/units.h"
#include "cli/files/capture_info.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/print/ledger_part.h"
#include "cli/print/party_print.h"
#include "cli/print/span_choice.h"
#include "cli/print/span_json.h"

#define SUMS_SHOWN_MAX 10

struct path_options {
	struct span_choice choice;
	uint64_t limit;
	bool is_all;
	bool wants_json;
};

static const struct option_spec specs[] = {
	SPAN_CHOICE_OPTIONS(struct path_options),
	OPTION("limit", 'n', OPTION_U64, "N", "show the N longest steps (default 100)",
	       offsetof(struct path_options, limit), .minimum = 1),
	OPTION("all", 'a', OPTION_FLAG, NULL, "show all steps", offsetof(struct path_options, is_all)),
	OPTION("json", 0, OPTION_FLAG, NULL, "write one JSON object, with all steps",
	       offsetof(struct path_options, wants_json)),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace critical-path",
	.about = "Shows what the end of a span was waiting for, from its begin on: where its thread was "
		 "blocked, what its waker did, and so on through all threads. The steps follow each other "
		 "without a gap and add up to the span's wall time.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6 ID", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace critical-path bank.txtrace 4711",
		  "Why the span with the id 4711 took as long as it did." },
		{ NULL, NULL },
	},
	.notes = exit_status_notes,
	.operand = "FILE or ID",
	.operand_min = 2,
	.operand_max = -1,
};

/* How much of the path is of one label in one state. */
struct path_sum {
	struct txtrace_string label;
	bool has_span;
	uint8_t state;
	uint64_t ns;
};

static uint64_t length(const struct path_step *step)
{
	return step->to_ns - step->from_ns;
}

/* ---- for people ---- */

static int compare_groups(const void *a, const void *b)
{
	const struct path_sum *x = a, *y = b;
	size_t shorter = x->label.length < y->label.length ? x->label.length : y->label.length;
	int order = shorter > 0 ? memcmp(x->label.bytes, y->label.bytes, shorter) : 0;

	if (x->has_span != y->has_span)
		return x->has_span ? -1 : 1;
	if (order)
		return order;
	if (x->label.length != y->label.length)
		return x->label.length < y->label.length ? -1 : 1;
	return (int)x->state - (int)y->state;
}

static int compare_sums(const void *a, const void *b)
{
	const struct path_sum *x = a, *y = b;

	return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : compare_groups(a, b);
}

static size_t make_sums(const struct span_window *window, const struct critical_path *path,
			struct path_sum *sums)
{
	size_t cnt = 0;

	for (size_t i = 0; i < path->cnt; i++) {
		const struct path_step *step = &path->steps[i];

		sums[i] = (struct path_sum){ .has_span = step->span != WINDOW_NO_SPAN,
					     .state = step->state,
					     .ns = length(step) };
		if (sums[i].has_span)
			sums[i].label = window->spans[step->span].span.label;
	}
	qsort(sums, path->cnt, sizeof(*sums), compare_groups);
	for (size_t i = 0; i < path->cnt; i++) {
		if (cnt > 0 && compare_groups(&sums[cnt - 1], &sums[i]) == 0)
			sums[cnt - 1].ns += sums[i].ns;
		else
			sums[cnt++] = sums[i];
	}
	qsort(sums, cnt, sizeof(*sums), compare_sums);
	return cnt;
}

static const char *const state_words[] = {
	[WINDOW_ON_CPU] = "on a CPU",
	[WINDOW_RUNNABLE] = "waiting for a CPU",
	[WINDOW_BLOCKED] = "blocked",
	[WINDOW_UNKNOWN] = "not in the log",
};

static int print_sums(const struct chosen_span *chosen, const struct critical_path *path,
		      const struct screen *screen)
{
	static const struct table_column columns[] = {
		{ "of the path", TABLE_RIGHT, NULL },
		{ "", TABLE_RIGHT, NULL },
		{ "for", TABLE_LEFT, NULL },
		{ "", TABLE_LEFT, NULL },
	};
	struct path_sum *sums = calloc(path->cnt + 1, sizeof(*sums));
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	uint64_t wall_ns = chosen->window.end_ns - chosen->window.begin_ns;
	char number[UNITS_SIZE];
	int err = -ENOMEM;
	size_t cnt;

	if (sums) {
		cnt = make_sums(&chosen->window, path, sums);
		for (size_t i = 0; i < cnt && i < SUMS_SHOWN_MAX; i++) {
			struct party party = { .kind = sums[i].has_span ? PARTY_SPAN : PARTY_NO_SPAN,
					       .name = sums[i].label };
			struct text text = { 0 };

			table_cell(table, TABLE_PLAIN, units_format_duration(number, sums[i].ns));
			table_cell(table, TABLE_PLAIN, units_format_share(number, sums[i].ns, wall_ns));
			party_append(&text, &party);
			table_cell(table, TABLE_BOLD, text_string(&text));
			table_cell(table, TABLE_PLAIN, state_words[sums[i].state]);
			text_release(&text);
		}
		err = screen_print_table(screen, table);
		fputc('\n', screen->file);
	}
	table_free(table);
	free(sums);
	return err;
}

/* Why it is on the path: what it was blocked for, or whom it kept waiting. */
static void append_why(const struct chosen_span *chosen, struct text *text, const struct path_step *step)
{
	const struct window_segment *wait = step->wait ? step->wait : step->kept;

	if (!wait)
		return;
	if (!step->wait)
		text_append_format(text, "keeps %" PRIu32 " waiting: ", step->kept->wake.tid);
	wait_what_append(text, &wait->object);
	if (!step->wait)
		return;
	if (wait->is_open) {
		text_append(text, "; not woken before the log ends");
	} else if (wait->has_wake) {
		text_append(text, "; ended by ");
		chosen_span_append_waker(chosen, text, wait);
	} else {
		text_append(text, "; who ended it is not in the log");
	}
}

static void add_step(const struct chosen_span *chosen, struct table *table, const struct path_step *step)
{
	struct text text = { 0 };
	char time[UNITS_SIZE];

	table_cell(table, TABLE_PLAIN, units_format_duration(time, step->from_ns - chosen->window.begin_ns));
	table_cell(table, TABLE_PLAIN, units_format_duration(time, length(step)));
	for (uint32_t i = 0; i < step->depth && i < 8; i++)
		text_append(&text, "  ");
	chosen_span_append_thread(chosen, &text, step->pid, step->tid);
	table_cell(table, TABLE_PLAIN, text_string(&text));
	text_clear(&text);
	chosen_span_append_label(chosen, &text, step->span);
	table_cell(table, TABLE_BOLD, text_string(&text));
	table_cell(table, step->state == WINDOW_UNKNOWN ? TABLE_PLAIN : ledger_parts[step->state].style,
		   state_words[step->state]);
	text_clear(&text);
	append_why(chosen, &text, step);
	table_cell(table, TABLE_PLAIN, text_string(&text));
	text_release(&text);
}

static int compare_lengths(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

/* The length of the limit-th longest step: shorter ones are not shown. 0: all are. */
static int find_least(const struct critical_path *path, size_t limit, uint64_t *least_ns)
{
	uint64_t *lengths;

	*least_ns = 0;
	if (!limit || path->cnt <= limit)
		return 0;
	lengths = calloc(path->cnt, sizeof(*lengths));
	if (!lengths)
		return -ENOMEM;
	for (size_t i = 0; i < path->cnt; i++)
		lengths[i] = length(&path->steps[i]);
	qsort(lengths, path->cnt, sizeof(*lengths), compare_lengths);
	*least_ns = lengths[limit - 1];
	free(lengths);
	return 0;
}

static int print_steps(const struct chosen_span *chosen, const struct critical_path *path,
		       const struct screen *screen, size_t limit)
{
	static const struct table_column columns[] = {
		{ "from", TABLE_RIGHT, NULL },	{ "for", TABLE_RIGHT, NULL },
		{ "thread", TABLE_LEFT, NULL }, { "works for", TABLE_LEFT, NULL },
		{ "and is", TABLE_LEFT, NULL }, { "why", TABLE_LEFT, NULL },
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	uint64_t least_ns, hidden_ns = 0, hidden_cnt = 0;
	char count[UNITS_SIZE], time[UNITS_SIZE];
	int err = find_least(path, limit, &least_ns);

	for (size_t i = 0, shown = 0; i < path->cnt && !err; i++) {
		if (length(&path->steps[i]) < least_ns || (limit && shown == limit)) {
			hidden_ns += length(&path->steps[i]);
			hidden_cnt++;
		} else {
			add_step(chosen, table, &path->steps[i]);
			shown++;
		}
	}
	err = err ? err : screen_print_table(screen, table);
	table_free(table);
	if (hidden_cnt > 0)
		fprintf(screen->file, "\n%s shorter steps, %s in all, are not shown: --all shows them\n",
			units_format_count(count, hidden_cnt), units_format_duration(time, hidden_ns));
	if (path->is_cut)
		fputs("\ntoo many threads wait one for the other: the last of them is not followed\n",
		      screen->file);
	return err;
}

static int print_text(const struct chosen_span *chosen, const struct critical_path *path,
		      const struct screen *screen, size_t limit)
{
	int err;

	chosen_span_print_header(chosen, screen);
	err = print_sums(chosen, path, screen);
	err = err ? err : print_steps(chosen, path, screen, limit);
	chosen_span_print_missing(chosen, screen);
	return err;
}

/* ---- for machines ---- */

static void wait_json(const struct chosen_span *chosen, struct json *json, const char *name,
		      const struct window_segment *wait)
{
	json_name(json, name);
	if (!wait) {
		json_null(json);
		return;
	}
	json_object_begin(json);
	json_member_u64(json, "from_ns", wait->from_ns);
	json_member_u64(json, "to_ns", wait->to_ns);
	wait_object_json(json, &wait->object);
	json_member_bool(json, "open", wait->is_open);
	chosen_span_waker_json(chosen, json, wait);
	json_object_end(json);
}

static void step_json(const struct chosen_span *chosen, struct json *json, const struct path_step *step)
{
	const struct txtrace_span *span = step->span == WINDOW_NO_SPAN
						  ? NULL
						  : &chosen->window.spans[step->span].span;

	json_object_begin(json);
	json_member_u64(json, "from_ns", step->from_ns);
	json_member_u64(json, "to_ns", step->to_ns);
	json_member_u64(json, "pid", step->pid);
	json_member_u64(json, "tid", step->tid);
	json_member_u64(json, "depth", step->depth);
	json_member_text(json, "state", window_state_names[step->state]);
	if (span) {
		json_member_u64_string(json, "span", span->id);
		json_member_string(json, "label", span->label.bytes, span->label.length);
	} else {
		json_member_null(json, "span");
		json_member_null(json, "label");
	}
	wait_json(chosen, json, "wait", step->wait);
	wait_json(chosen, json, "kept", step->kept);
	json_object_end(json);
}

static int print_json(struct cli *cli, const struct chosen_span *chosen, const struct critical_path *path)
{
	struct json json;

	cli_begin_json(cli, &json);
	capture_json_begin(&json, "critical-path", &chosen->info);
	json_name(&json, "span");
	span_json(&json, &chosen->window.span,
		  thread_names_get(chosen->names, chosen->window.span.pid, chosen->window.span.tid));
	json_name(&json, "steps");
	json_array_begin(&json);
	for (size_t i = 0; i < path->cnt; i++)
		step_json(chosen, &json, &path->steps[i]);
	json_array_end(&json);
	json_member_bool(&json, "cut", path->is_cut);
	json_member_bool(&json, "memory_used_up", chosen->window.is_full);
	capture_json_end(&json, &chosen->census);
	return cli_finish_json(cli, &json);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct path_options values = { .choice = SPAN_CHOICE_DEFAULTS, .limit = 100 };
	struct options_result result;
	struct critical_path path;
	struct chosen_span chosen;
	int status, err;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status) ||
	    !span_choice_load(cli, &values.choice, &result, true, &chosen, &status))
		return status;
	err = critical_path_init(&path, &chosen.window);
	if (!err) {
		err = values.wants_json
			      ? print_json(cli, &chosen, &path)
			      : print_text(&chosen, &path, &cli->out, values.is_all ? 0 : values.limit);
		critical_path_release(&path);
	}
	status = err ? cli_fail(cli, "can't find the critical path: %s", strerror(-err)) : chosen.status;
	chosen_span_release(&chosen);
	return status;
}

const struct command command_critical_path = { "critical-path", "what the end of one span waited for",
					       &options, .run = run };
