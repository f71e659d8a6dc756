/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>

#include "analyze/wait/blocked.h"
#include "base/units.h"
#include "cli/commands/command.h"
#include "cli/commands/wait_analysis.h"
#include "cli/exit_status.h"
#include "cli/files/capture_info.h"
#include "cli/print/party_print.h"

struct blocked_options {
	struct analysis_options common;
	unsigned int by;
};

static const char *const by_names[] = {
	[BLOCKED_BY_OBJECT] = "object", [BLOCKED_BY_REASON] = "reason", [BLOCKED_BY_LABEL] = "label", NULL
};

static const struct option_spec specs[] = {
	OPTION("by", 'b', OPTION_CHOICE, "BY",
	       "a row for each object (the default), reason, or label that waited; in a log without spans, "
	       "thread",
	       offsetof(struct blocked_options, by), .choices = by_names),
	OPTION_LIMIT("show N rows, those with the most blocked time; 0: all (default 20)"),
	OPTION_MEMORY("use no more for what is summed up; what is new beyond it is counted together (default "
		      "512M)"),
	OPTION_SORT,
	OPTIONS_OUTPUT("write one JSON object, with all rows"),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace blocked",
	.about = "What threads waited for, by cost: the futex, file descriptor, sleep or system call, how "
		 "often and how long, which label waited "
		 "most for it, and who ended the waits.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace blocked bank.txtrace", "The 20 objects that cost most." },
			{ "txtrace blocked --by label bank.txtrace", "What each label waited for." },
			{ NULL, NULL },
		},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

struct blocked_state {
	struct wait_analysis waits; /* first */
	struct blocked blocked;
	bool has_pids; /* there are several processes */
};

static const struct wait_sums *sums_of(const void *context)
{
	return wait_analysis_sums(context);
}

/* ---- columns ---- */

static void get_mean(const void *row, struct cell *cell)
{
	const struct blocked_row *blocked = row;

	cell->number = blocked->cnt ? blocked->ns / blocked->cnt : 0;
}

/* "checkout 70 %": the largest share, and how much of the row it is. */
static void append_share(const void *context, const struct blocked_share *share, uint64_t row_ns,
			 struct text *text)
{
	struct party party = wait_sums_party(sums_of(context), share->party);
	char part[UNITS_SIZE];

	party_append(text, &party);
	if (share->ns < row_ns)
		text_append_format(text, " %s", units_format_share(part, share->ns, row_ns));
}

static void get_waiter(const void *row, struct cell *cell)
{
	const struct blocked_row *blocked = row;

	append_share(cell->context, blocked->waiters, blocked->ns, &cell->words);
}

static void get_waker(const void *row, struct cell *cell)
{
	const struct blocked_row *blocked = row;

	append_share(cell->context, blocked->wakers, blocked->ns, &cell->words);
}

/*
 * "lock, futex 0x1000", "sleep of 5.00 ms", "other, getrandom"; before it the process, if there are several.
 */
static void get_object(const void *row, struct cell *cell)
{
	const struct blocked_state *state = ((const struct analysis_run *)cell->context)->state;
	const struct wait_object *object = wait_sums_object(state->waits.sums,
							    ((const struct blocked_row *)row)->key);

	if (state->has_pids && object->pid)
		text_append_format(&cell->words, "%" PRIu32 ": ", object->pid);
	if (object->kind == WAIT_OBJECT_REST)
		wait_object_append(&cell->words, object);
	else
		wait_what_append(&cell->words, object);
}

static void get_reason(const void *row, struct cell *cell)
{
	uint32_t reason = ((const struct blocked_row *)row)->key;

	text_append(&cell->words, reason < WAIT_REASON_COUNT ? wait_reason_name(reason) : "(all others)");
}

static void get_label(const void *row, struct cell *cell)
{
	struct party party = wait_sums_party(sums_of(cell->context), ((const struct blocked_row *)row)->key);

	party_append(&cell->words, &party);
}

static void get_reasons(const void *row, struct cell *cell)
{
	wait_reasons_append(&cell->words, ((const struct blocked_row *)row)->reason_ns);
}

static void shares_json(const void *context, struct json *json, const char *name,
			const struct blocked_share *shares, size_t cnt)
{
	json_name(json, name);
	json_array_begin(json);
	for (size_t i = 0; i < cnt; i++) {
		struct party party = wait_sums_party(sums_of(context), shares[i].party);

		json_object_begin(json);
		party_members_json(json, &party);
		json_member_u64(json, "count", shares[i].cnt);
		json_member_u64(json, "ns", shares[i].ns);
		json_member_u64(json, "max_ns", shares[i].max_ns);
		json_object_end(json);
	}
	json_array_end(json);
}

static void waiters_json(const void *context, const void *row, struct json *json)
{
	const struct blocked_row *blocked = row;

	shares_json(context, json, "waiters", blocked->waiters, blocked->waiter_cnt);
}

static void reasons_json(const void *context, const void *row, struct json *json)
{
	(void)context;
	wait_reasons_json(json, "reasons", ((const struct blocked_row *)row)->reason_ns);
}

static void wakers_json(const void *context, const void *row, struct json *json)
{
	const struct blocked_row *blocked = row;

	shares_json(context, json, "wakers", blocked->wakers, blocked->waker_cnt);
}

/* What the row is about. */
static void key_json(const void *context, const void *row, struct json *json)
{
	uint32_t key = ((const struct blocked_row *)row)->key;
	unsigned int by = ((const struct analysis_run *)context)->variant;
	struct party party;

	if (by == BLOCKED_BY_OBJECT) {
		wait_object_json(json, wait_sums_object(sums_of(context), key));
	} else if (by == BLOCKED_BY_LABEL) {
		party = wait_sums_party(sums_of(context), key);
		party_members_json(json, &party);
	} else {
		json_member_text(json, "reason", key < WAIT_REASON_COUNT ? wait_reason_name(key) : NULL);
	}
}

static void ns_json(const void *context, const void *row, struct json *json)
{
	key_json(context, row, json);
	json_member_u64(json, "ns", ((const struct blocked_row *)row)->ns);
}

#define OF_OBJECTS (1u << BLOCKED_BY_OBJECT)
#define OF_REASONS (1u << BLOCKED_BY_REASON)
#define OF_LABELS (1u << BLOCKED_BY_LABEL)

/* What may be wide comes last. */
static const struct column columns[] = {
	COLUMN_OF("ns", "blocked", NULL, COLUMN_DURATION, struct blocked_row, ns, .json = ns_json),
	COLUMN_OF("count", "waits", NULL, COLUMN_COUNT, struct blocked_row, cnt),
	{ "mean_ns", "mean", NULL, COLUMN_DURATION, .get = get_mean },
	COLUMN_OF("max_ns", "max", NULL, COLUMN_DURATION, struct blocked_row, max_ns),
	{ "waiter", "who waited most", NULL, COLUMN_WORDS, .get = get_waiter, .json = waiters_json,
	  .variants = OF_OBJECTS | OF_REASONS },
	{ "waker", "who ended it most", NULL, COLUMN_WORDS, .get = get_waker, .json = wakers_json },
	{ "object", "waited for", NULL, COLUMN_WORDS, COLUMN_TABLE_ONLY, .get = get_object,
	  .style = TABLE_BOLD, .variants = OF_OBJECTS },
	{ "reason", NULL, NULL, COLUMN_WORDS, COLUMN_TABLE_ONLY, .get = get_reason, .style = TABLE_BOLD,
	  .variants = OF_REASONS },
	{ "label", NULL, NULL, COLUMN_WORDS, COLUMN_TABLE_ONLY, .get = get_label, .style = TABLE_BOLD,
	  .variants = OF_LABELS },
	{ "reasons", NULL, NULL, COLUMN_WORDS, .get = get_reasons, .json = reasons_json,
	  .variants = OF_LABELS },
	COLUMN_END,
};

/* ---- the analysis ---- */

static void free_state(void *made)
{
	struct blocked_state *state = made;

	blocked_release(&state->blocked);
	wait_analysis_free(state);
}

static void *new_state(struct analysis_run *run)
{
	const struct wait_sums_options by_object = { .is_by_object = true, .names_threads = true };

	return wait_analysis_new(run, sizeof(struct blocked_state), &by_object);
}

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

static int finish(struct analysis_run *run)
{
	struct blocked_state *state = run->state;
	int err = wait_sums_finish(state->waits.sums);

	state->has_pids = has_several_processes(state->waits.sums);
	return err ? err : blocked_init(&state->blocked, state->waits.sums, (enum blocked_by)run->variant);
}

static int rows(struct analysis_run *run, struct row_list *list)
{
	const struct blocked *blocked = &((const struct blocked_state *)run->state)->blocked;

	for (size_t i = 0; i < blocked->row_cnt; i++)
		row_list_add(list, &blocked->rows[i]);
	return 0;
}

static const char *why_no_rows(const struct analysis_run *run)
{
	return capture_no_waits(&run->input->info, "no thread waited");
}

static void tail_json(struct analysis_run *run, struct json *json)
{
	wait_totals_json(json, sums_of(run));
}

static const struct blocked_options defaults = { .common = { .limit = 20, .max_memory_bytes = 512 << 20 } };

static const struct analysis analysis = {
	.type = "blocked",
	.rows_names = { "objects", "reasons", "labels" },
	.what = "sum up the waits of",
	.why_no_rows = why_no_rows,
	.before_more = "\n",
	.more = " with less blocked time",
	.columns = columns,
	.sorts_text = true,
	.finds_spans = true,
	.new = new_state,
	.free = free_state,
	.passes = { { wait_analysis_begin_capture, wait_analysis_add, finish } },
	.rows = rows,
	.foot = wait_analysis_foot,
	.tail_json = tail_json,
	.values_bytes = sizeof(defaults),
	.defaults = &defaults,
	.variant_offset = offsetof(struct blocked_options, by),
};

const struct command command_blocked = { "blocked", "what threads waited for, by cost", &options,
					 .analysis = &analysis };
