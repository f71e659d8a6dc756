/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/command.h"
#include "cli/commands/wait_analysis.h"
#include "cli/exit_status.h"
#include "cli/files/capture_info.h"
#include "cli/print/blame_print.h"
#include "cli/print/party_print.h"

static const struct option_spec specs[] = {
	OPTION_LIMIT("show N labels and N sentences, the heaviest; 0: all (default 10)"),
	OPTION_MEMORY("use no more for what is summed up; what is new beyond it is counted together (default "
		      "512M)"),
	OPTION_SORT,
	OPTIONS_OUTPUT("write one JSON object, with all pairs"),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace blame",
	.about = "Who made whom wait: the blocked time of each label, by the label of the span (or the "
		 "thread, or interrupt) that ended each wait. "
		 "A wait is charged once, to the span that its thread had entered last.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace blame bank.txtrace", "The matrix, and what is in it in words." },
			{ "txtrace blame --json bank.txtrace | jq '.pairs[] | select(.waiter.name == "
			  "\"checkout\")'",
			  "Whom one label waited for." },
			{ NULL, NULL },
		},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

struct blame_state {
	struct wait_analysis waits; /* first */
	struct blame blame;
};

/* ---- columns: of the pairs ---- */

static void get_waiter(const void *row, struct cell *cell)
{
	struct party party = wait_sums_party(wait_analysis_sums(cell->context),
					     ((const struct blame_pair *)row)->waiter);

	party_append(&cell->words, &party);
}

static void get_waker(const void *row, struct cell *cell)
{
	struct party party = wait_sums_party(wait_analysis_sums(cell->context),
					     ((const struct blame_pair *)row)->waker);

	party_append(&cell->words, &party);
}

static void get_reasons(const void *row, struct cell *cell)
{
	wait_reasons_append(&cell->words, ((const struct blame_pair *)row)->reason_ns);
}

static void waiter_json(const void *context, const void *row, struct json *json)
{
	struct party party = wait_sums_party(wait_analysis_sums(context),
					     ((const struct blame_pair *)row)->waiter);

	party_json(json, "waiter", &party);
}

static void waker_json(const void *context, const void *row, struct json *json)
{
	struct party party = wait_sums_party(wait_analysis_sums(context),
					     ((const struct blame_pair *)row)->waker);

	party_json(json, "waker", &party);
}

static void reasons_json(const void *context, const void *row, struct json *json)
{
	(void)context;
	wait_reasons_json(json, "reasons", ((const struct blame_pair *)row)->reason_ns);
}

static const struct column columns[] = {
	{ "waiter", "who waited", NULL, COLUMN_WORDS, .get = get_waiter, .json = waiter_json,
	  .style = TABLE_BOLD },
	{ "waker", "who ended it", NULL, COLUMN_WORDS, .get = get_waker, .json = waker_json },
	COLUMN_OF("count", "waits", NULL, COLUMN_COUNT, struct blame_pair, cnt),
	COLUMN_OF("ns", "blocked", NULL, COLUMN_DURATION, struct blame_pair, ns),
	COLUMN_OF("max_ns", "max", NULL, COLUMN_DURATION, struct blame_pair, max_ns),
	{ "reasons", NULL, NULL, COLUMN_WORDS, .get = get_reasons, .json = reasons_json },
	COLUMN_END,
};

/* ---- the analysis ---- */

static void free_state(void *made)
{
	struct blame_state *state = made;

	blame_release(&state->blame);
	wait_analysis_free(state);
}

static void *new_state(struct analysis_run *run)
{
	return wait_analysis_new(run, sizeof(struct blame_state), &(struct wait_sums_options){ 0 });
}

static int finish(struct analysis_run *run)
{
	struct blame_state *state = run->state;
	int err = wait_sums_finish(state->waits.sums);

	return err ? err : blame_init(&state->blame, state->waits.sums);
}

static int rows(struct analysis_run *run, struct row_list *list)
{
	const struct blame *blame = &((const struct blame_state *)run->state)->blame;

	for (size_t i = 0; i < blame->pair_cnt; i++)
		row_list_add(list, &blame->pairs[i]);
	return 0;
}

static const char *why_no_rows(const struct analysis_run *run)
{
	return capture_no_waits(&run->input->info, "no span waited");
}

static int text(struct analysis_run *run)
{
	const struct blame_state *state = run->state;
	struct blame_view view = { state->waits.sums, &state->blame, run->common->limit };
	int err = 0;

	if (state->blame.row_cnt > 0)
		err = blame_print(&view, &run->cli->out);
	else
		fprintf(run->cli->out.file, "%s\n", why_no_rows(run));
	fputc('\n', run->cli->out.file);
	return err;
}

static void tail_json(struct analysis_run *run, struct json *json)
{
	const struct blame_state *state = run->state;

	wait_totals_json(json, state->waits.sums);
	wait_reasons_json(json, "unseen_reasons", state->blame.unseen.reason_ns);
}

static const struct analysis_options defaults = { .limit = 10, .max_memory_bytes = 512 << 20 };

static const struct analysis analysis = {
	.type = "blame",
	.rows_names = { "pairs" },
	.what = "sum up the waits of",
	.why_no_rows = why_no_rows,
	.before_more = "\n",
	.more = " with less blocked time",
	.columns = columns,
	.finds_spans = true,
	.new = new_state,
	.free = free_state,
	.passes = { { wait_analysis_begin_capture, wait_analysis_add, finish } },
	.rows = rows,
	.text = text,
	.foot = wait_analysis_foot,
	.tail_json = tail_json,
	.values_bytes = sizeof(defaults),
	.defaults = &defaults,
};

const struct command command_blame = { "blame", "who made whom wait: label by label", &options,
				       .analysis = &analysis };
