/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/tree_print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/saturating.h"
#include "base/shorten.h"
#include "base/units.h"
#include "cli/print/ledger_part.h"

#define LABEL_COLUMNS_MIN 20
/* what the columns of numbers take, about; and each of the others that may be there: */
#define NUMBERS_COLUMNS 62
#define DETACHED_COLUMNS 10
#define UNKNOWN_COLUMNS 9
#define INTERRUPT_COLUMNS 11
#define STOLEN_COLUMNS 9
#define PLACES_COLUMNS 19
#define COLUMN_MAX 12

#define AT_MOST "<="

static const char *const place_names[TREE_PLACE_COUNT] = {
	[TREE_SHARED] = "shared",
	[TREE_APART] = "apart",
	[TREE_DIVIDED] = "divided",
	[TREE_UNSURE] = "unsure",
};

static bool is_span(const struct tree_node *node)
{
	return node->label != TREE_LABEL_UNKNOWN_PARENT && node->label != TREE_LABEL_TOO_DEEP;
}

/* What a row shows: its exact spans, or, where there is none, its lower bounds. */
static const struct tree_sums *shown_sums(const struct tree_node *node, bool *is_lower_bound)
{
	*is_lower_bound = node->exact.cnt == 0 && node->lower_bounds;
	return *is_lower_bound ? node->lower_bounds : &node->exact;
}

/* ---- for people ---- */

struct tree_printer {
	const struct span_tree *tree;
	const struct tree_view *view;
	struct table *table;
	size_t label_columns; /* 0: labels are shown in full */
	size_t label_tail;    /* how they are shortened */
	char **labels;	      /* all of them, while that is chosen */
	size_t label_cnt, label_size;
	bool has_places; /* columns that are only there if there is anything in them */
	bool has_detached;
	bool has_unknown;
	bool has_interrupt;
	bool has_stolen;
	bool has_at_most;
	uint64_t row_cnt;
	uint64_t span_cnt;
	uint64_t lower_bound_cnt;
	struct text prefix; /* the lines that lead from the parents down to the row */
	int err;
};

static void survey(struct tree_printer *printer, const struct tree_node *node)
{
	for (const struct tree_node *child = node->first_child; child; child = child->next) {
		bool is_lower_bound;
		struct txtrace_ledger self = tree_self(shown_sums(child, &is_lower_bound));

		increase(&printer->span_cnt, child->exact.cnt);
		increase(&printer->lower_bound_cnt, child->lower_bounds ? child->lower_bounds->cnt : 0);
		printer->has_detached |= self.detached_ns > 0;
		printer->has_unknown |= self.unknown_ns > 0;
		printer->has_interrupt |= self.interrupt_ns > 0;
		printer->has_stolen |= self.stolen_ns > 0;
		printer->has_places |= child->place_cnt[TREE_APART] || child->place_cnt[TREE_DIVIDED] ||
				       child->place_cnt[TREE_UNSURE];
		survey(printer, child);
	}
}

static void add_time(struct table *table, const char *style, const char *mark, uint64_t ns)
{
	char time[UNITS_SIZE];

	if (ns > 0)
		table_cell_format(table, style, "%s%s", mark, units_format_duration(time, ns));
	else
		table_cell(table, TABLE_DIM, "\xc2\xb7");
}

static void add_places(struct tree_printer *printer, const struct tree_node *node)
{
	char count[UNITS_SIZE];
	struct text text = { 0 };

	for (unsigned int place = TREE_APART; place < TREE_PLACE_COUNT; place++) {
		if (node->place_cnt[place] > 0)
			text_append_format(&text, "%s%s %s", text.length ? ", " : "",
					   units_format_count(count, node->place_cnt[place]),
					   place_names[place]);
	}
	table_cell(printer->table, TABLE_DIM, text_string(&text));
	text_release(&text);
}

static void add_numbers(struct tree_printer *printer, const struct tree_node *node)
{
	struct table *table = printer->table;
	bool is_lower_bound;
	const struct tree_sums *sums = shown_sums(node, &is_lower_bound);
	const char *bound = is_lower_bound ? ">=" : "";
	struct txtrace_ledger self = tree_self(sums);
	bool is_at_most = !is_lower_bound && node->is_at_most;
	char count[UNITS_SIZE];

	printer->has_at_most |= is_at_most;
	table_cell(table, TABLE_PLAIN, units_format_count(count, node->exact.cnt));
	table_cell(table, "33", node->lower_bounds ? units_format_count(count, node->lower_bounds->cnt) : "");
	add_time(table, TABLE_PLAIN, bound, sums->wall_ns);
	add_time(table, TABLE_BOLD, is_at_most ? AT_MOST : bound, txtrace_ledger_sum_ns(&self));
	add_time(table, "32", "", self.on_cpu_ns);
	add_time(table, "33", "", self.runnable_ns);
	add_time(table, "31", "", txtrace_ledger_blocked_ns(&self));
	if (printer->has_detached)
		add_time(table, "37", "", self.detached_ns);
	if (printer->has_unknown)
		add_time(table, "90", "", self.unknown_ns);
	if (printer->has_interrupt)
		add_time(table, "92", "", self.interrupt_ns);
	if (printer->has_stolen)
		add_time(table, "31", "", self.stolen_ns);
	if (printer->has_places)
		add_places(printer, node);
	table_end_row(table);
}

static void add_label(struct tree_printer *printer, const struct tree_node *node, const char *branch)
{
	struct txtrace_string name = span_tree_name(printer->tree, node);
	struct text text = { 0 }, whole = { 0 };

	text_append_escaped(&whole, name.bytes, name.length);
	if (printer->label_columns)
		text_append_shortened(&text, text_string(&whole), printer->label_columns,
				      printer->label_tail);
	else
		text_append(&text, text_string(&whole));
	text_release(&whole);
	table_piece(printer->table, TABLE_DIM, text_string(&printer->prefix));
	table_piece(printer->table, TABLE_DIM, branch);
	table_cell(printer->table, TABLE_BOLD, text_string(&text));
	printer->err = printer->err ? printer->err : text.err;
	text_release(&text);
}

static void add_hidden(struct tree_printer *printer, uint64_t hidden_cnt, uint64_t depth)
{
	char count[UNITS_SIZE];

	table_piece(printer->table, TABLE_DIM, text_string(&printer->prefix));
	table_cell_format(printer->table, TABLE_DIM, "%s%s more with less work",
			  depth ? "\xe2\x94\x94\xe2\x94\x80 " : "", units_format_count(count, hidden_cnt));
	table_end_row(printer->table);
}

/* The rows below a node. depth: its level; the roots' is 0. */
static void add_rows(struct tree_printer *printer, const struct tree_node *node, uint64_t depth)
{
	const struct tree_view *view = printer->view;
	size_t prefix_length = printer->prefix.length;
	uint64_t shown_cnt = 0;

	if (view->depth_max && depth == view->depth_max)
		return;
	for (const struct tree_node *child = node->first_child; child; child = child->next) {
		bool is_last = !child->next;

		if (view->child_max && shown_cnt == view->child_max) {
			add_hidden(printer, node->child_cnt - shown_cnt, depth);
			return;
		}
		add_label(printer, child,
			  depth == 0 ? ""
			  : is_last  ? "\xe2\x94\x94\xe2\x94\x80 "
				     : "\xe2\x94\x9c\xe2\x94\x80 ");
		if (is_span(child))
			add_numbers(printer, child);
		else
			table_end_row(printer->table);
		shown_cnt++;
		printer->row_cnt++;
		if (depth > 0)
			text_append(&printer->prefix, is_last ? "   " : "\xe2\x94\x82  ");
		add_rows(printer, child, depth + 1);
		if (depth > 0) {
			printer->prefix.length = prefix_length;
			printer->prefix.bytes[prefix_length] = '\0';
		}
	}
}

static size_t make_columns(const struct tree_printer *printer, struct table_column columns[COLUMN_MAX])
{
	static const char self[] = "self";
	size_t cnt = 0;

	columns[cnt++] = (struct table_column){ "call tree", TABLE_LEFT, NULL };
	columns[cnt++] = (struct table_column){ "spans", TABLE_RIGHT, NULL };
	columns[cnt++] = (struct table_column){ ">=", TABLE_RIGHT, NULL };
	columns[cnt++] = (struct table_column){ "total", TABLE_RIGHT, NULL };
	columns[cnt++] = (struct table_column){ "work", TABLE_RIGHT, self };
	columns[cnt++] = (struct table_column){ "on-CPU", TABLE_RIGHT, self };
	columns[cnt++] = (struct table_column){ "runnable", TABLE_RIGHT, self };
	columns[cnt++] = (struct table_column){ "blocked", TABLE_RIGHT, self };
	if (printer->has_detached)
		columns[cnt++] = (struct table_column){ "detached", TABLE_RIGHT, self };
	if (printer->has_unknown)
		columns[cnt++] = (struct table_column){ "unknown", TABLE_RIGHT, self };
	if (printer->has_interrupt)
		columns[cnt++] = (struct table_column){ "interrupt", TABLE_RIGHT, self };
	if (printer->has_stolen)
		columns[cnt++] = (struct table_column){ "stolen", TABLE_RIGHT, self };
	if (printer->has_places)
		columns[cnt++] = (struct table_column){ "not in the parent", TABLE_LEFT, NULL };
	return cnt;
}

static void add_memory_notes(const struct span_tree *tree, struct table *table)
{
	char count[UNITS_SIZE];

	if (span_tree_given_up_count(tree) > 0) {
		table_cell(table, "33", "memory");
		table_cell_format(table, "33",
				  "used up: %s parents were given up, their children are below (unknown "
				  "parent); --max-memory allows more",
				  units_format_count(count, span_tree_given_up_count(tree)));
	}
	if (span_tree_has_rest(tree)) {
		table_cell(table, "33", "memory");
		table_cell(table, "33",
			   "used up: some labels are counted together; --max-memory allows more");
	}
}

void tree_add_foot(const struct span_tree *tree, struct table *table)
{
	struct tree_printer printer = { .tree = tree };
	char spans[UNITS_SIZE], bounds[UNITS_SIZE];

	survey(&printer, span_tree_root(tree));
	table_cell(table, TABLE_PLAIN, "spans");
	table_cell_format(table, TABLE_PLAIN,
			  "%s, and %s lower bounds (>=), which are in no figure of the others",
			  units_format_count(spans, printer.span_cnt),
			  units_format_count(bounds, printer.lower_bound_cnt));
	add_memory_notes(tree, table);
}

static int collect_labels(struct tree_printer *printer, const struct tree_node *node)
{
	int err = 0;

	for (const struct tree_node *child = node->first_child; !err && child; child = child->next) {
		struct txtrace_string name = span_tree_name(printer->tree, child);
		struct text text = { 0 };
		char **grown = array_grow(printer->labels, &printer->label_size, printer->label_cnt,
					  sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		printer->labels = grown;
		text_append_escaped(&text, name.bytes, name.length);
		if (!text.bytes)
			return -ENOMEM;
		printer->labels[printer->label_cnt++] = text.bytes;
		err = collect_labels(printer, child);
	}
	return err;
}

/*
 * What the numbers leave of the screen, for labels of the first levels; labels that differ do so when they
 * are short.
 */
static int choose_labels(struct tree_printer *printer, size_t screen_columns)
{
	size_t taken = NUMBERS_COLUMNS + printer->has_detached * DETACHED_COLUMNS +
		       printer->has_unknown * UNKNOWN_COLUMNS + printer->has_interrupt * INTERRUPT_COLUMNS +
		       printer->has_stolen * STOLEN_COLUMNS + printer->has_places * PLACES_COLUMNS;
	int err = collect_labels(printer, span_tree_root(printer->tree));

	printer->label_columns = screen_columns > taken + LABEL_COLUMNS_MIN ? screen_columns - taken
									    : LABEL_COLUMNS_MIN;
	if (!err)
		err = shorten_choose((const char *const *)printer->labels, printer->label_cnt,
				     &printer->label_columns, &printer->label_tail);
	while (printer->label_cnt)
		free(printer->labels[--printer->label_cnt]);
	free(printer->labels);
	return err;
}

int tree_print(const struct span_tree *tree, const struct screen *screen, const struct tree_view *view)
{
	struct tree_printer printer = { .tree = tree, .view = view };
	struct table_column columns[COLUMN_MAX];
	int err = 0;

	survey(&printer, span_tree_root(tree));
	if (screen->is_terminal)
		err = choose_labels(&printer, screen->columns);
	printer.table = table_new(columns, make_columns(&printer, columns));
	add_rows(&printer, span_tree_root(tree), 0);
	if (!err && printer.row_cnt > 0)
		err = screen_print_table(screen, printer.table);
	else if (!err)
		fputs("no spans\n", screen->file);
	table_free(printer.table);
	err = err ? err : printer.prefix.err;
	text_release(&printer.prefix);
	if (printer.has_at_most)
		fputs(AT_MOST " at most: some children may be in it, in part\n", screen->file);
	fputc('\n', screen->file);
	return err;
}

/* ---- columns ---- */

int tree_collect_rows(const struct span_tree *tree, const struct tree_node *node, struct tree_rows *rows)
{
	size_t parent = rows->cnt; /* of the node, plus 1 */
	uint64_t depth = rows->depth++;
	int err = 0;

	for (const struct tree_node *child = node->first_child; !err && child; child = child->next) {
		struct tree_row *grown = array_grow(rows->rows, &rows->size, rows->cnt, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		rows->rows = grown;
		rows->rows[rows->cnt] = (struct tree_row){ .tree = tree,
							   .node = child,
							   .row = rows->cnt,
							   .has_parent = depth > 0,
							   .parent_row = depth > 0 ? parent - 1 : 0,
							   .depth = depth };
		rows->cnt++;
		err = tree_collect_rows(tree, child, rows);
	}
	rows->depth = depth;
	return err;
}

static void sums_json(struct json *json, const struct tree_sums *sums)
{
	struct txtrace_ledger self = tree_self(sums);

	json_member_u64(json, "count", sums->cnt);
	json_name(json, "total");
	json_object_begin(json);
	json_member_u64(json, "wall_ns", sums->wall_ns);
	json_member_u64(json, "work_ns", sums->work_ns);
	ledger_json(json, &sums->ledger);
	json_object_end(json);
	json_name(json, "self");
	json_object_begin(json);
	json_member_u64(json, "work_ns", txtrace_ledger_sum_ns(&self));
	ledger_json(json, &self);
	json_object_end(json);
}

static const char *kind_of(const struct tree_node *node)
{
	switch (node->label) {
	case TREE_LABEL_REST:
		return "rest";
	case TREE_LABEL_UNKNOWN_PARENT:
		return "unknown_parent";
	case TREE_LABEL_TOO_DEEP:
		return "too_deep";
	default:
		return "label";
	}
}

static void node_json(const void *context, const void *at, struct json *json)
{
	const struct tree_row *row = at;
	const struct tree_node *node = row->node;
	struct txtrace_string label = span_tree_label(row->tree, node);

	(void)context;
	json_name(json, "parent_row");
	if (row->has_parent)
		json_u64(json, row->parent_row);
	else
		json_null(json);
	json_member_u64(json, "depth", row->depth);
	json_member_text(json, "kind", kind_of(node));
	if (label.length > 0)
		json_member_string(json, "label", label.bytes, label.length);
	else
		json_member_null(json, "label");
	sums_json(json, &node->exact);
	json_member_text(json, "self_is", node->is_at_most ? "at_most" : "exact");
	json_name(json, "places");
	json_object_begin(json);
	for (unsigned int place = 0; place < TREE_PLACE_COUNT; place++)
		json_member_u64(json, place_names[place], node->place_cnt[place]);
	json_object_end(json);
	json_name(json, "lower_bounds");
	if (node->lower_bounds) {
		json_object_begin(json);
		sums_json(json, node->lower_bounds);
		json_object_end(json);
	} else {
		json_null(json);
	}
}

static void get_name(const void *at, struct cell *cell)
{
	const struct tree_row *row = at;
	struct txtrace_string name = span_tree_name(row->tree, row->node);

	for (uint64_t i = 0; i < row->depth; i++)
		text_append(&cell->words, "  ");
	text_append_escaped(&cell->words, name.bytes, name.length);
}

static void get_label(const void *at, struct cell *cell)
{
	const struct tree_row *row = at;

	cell->string = span_tree_label(row->tree, row->node);
	text_append(&cell->words, kind_of(row->node));
}

static void get_parent(const void *at, struct cell *cell)
{
	const struct tree_row *row = at;

	cell->is_unknown = !row->has_parent;
	cell->number = row->parent_row;
}

static void get_spans(const void *at, struct cell *cell)
{
	cell->number = ((const struct tree_row *)at)->node->exact.cnt;
}

static void get_lower_bounds(const void *at, struct cell *cell)
{
	const struct tree_node *node = ((const struct tree_row *)at)->node;

	cell->number = node->lower_bounds ? node->lower_bounds->cnt : 0;
}

/* The sums of the row, and how they are bounded. */
static const struct tree_sums *sums_of(const void *at, struct cell *cell)
{
	const struct tree_node *node = ((const struct tree_row *)at)->node;
	bool is_lower_bound;
	const struct tree_sums *sums = shown_sums(node, &is_lower_bound);

	cell->is_unknown = !is_span(node);
	cell->bound = is_lower_bound ? ">=" : NULL;
	return sums;
}

static void get_total(const void *at, struct cell *cell)
{
	cell->number = sums_of(at, cell)->wall_ns;
}

static void get_self(const void *at, struct cell *cell)
{
	struct txtrace_ledger self = tree_self(sums_of(at, cell));

	cell->number = txtrace_ledger_sum_ns(&self);
	if (!cell->bound && ((const struct tree_row *)at)->node->is_at_most)
		cell->bound = AT_MOST;
}

static void get_on_cpu(const void *at, struct cell *cell)
{
	cell->number = tree_self(sums_of(at, cell)).on_cpu_ns;
}

static void get_runnable(const void *at, struct cell *cell)
{
	cell->number = tree_self(sums_of(at, cell)).runnable_ns;
}

static void get_blocked(const void *at, struct cell *cell)
{
	struct txtrace_ledger self = tree_self(sums_of(at, cell));

	cell->number = txtrace_ledger_blocked_ns(&self);
}

static void get_detached(const void *at, struct cell *cell)
{
	cell->number = tree_self(sums_of(at, cell)).detached_ns;
}

static void get_unknown(const void *at, struct cell *cell)
{
	cell->number = tree_self(sums_of(at, cell)).unknown_ns;
}

static void get_interrupt(const void *at, struct cell *cell)
{
	cell->number = tree_self(sums_of(at, cell)).interrupt_ns;
}

static void get_stolen(const void *at, struct cell *cell)
{
	cell->number = tree_self(sums_of(at, cell)).stolen_ns;
}

static const char self_group[] = "self";

#define SELF(name_, title_, get_, flags_)                                                              \
	{                                                                                              \
		name_, title_, self_group, COLUMN_DURATION, COLUMN_TABLE_ONLY | COLUMN_DOT | (flags_), \
			.get = get_                                                                    \
	}

const struct column tree_columns[] = {
	{ "name", "call tree", NULL, COLUMN_WORDS, COLUMN_TABLE_ONLY, .get = get_name, .style = TABLE_BOLD },
	COLUMN_OF("row", NULL, NULL, COLUMN_ID, struct tree_row, row, .flags = COLUMN_HIDDEN),
	{ "parent_row", NULL, NULL, COLUMN_ID, COLUMN_HIDDEN, .get = get_parent, .json = node_json },
	COLUMN_OF("depth", NULL, NULL, COLUMN_ID, struct tree_row, depth,
		  .flags = COLUMN_HIDDEN | COLUMN_TABLE_ONLY),
	{ "label", NULL, NULL, COLUMN_STRING, COLUMN_HIDDEN | COLUMN_TABLE_ONLY, .get = get_label },
	{ "spans", NULL, NULL, COLUMN_COUNT, COLUMN_TABLE_ONLY, .get = get_spans },
	{ "lower_bounds", ">=", NULL, COLUMN_COUNT, COLUMN_TABLE_ONLY | COLUMN_BLANK, .get = get_lower_bounds,
	  .style = "33" },
	{ "total_ns", "total", NULL, COLUMN_DURATION, COLUMN_TABLE_ONLY | COLUMN_DOT, .get = get_total },
	SELF("self_ns", "work", get_self, 0),
	SELF("self_on_cpu_ns", "on-CPU", get_on_cpu, 0),
	SELF("self_runnable_ns", "runnable", get_runnable, 0),
	SELF("self_blocked_ns", "blocked", get_blocked, 0),
	SELF("self_detached_ns", "detached", get_detached, COLUMN_HIDDEN),
	SELF("self_unknown_ns", "unknown", get_unknown, COLUMN_HIDDEN),
	SELF("self_interrupt_ns", "interrupt", get_interrupt, COLUMN_HIDDEN),
	SELF("self_stolen_ns", "stolen", get_stolen, COLUMN_HIDDEN),
	COLUMN_END,
};
