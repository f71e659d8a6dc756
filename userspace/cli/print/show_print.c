/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/show_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "base/units.h"
#include "cli/print/ledger_part.h"
#include "cli/print/mark_text.h"
#include "cli/print/party_print.h"

#define BAR_COLUMNS_MAX 32
#define INDENT_MAX 8

enum line_kind {
	LINE_CHILD = 0, /* before what the thread does in it */
	LINE_SEGMENT = 1,
	LINE_MARK = 2,
};

struct line {
	uint64_t from_ns, to_ns;
	enum line_kind kind;
	uint64_t stay_ns; /* when the stay began */
	size_t stay; /* in whose block it stands; WINDOW_NO_SPAN: in none */
	const struct window_span *child;
	const struct window_segment *segment; /* NULL: the log does not tell what the thread did */
	const struct txtrace_record *mark;
	bool is_hidden;
};

struct waterfall {
	const struct chosen_span *chosen;
	const struct span_window *window;
	struct line *lines;
	size_t cnt, size;
	size_t *own_stays; /* of the span itself, by thread and time */
	size_t own_stay_cnt;
	size_t hidden_cnt;
	size_t bar_columns;
};

static int add_line(struct waterfall *waterfall, const struct line *line)
{
	struct line *grown = array_grow(waterfall->lines, &waterfall->size, waterfall->cnt, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	waterfall->lines = grown;
	waterfall->lines[waterfall->cnt] = *line;
	waterfall->lines[waterfall->cnt++].stay_ns = line->stay == WINDOW_NO_SPAN
							     ? UINT64_MAX
							     : waterfall->window->stays[line->stay].enter_ns;
	return 0;
}

/* What the thread did from enter to exit, gaps included. */
static int add_stay_lines(struct waterfall *waterfall, size_t stay_idx)
{
	const struct window_stay *stay = &waterfall->window->stays[stay_idx];
	const struct window_thread *thread = span_window_thread(waterfall->window, stay->pid, stay->tid);
	const struct window_segment *segment = thread ? window_thread_before(thread, stay->enter_ns + 1)
						      : NULL;
	uint64_t done_ns = stay->enter_ns;
	struct line line = { .kind = LINE_SEGMENT, .stay = stay_idx };
	int err = 0;

	if (!segment && thread)
		segment = thread->segments;
	for (;
	     segment && segment < thread->segments + thread->cnt && segment->from_ns < stay->exit_ns && !err;
	     segment++) {
		if (segment->to_ns <= stay->enter_ns)
			continue;
		line.from_ns = done_ns;
		line.to_ns = segment->from_ns > done_ns ? segment->from_ns : done_ns;
		line.segment = NULL;
		if (line.to_ns > line.from_ns)
			err = add_line(waterfall, &line);
		line.from_ns = line.to_ns;
		line.to_ns = done_ns = segment->to_ns < stay->exit_ns ? segment->to_ns : stay->exit_ns;
		line.segment = segment;
		err = err ? err : add_line(waterfall, &line);
	}
	line.from_ns = done_ns;
	line.to_ns = stay->exit_ns;
	line.segment = NULL;
	return err || line.to_ns <= line.from_ns ? err : add_line(waterfall, &line);
}

/* The block of the thread that did it: the last one that had begun. */
static size_t stay_at(const struct waterfall *waterfall, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	size_t low = 0, high = waterfall->own_stay_cnt;
	const struct window_stay *stay;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		stay = &waterfall->window->stays[waterfall->own_stays[middle]];
		if (stay->pid < pid || (stay->pid == pid &&
					(stay->tid < tid || (stay->tid == tid && stay->enter_ns <= time_ns))))
			low = middle + 1;
		else
			high = middle;
	}
	stay = low > 0 ? &waterfall->window->stays[waterfall->own_stays[low - 1]] : NULL;
	return stay && stay->pid == pid && stay->tid == tid && stay->exit_ns >= time_ns
		       ? waterfall->own_stays[low - 1]
		       : WINDOW_NO_SPAN;
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->stay_ns != y->stay_ns)
		return x->stay_ns < y->stay_ns ? -1 : 1;
	if (x->stay != y->stay)
		return x->stay < y->stay ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->kind == LINE_CHILD && x->child->depth != y->child->depth)
		return x->child->depth < y->child->depth ? -1 : 1;
	if (x->to_ns != y->to_ns)
		return x->to_ns > y->to_ns ? -1 : 1;
	return x->mark < y->mark ? -1 : x->mark > y->mark;
}

static int collect(struct waterfall *waterfall)
{
	const struct span_window *window = waterfall->window;
	int err = 0;

	waterfall->own_stays = calloc(window->stay_cnt + 1, sizeof(*waterfall->own_stays));
	if (!waterfall->own_stays)
		return -ENOMEM;
	for (size_t i = 0; i < window->stay_cnt; i++) {
		if (window->stays[i].span == window->self)
			waterfall->own_stays[waterfall->own_stay_cnt++] = i;
	}
	for (size_t i = 0; i < waterfall->own_stay_cnt && !err; i++)
		err = add_stay_lines(waterfall, waterfall->own_stays[i]);
	for (size_t i = 0; i < window->span_cnt && !err; i++) {
		const struct window_span *child = &window->spans[i];
		struct line line = { .kind = LINE_CHILD,
				     .from_ns = child->span.begin_ns,
				     .to_ns = child->span.end_ns,
				     .child = child };

		if (!child->is_inside || i == window->self)
			continue;
		line.stay = stay_at(waterfall, child->span.pid, child->span.tid, child->span.begin_ns);
		err = add_line(waterfall, &line);
	}
	for (size_t i = 0; i < window->mark_cnt && !err; i++) {
		struct line line = { .kind = LINE_MARK,
				     .from_ns = mark_time_ns(&window->marks[i]),
				     .mark = &window->marks[i] };

		line.to_ns = line.from_ns;
		line.stay = stay_at(waterfall, mark_pid(line.mark), mark_tid(line.mark), line.from_ns);
		err = add_line(waterfall, &line);
	}
	if (!err && waterfall->cnt > 0)
		qsort(waterfall->lines, waterfall->cnt, sizeof(*waterfall->lines), compare_lines);
	return err;
}

static int compare_lengths(const void *a, const void *b)
{
	const struct line *x = *(const struct line *const *)a, *y = *(const struct line *const *)b;
	uint64_t x_ns = x->to_ns - x->from_ns, y_ns = y->to_ns - y->from_ns;

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The longest ones stay. */
static int hide_short_ones(struct waterfall *waterfall, size_t limit)
{
	struct line **by_length;

	if (!limit || waterfall->cnt <= limit)
		return 0;
	by_length = calloc(waterfall->cnt, sizeof(struct line *));
	if (!by_length)
		return -ENOMEM;
	for (size_t i = 0; i < waterfall->cnt; i++)
		by_length[i] = &waterfall->lines[i];
	qsort(by_length, waterfall->cnt, sizeof(*by_length), compare_lengths);
	for (size_t i = limit; i < waterfall->cnt; i++)
		by_length[i]->is_hidden = true;
	waterfall->hidden_cnt = waterfall->cnt - limit;
	free(by_length);
	return 0;
}

/* ---- a line ---- */

static const char *glyph_of(const struct line *line)
{
	static const size_t parts[] = { [WINDOW_ON_CPU] = 0,
					[WINDOW_RUNNABLE] = 1,
					[WINDOW_BLOCKED] = 2,
					[WINDOW_UNKNOWN] = LEDGER_PART_UNKNOWN };

	if (line->kind == LINE_CHILD)
		return "\xe2\x94\x81";
	if (line->kind == LINE_MARK)
		return "\xe2\x97\x86";
	return ledger_parts[parts[line->segment ? line->segment->state : WINDOW_UNKNOWN]].glyph;
}

/* Where it lies in the span: at least one column. */
static void append_bar(const struct waterfall *waterfall, struct text *text, const struct line *line)
{
	double wall_ns = (double)(waterfall->window->end_ns - waterfall->window->begin_ns);
	size_t columns = waterfall->bar_columns, from = 0, to = columns;

	if (wall_ns > 0) {
		from = line->from_ns <= waterfall->window->begin_ns
			       ? 0
			       : (size_t)((double)(line->from_ns - waterfall->window->begin_ns) / wall_ns *
					  (double)columns);
		to = line->to_ns >= waterfall->window->end_ns
			     ? columns
			     : (size_t)((double)(line->to_ns - waterfall->window->begin_ns) / wall_ns *
						(double)columns +
					0.5);
	}
	from = from >= columns ? columns - 1 : from;
	to = to <= from ? from + 1 : to;
	for (size_t i = 0; i < columns; i++)
		text_append(text, i >= from && i < to ? glyph_of(line) : " ");
}

static void append_wait(const struct waterfall *waterfall, struct text *text,
			const struct window_segment *segment)
{
	text_append(text, "blocked: ");
	wait_what_append(text, &segment->object);
	if (segment->is_open) {
		text_append(text, "; not woken before the log ends");
	} else if (segment->has_wake) {
		text_append(text, "; ended by ");
		chosen_span_append_waker(waterfall->chosen, text, segment);
	} else {
		text_append(text, "; who ended it is not in the log");
	}
}

static void append_what(const struct waterfall *waterfall, struct text *text, const struct line *line)
{
	if (line->kind == LINE_MARK) {
		mark_append(text, line->mark);
	} else if (line->kind == LINE_CHILD) {
		const struct txtrace_span *span = &line->child->span;
		uint64_t sum_ns = txtrace_ledger_sum_ns(&span->ledger);

		chosen_span_append_label(waterfall->chosen, text,
					 (size_t)(line->child - waterfall->window->spans));
		text_append_format(text, ", id %" PRIu64 "%s", span->id,
				   span->flags & TXTRACE_SPAN_LOWER_BOUND ? ", a lower bound" : "");
		if (sum_ns > 0) {
			text_append(text, ": ");
			ledger_list(text, &span->ledger, sum_ns, 1, 0, SIZE_MAX);
		}
	} else if (!line->segment) {
		text_append(text, "not in the log");
	} else if (line->segment->state == WINDOW_BLOCKED) {
		append_wait(waterfall, text, line->segment);
	} else if (line->segment->state == WINDOW_ON_CPU) {
		text_append_format(text, "on CPU %" PRIu32, line->segment->cpu);
	} else {
		text_append(text, "runnable");
	}
}

static void add_columns(const struct waterfall *waterfall, struct table *table, const struct line *line)
{
	uint32_t indent = line->kind == LINE_CHILD ? line->child->depth : 1;
	struct text text = { 0 };
	char time[UNITS_SIZE];
	uint64_t begin_ns = waterfall->window->begin_ns;

	if (line->from_ns >= begin_ns)
		table_cell(table, TABLE_PLAIN, units_format_duration(time, line->from_ns - begin_ns));
	else
		table_cell_format(table, TABLE_PLAIN, "-%s",
				  units_format_duration(time, begin_ns - line->from_ns));
	table_cell(table, TABLE_PLAIN,
		   line->kind == LINE_MARK ? "" : units_format_duration(time, line->to_ns - line->from_ns));
	append_bar(waterfall, &text, line);
	table_cell(table, line->segment ? ledger_parts[line->segment->state].style : TABLE_PLAIN,
		   text_string(&text));
	text_clear(&text);
	for (uint32_t i = 1; i < indent && i < INDENT_MAX; i++)
		text_append(&text, "  ");
	append_what(waterfall, &text, line);
	table_cell(table, line->kind == LINE_CHILD ? TABLE_BOLD : TABLE_PLAIN, text_string(&text));
	text_release(&text);
}

static void add_heading(const struct waterfall *waterfall, struct table *table, size_t stay_idx)
{
	const struct span_window *window = waterfall->window;
	struct text text = { 0 };
	char from[UNITS_SIZE], to[UNITS_SIZE];

	if (stay_idx == WINDOW_NO_SPAN) {
		text_append(&text, "elsewhere: children and marks on other threads");
	} else {
		const struct window_stay *stay = &window->stays[stay_idx];
		uint64_t enter_ns = stay->enter_ns > window->begin_ns ? stay->enter_ns - window->begin_ns : 0;

		text_append(&text, "thread ");
		chosen_span_append_thread(waterfall->chosen, &text, stay->pid, stay->tid);
		text_append_format(&text, " was in it from %s to %s", units_format_duration(from, enter_ns),
				   units_format_duration(to, stay->exit_ns - window->begin_ns));
	}
	table_line(table, text_string(&text));
	text_release(&text);
}

static int print(const struct waterfall *waterfall, const struct screen *screen)
{
	static const struct table_column columns[] = {
		{ "from", TABLE_RIGHT, NULL },
		{ "for", TABLE_RIGHT, NULL },
		{ "", TABLE_LEFT, NULL },
		{ "what", TABLE_LEFT, NULL },
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	uint64_t hidden_ns = 0;
	char count[UNITS_SIZE], time[UNITS_SIZE];
	int err;

	for (size_t i = 0; i < waterfall->cnt; i++) {
		const struct line *line = &waterfall->lines[i];

		if (i == 0 || waterfall->lines[i - 1].stay != line->stay)
			add_heading(waterfall, table, line->stay);
		if (!line->is_hidden)
			add_columns(waterfall, table, line);
		else if (line->kind == LINE_SEGMENT)
			hidden_ns += line->to_ns - line->from_ns;
	}
	err = screen_print_table(screen, table);
	table_free(table);
	if (waterfall->hidden_cnt > 0)
		fprintf(screen->file,
			"\n%s shorter ones are not shown, %s of what its threads did: --all shows them\n",
			units_format_count(count, waterfall->hidden_cnt),
			units_format_duration(time, hidden_ns));
	return err;
}

int show_print(const struct chosen_span *chosen, const struct screen *screen, size_t line_limit)
{
	struct waterfall waterfall = { .chosen = chosen, .window = &chosen->window };
	int err;

	waterfall.bar_columns = screen->columns / 4 < BAR_COLUMNS_MAX ? screen->columns / 4 : BAR_COLUMNS_MAX;
	waterfall.bar_columns = waterfall.bar_columns < 4 ? 4 : waterfall.bar_columns;
	chosen_span_print_header(chosen, screen);
	err = collect(&waterfall);
	err = err ? err : hide_short_ones(&waterfall, line_limit);
	err = err ? err : print(&waterfall, screen);
	free(waterfall.lines);
	free(waterfall.own_stays);
	if (!err)
		chosen_span_print_missing(chosen, screen);
	return err;
}
