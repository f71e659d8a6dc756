/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/wait/neighbours.h"
#include "base/saturating.h"
#include "cli/commands/analysis.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/print/neighbours_json.h"

#define BY_WHAT_IS_THERE 2 /* label, or thread in a log without spans */

enum neighbours_who {
	WHO_THREAD = 0,
	WHO_PROCESS = 1,
};

struct neighbours_values {
	struct analysis_options common;
	unsigned int by;  /* enum neighbours_by, or BY_WHAT_IS_THERE until the log was read */
	unsigned int who; /* enum neighbours_who */
	uint64_t top;
};

#define FIELD(field) offsetof(struct neighbours_values, field)

struct neighbours_state {
	struct neighbours *neighbours;
	unsigned int by; /* enum neighbours_by */
};

static const char *const bys[] = { [NEIGHBOURS_BY_LABEL] = "label", [NEIGHBOURS_BY_THREAD] = "thread", NULL };
static const char *const whos[] = { [WHO_THREAD] = "thread", [WHO_PROCESS] = "process", NULL };

static const struct option_spec specs[] = {
	OPTION("by", 'b', OPTION_CHOICE, "WHO",
	       "who waited: spans by label, or threads (default label; thread where the log has no spans)",
	       FIELD(by), .choices = bys),
	OPTION("who", 'w', OPTION_CHOICE, "WHO",
	       "who had the CPU: threads, traced ones by the span that they were in; or whole processes "
	       "(default thread)",
	       FIELD(who), .choices = whos),
	OPTION_LIMIT("show the N that waited the longest; 0: all (default 20)"),
	OPTION("top", 't', OPTION_U64, "N",
	       "and for each the N that had the CPU the longest; 0: all (default 5)", FIELD(top)),
	OPTION_MEMORY("use no more, about; what is new beyond it is counted together, or unknown (default "
		      "512M)"),
	OPTION_SORT,
	OPTIONS_OUTPUT("write one JSON object, with all of them"),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace neighbours",
	.about = "Shows which threads had the CPU: the runnable time of each label, by the threads, traced "
		 "or not, that ran on the awaited CPU meanwhile. Idle is the time that a wakeup took until "
		 "the thread ran on an idle CPU. The hypervisor is time in which it had taken the CPU from "
		 "the whole machine. For unknown time no neighbour is known.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace neighbours bank.txtrace", "The noisy neighbours of each label." },
			{ "txtrace neighbours --by thread --who process bank.txtrace",
			  "Which processes kept each thread waiting." },
			{ "txtrace neighbours --json bank.txtrace | jq '.rows[] | select(.label == "
			  "\"commit\").neighbours[0]'",
			  "The worst one of a label." },
			{ NULL, NULL },
		},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

/* ---- columns ---- */

/* A waiter beside one that had the CPU meanwhile. */
struct line {
	const struct neighbours_row *row;
	const struct neighbour *cell; /* NULL: nobody is known, or */
	size_t more_cnt;	      /* so many others */
	uint64_t ns;
	bool repeats; /* the waiter stands on the line above */
};

static void append_name(struct text *text, const struct txtrace_string *name, const char *otherwise)
{
	if (name->length)
		text_append_escaped(text, name->bytes, name->length);
	else
		text_append(text, otherwise);
}

static void append_task(struct text *text, const struct txtrace_string *name, uint32_t id)
{
	append_name(text, name, "");
	text_append_format(text, "%s%" PRIu32, name->length ? " " : "", id);
}

static void get_waiter(const void *at, struct cell *cell)
{
	const struct neighbours_state *state = ((const struct analysis_run *)cell->context)->state;
	const struct line *line = at;

	if (line->repeats)
		return;
	if (line->row->is_rest)
		text_append(&cell->words, "(all others)");
	else if (state->by == NEIGHBOURS_BY_LABEL)
		append_name(&cell->words, &line->row->label, "(unknown label)");
	else
		append_task(&cell->words, &line->row->name, line->row->tid);
}

static void get_waits(const void *at, struct cell *cell)
{
	cell->number = ((const struct line *)at)->row->cnt;
}

static void get_runnable(const void *at, struct cell *cell)
{
	const struct line *line = at;

	cell->is_unknown = line->repeats;
	cell->number = line->row->runnable_ns;
}

static void get_name(const void *at, struct cell *cell)
{
	const struct line *line = at;

	if (!line->cell && line->more_cnt)
		text_append_format(&cell->words, "%zu more", line->more_cnt);
	else if (!line->cell)
		text_append(&cell->words, "(unknown)");
	else if (line->cell->kind == NEIGHBOUR_IDLE)
		text_append(&cell->words, "(idle)");
	else if (line->cell->kind == NEIGHBOUR_HYPERVISOR)
		text_append(&cell->words, "(hypervisor)");
	else if (line->cell->kind == NEIGHBOUR_OTHERS)
		text_append(&cell->words, "(all others)");
	else
		append_task(&cell->words, &line->cell->name,
			    line->cell->tid ? line->cell->tid : line->cell->pid);
}

static bool is_task(const struct line *line)
{
	return line->cell && line->cell->kind == NEIGHBOUR_TASK;
}

static void get_pid(const void *at, struct cell *cell)
{
	const struct line *line = at;

	cell->is_unknown = !is_task(line);
	cell->number = is_task(line) ? line->cell->pid : 0;
}

static void get_tid(const void *at, struct cell *cell)
{
	const struct line *line = at;

	cell->is_unknown = !is_task(line) || !line->cell->tid;
	cell->number = is_task(line) ? line->cell->tid : 0;
}

static void get_label(const void *at, struct cell *cell)
{
	const struct line *line = at;

	if (!line->cell || !line->cell->is_in_span)
		return;
	cell->string = line->cell->label;
	text_append(&cell->words, "(unknown label)");
}

static void get_share(const void *at, struct cell *cell)
{
	const struct line *line = at;

	cell->number = line->ns;
	cell->whole = line->row->runnable_ns;
}

static const char who[] = "who had the CPU";

static const struct column columns[] = {
	{ "waiter", "who waited", NULL, COLUMN_WORDS, .get = get_waiter, .style = TABLE_BOLD },
	{ "waits", NULL, NULL, COLUMN_COUNT, COLUMN_HIDDEN, .get = get_waits },
	{ "runnable_ns", "runnable", NULL, COLUMN_DURATION, COLUMN_BLANK, .get = get_runnable },
	{ "name", NULL, who, COLUMN_WORDS, .get = get_name },
	{ "pid", "process", who, COLUMN_ID, COLUMN_BLANK, .get = get_pid, .style = TABLE_DIM },
	{ "tid", NULL, who, COLUMN_ID, COLUMN_HIDDEN, .get = get_tid },
	{ "label", "in span", who, COLUMN_STRING, .get = get_label },
	COLUMN_OF("ns", "for", who, COLUMN_DURATION, struct line, ns, .style = "33"),
	{ "share_percent", "share", NULL, COLUMN_SHARE, .get = get_share },
	COLUMN_END,
};

static void add_line(struct row_list *list, bool repeats, struct line wanted)
{
	struct line *line = row_list_make(list, sizeof(*line));

	wanted.repeats = repeats;
	if (line)
		*line = wanted;
}

/* top: so many have lines of their own. The waiter stands on its first line only, if lines stay together. */
static void add_row(struct row_list *list, const struct neighbours_row *row, size_t top, bool is_plain)
{
	size_t cnt = top && top < row->cell_cnt ? top : row->cell_cnt;
	uint64_t rest_ns = 0;

	for (size_t i = 0; i < cnt; i++)
		add_line(list, i && !is_plain,
			 (struct line){ .row = row, .cell = &row->cells[i], .ns = row->cells[i].ns });
	for (size_t i = cnt; i < row->cell_cnt; i++)
		increase(&rest_ns, row->cells[i].ns);
	if (cnt < row->cell_cnt)
		add_line(list, !is_plain,
			 (struct line){ .row = row, .more_cnt = row->cell_cnt - cnt, .ns = rest_ns });
	if (row->unknown_ns)
		add_line(list, row->cell_cnt && !is_plain,
			 (struct line){ .row = row, .ns = row->unknown_ns });
}

static size_t shown_count(const struct analysis_run *run)
{
	size_t cnt = neighbours_row_count(((const struct neighbours_state *)run->state)->neighbours);

	return !run->is_plain && run->common->limit && run->common->limit < cnt ? (size_t)run->common->limit
										: cnt;
}

static int rows(struct analysis_run *run, struct row_list *list)
{
	const struct neighbours_values *values = run->values;
	const struct neighbours_state *state = run->state;

	for (size_t i = 0; i < shown_count(run); i++)
		add_row(list, neighbours_row(state->neighbours, i), run->is_plain ? 0 : (size_t)values->top,
			run->is_plain);
	return 0;
}

static const char *why_no_rows(const struct analysis_run *run)
{
	return ((const struct neighbours_state *)run->state)->by == NEIGHBOURS_BY_LABEL
		       ? "no exact span waited for a CPU"
		       : "no thread waited for a CPU";
}

static int notes(struct analysis_run *run)
{
	const struct neighbours *neighbours = ((const struct neighbours_state *)run->state)->neighbours;

	analysis_print_more(run, neighbours_row_count(neighbours) - shown_count(run));
	if (neighbours_is_full(neighbours))
		fputs("the memory is used up: some waits are unknown, some names counted together; "
		      "--max-memory gives more\n",
		      run->cli->out.file);
	fputc('\n', run->cli->out.file);
	return 0;
}

/* ---- for machines ---- */

static void head_json(struct analysis_run *run, struct json *json)
{
	const struct neighbours_values *values = run->values;
	const struct neighbours_state *state = run->state;

	json_member_text(json, "by", bys[state->by]);
	json_member_text(json, "who", whos[values->who]);
	json_name(json, "rows");
	json_array_begin(json);
	for (size_t i = 0; i < neighbours_row_count(state->neighbours); i++)
		neighbours_row_json(json, neighbours_row(state->neighbours, i), state->by);
	json_array_end(json);
}

static void tail_json(struct analysis_run *run, struct json *json)
{
	json_member_bool(json, "memory_used_up",
			 neighbours_is_full(((const struct neighbours_state *)run->state)->neighbours));
}

/* ---- both readings ---- */

static void free_state(void *made)
{
	struct neighbours_state *state = made;

	neighbours_free(state->neighbours);
	free(state);
}

static void *new_state(struct analysis_run *run)
{
	const struct neighbours_values *values = run->values;
	const struct neighbours_options neighbours_options = { .wants_processes = values->who == WHO_PROCESS,
							       .max_bytes = values->common.max_memory_bytes };
	struct neighbours_state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->neighbours = neighbours_new(&neighbours_options);
	if (state->neighbours)
		return state;
	free(state);
	return NULL;
}

static int begin_capture(struct analysis_run *run)
{
	neighbours_begin_capture(((struct neighbours_state *)run->state)->neighbours);
	return 0;
}

static int survey(struct analysis_run *run, const struct txtrace_record *record)
{
	return neighbours_survey(((struct neighbours_state *)run->state)->neighbours, record);
}

static bool has_threads_alone(const struct log_census *census)
{
	return census->record_cnt[TXTRACE_RECORD_RUN] && !census->record_cnt[TXTRACE_RECORD_SPAN];
}

static int end_survey(struct analysis_run *run)
{
	const struct neighbours_values *values = run->values;
	struct neighbours_state *state = run->state;
	int err = neighbours_end_survey(state->neighbours);

	state->by = values->by;
	if (values->by == BY_WHAT_IS_THERE)
		state->by = has_threads_alone(&run->input->census) ? NEIGHBOURS_BY_THREAD
								   : NEIGHBOURS_BY_LABEL;
	if (!err)
		neighbours_choose(state->neighbours, state->by);
	return err;
}

static int add(struct analysis_run *run, const struct txtrace_record *record)
{
	return neighbours_add(((struct neighbours_state *)run->state)->neighbours, record);
}

static int finish(struct analysis_run *run)
{
	return neighbours_finish(((struct neighbours_state *)run->state)->neighbours);
}

static const struct neighbours_values defaults = { .common = { .limit = 20, .max_memory_bytes = 512 << 20 },
						   .by = BY_WHAT_IS_THERE,
						   .top = 5 };

static const struct analysis analysis = {
	.type = "neighbours",
	.what = "find the neighbours of",
	.why_no_rows = why_no_rows,
	.columns = columns,
	.limits_itself = true,
	.finds_spans = true,
	.new = new_state,
	.free = free_state,
	.passes = { { begin_capture, survey, end_survey }, { begin_capture, add, finish } },
	.rows = rows,
	.notes = notes,
	.head_json = head_json,
	.tail_json = tail_json,
	.values_bytes = sizeof(defaults),
	.defaults = &defaults,
};

const struct command command_neighbours = { "neighbours", "who had the CPU while spans waited for one",
					    &options, .analysis = &analysis };
