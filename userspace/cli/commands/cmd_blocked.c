/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/wait/blocked.h"
#include "base/table.h"
#include "base/units.h"
#include "cli/files/capture_info.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/files/log_input.h"
#include "cli/print/party_print.h"

#define NAME_COLUMNS_MAX 20

struct blocked_options {
	unsigned int by;
	uint64_t limit;
	uint64_t max_memory_bytes;
	bool wants_json;
};

static const char *const by_names[] = {
	[BLOCKED_BY_OBJECT] = "object", [BLOCKED_BY_REASON] = "reason", [BLOCKED_BY_LABEL] = "label", NULL
};

static const struct option_spec specs[] = {
	OPTION("by", 'b', OPTION_CHOICE, "BY",
	       "a row for each object (the default), reason, or label that waited; in a log without spans, "
	       "thread",
	       offsetof(struct blocked_options, by), .choices = by_names),
	OPTION("limit", 'n', OPTION_U64, "N",
	       "show N rows, those with the most blocked time; 0: all (default 20)",
	       offsetof(struct blocked_options, limit)),
	OPTION("max-memory", 0, OPTION_SIZE, "SIZE",
	       "use no more for what is summed up; what is new beyond it is counted together (default 512M)",
	       offsetof(struct blocked_options, max_memory_bytes), .minimum = 1 << 16),
	OPTION("json", 0, OPTION_FLAG, NULL, "write one JSON object, with all rows",
	       offsetof(struct blocked_options, wants_json)),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace blocked",
	.about = "What threads waited for, by cost: the futex, file descriptor, sleep or system call, how "
		 "often and how long, which label waited "
		 "most for it, and who ended the waits.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace blocked bank.txtrace", "The 20 objects that cost most." },
		{ "txtrace blocked --by label bank.txtrace", "What each label waited for." },
		{ NULL, NULL },
	},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

struct view {
	const struct wait_sums *sums;
	const struct blocked *blocked;
	const struct log_input *input;
	enum blocked_by by;
	size_t limit;
};

/* ---- for people ---- */

static bool has_several_processes(const struct wait_sums *sums)
{
	uint32_t pid = 0;

	for (uint32_t i = 0; i < wait_sums_object_count(sums); i++) {
		uint32_t other = wait_sums_object(sums, i)->pid;

		if (pid && other && pid != other)
			return true;
		pid = other ? other : pid;
	}
	return false;
}

/*
 * "lock, futex 0x1000", "sleep of 5.00 ms", "other, getrandom"; before it the process, if there are several.
 */
static void append_object(const struct view *view, struct text *text, uint32_t number, bool shows_pid)
{
	const struct wait_object *object = wait_sums_object(view->sums, number);

	if (shows_pid && object->pid)
		text_append_format(text, "%" PRIu32 ": ", object->pid);
	if (object->kind == WAIT_OBJECT_REST)
		wait_object_append(text, object);
	else
		wait_what_append(text, object);
}

static void append_name(const struct view *view, struct text *text, uint32_t key, bool shows_pid)
{
	struct party party;

	if (view->by == BLOCKED_BY_OBJECT) {
		append_object(view, text, key, shows_pid);
	} else if (view->by == BLOCKED_BY_REASON) {
		text_append(text, key < WAIT_REASON_COUNT ? wait_reason_name(key) : "(all others)");
	} else {
		party = wait_sums_party(view->sums, key);
		party_append(text, &party);
	}
}

/* "checkout 70 %": the largest share, and how much of the row it is. */
static void add_share(const struct view *view, struct table *table, const struct blocked_share *share,
		      uint64_t row_ns)
{
	struct party party = wait_sums_party(view->sums, share->party);
	struct text text = { 0 };
	char part[UNITS_SIZE];

	party_append(&text, &party);
	if (share->ns < row_ns)
		text_append_format(&text, " %s", units_format_share(part, share->ns, row_ns));
	table_cell(table, TABLE_PLAIN, text_string(&text));
	text_release(&text);
}

static void add_row(const struct view *view, struct table *table, const struct blocked_row *row,
		    bool shows_pid)
{
	struct text text = { 0 };
	char number[UNITS_SIZE];

	table_cell(table, TABLE_PLAIN, units_format_duration(number, row->ns));
	table_cell(table, TABLE_PLAIN, units_format_count(number, row->cnt));
	table_cell(table, TABLE_PLAIN, units_format_duration(number, row->cnt ? row->ns / row->cnt : 0));
	table_cell(table, TABLE_PLAIN, units_format_duration(number, row->max_ns));
	if (view->by != BLOCKED_BY_LABEL)
		add_share(view, table, row->waiters, row->ns);
	add_share(view, table, row->wakers, row->ns);
	append_name(view, &text, row->key, shows_pid);
	table_cell(table, TABLE_BOLD, text_string(&text));
	text_clear(&text);
	wait_reasons_append(&text, row->reason_ns);
	if (view->by == BLOCKED_BY_LABEL)
		table_cell(table, TABLE_PLAIN, text_string(&text));
	text_release(&text);
}

static int print_rows(const struct view *view, const struct screen *screen, size_t cnt)
{
	/* What may be wide comes last. */
	static const struct table_column columns[][7] = {
		[BLOCKED_BY_OBJECT] = {
			{ "blocked", TABLE_RIGHT, NULL }, { "waits", TABLE_RIGHT, NULL }, { "mean",
			TABLE_RIGHT, NULL }, { "max", TABLE_RIGHT, NULL },
			{ "who waited most", TABLE_LEFT, NULL }, { "who ended it most", TABLE_LEFT, NULL },
			{ "waited for", TABLE_LEFT, NULL },
		},
		[BLOCKED_BY_REASON] = {
			{ "blocked", TABLE_RIGHT, NULL }, { "waits", TABLE_RIGHT, NULL }, { "mean",
			TABLE_RIGHT, NULL }, { "max", TABLE_RIGHT, NULL },
			{ "who waited most", TABLE_LEFT, NULL }, { "who ended it most", TABLE_LEFT, NULL },
			{ "reason", TABLE_LEFT, NULL },
		},
		[BLOCKED_BY_LABEL] = {
			{ "blocked", TABLE_RIGHT, NULL }, { "waits", TABLE_RIGHT, NULL }, { "mean",
			TABLE_RIGHT, NULL }, { "max", TABLE_RIGHT, NULL },
			{ "who ended it most", TABLE_LEFT, NULL }, { "label", TABLE_LEFT, NULL },
			{ "reasons", TABLE_LEFT, NULL },
		},
	};
	struct table *table = table_new(columns[view->by], 7);
	bool shows_pid = has_several_processes(view->sums);
	int err;

	for (size_t i = 0; i < cnt; i++)
		add_row(view, table, &view->blocked->rows[i], shows_pid);
	err = screen_print_table(screen, table);
	table_free(table);
	return err;
}

static int print_text(const struct view *view, const struct screen *screen)
{
	static const struct table_column columns[] = { { NULL, TABLE_LEFT, NULL },
						       { NULL, TABLE_LEFT, NULL } };
	size_t all_cnt = view->blocked->row_cnt,
	       cnt = view->limit && view->limit < all_cnt ? view->limit : all_cnt;
	struct table *foot;
	struct text title = { 0 };
	char count[UNITS_SIZE];
	int err = 0;

	capture_append_title(&title, &view->input->info, &view->input->census);
	fprintf(screen->file, "%s\n\n", text_string(&title));
	text_release(&title);
	if (cnt > 0)
		err = print_rows(view, screen, cnt);
	else
		fprintf(screen->file, "%s\n", capture_no_waits(&view->input->info, "no thread waited"));
	if (cnt < all_cnt)
		fprintf(screen->file,
			"\n%s more with less blocked time: 'txtrace blocked --limit 0' shows them\n",
			units_format_count(count, all_cnt - cnt));
	fputc('\n', screen->file);
	foot = table_new(columns, 2);
	wait_totals_add(foot, view->sums);
	capture_add_losses(foot, &view->input->census);
	err = err ? err : screen_print_table(screen, foot);
	table_free(foot);
	return err;
}

/* ---- for machines ---- */

static void shares_json(const struct view *view, struct json *json, const char *name,
			const struct blocked_share *shares, size_t cnt)
{
	json_name(json, name);
	json_array_begin(json);
	for (size_t i = 0; i < cnt; i++) {
		struct party party = wait_sums_party(view->sums, shares[i].party);

		json_object_begin(json);
		party_members_json(json, &party);
		json_member_u64(json, "count", shares[i].cnt);
		json_member_u64(json, "ns", shares[i].ns);
		json_member_u64(json, "max_ns", shares[i].max_ns);
		json_object_end(json);
	}
	json_array_end(json);
}

static void row_json(const struct view *view, struct json *json, const struct blocked_row *row)
{
	struct party party;

	json_object_begin(json);
	if (view->by == BLOCKED_BY_OBJECT) {
		wait_object_json(json, wait_sums_object(view->sums, row->key));
	} else if (view->by == BLOCKED_BY_LABEL) {
		party = wait_sums_party(view->sums, row->key);
		party_members_json(json, &party);
	} else {
		json_member_text(json, "reason",
				 row->key < WAIT_REASON_COUNT ? wait_reason_name(row->key) : NULL);
	}
	json_member_u64(json, "count", row->cnt);
	json_member_u64(json, "ns", row->ns);
	json_member_u64(json, "max_ns", row->max_ns);
	if (view->by == BLOCKED_BY_LABEL)
		wait_reasons_json(json, "reasons", row->reason_ns);
	else
		shares_json(view, json, "waiters", row->waiters, row->waiter_cnt);
	shares_json(view, json, "wakers", row->wakers, row->waker_cnt);
	json_object_end(json);
}

static int print_json(const struct view *view, struct cli *cli)
{
	static const char *const names[] = { [BLOCKED_BY_OBJECT] = "objects",
					     [BLOCKED_BY_REASON] = "reasons",
					     [BLOCKED_BY_LABEL] = "labels" };
	struct json json;

	cli_begin_json(cli, &json);
	capture_json_begin(&json, "blocked", &view->input->info);
	json_name(&json, names[view->by]);
	json_array_begin(&json);
	for (size_t i = 0; i < view->blocked->row_cnt; i++)
		row_json(view, &json, &view->blocked->rows[i]);
	json_array_end(&json);
	wait_totals_json(&json, view->sums);
	capture_json_end(&json, &view->input->census);
	return cli_finish_json(cli, &json);
}

static int show(struct cli *cli, const struct blocked_options *values, const struct log_input *input,
		const struct wait_sums *sums)
{
	struct blocked blocked;
	struct view view = { sums, &blocked, input, (enum blocked_by)values->by, values->limit };
	int err = blocked_init(&blocked, sums, view.by);

	if (err)
		return err;
	err = values->wants_json ? print_json(&view, cli) : print_text(&view, &cli->out);
	blocked_release(&blocked);
	return err;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct blocked_options values = { .limit = 20, .max_memory_bytes = 512 << 20 };
	struct wait_sums_options sums_options = { .is_by_object = true, .names_threads = true };
	struct options_result result;
	struct txtrace_record record;
	struct wait_sums *sums;
	struct log_input input;
	int status, err;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	status = log_input_open(&input, cli, result.operands, result.operand_cnt, true);
	if (status)
		return status;
	sums_options.max_bytes = values.max_memory_bytes;
	sums_options.kernel = input.info.kernel;
	sums = wait_sums_new(&sums_options);
	err = sums ? 0 : -ENOMEM;
	while (!err && log_input_next(&input, &record)) {
		err = input.has_begun_capture ? wait_sums_begin_capture(sums) : 0;
		err = err ? err : wait_sums_add(sums, &record);
	}
	err = err ? err : wait_sums_finish(sums);
	err = err ? err : show(cli, &values, &input, sums);
	wait_sums_free(sums);
	return log_input_end(&input, err, "sum up the waits of");
}

const struct command command_blocked = { "blocked", "what threads waited for, by cost", &options, run };
