/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/fleet_query.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/span/span_top.h"
#include "base/array.h"
#include "fleet/row_reader.h"
#include "log/format/record_table.h"

#define ROWS_MAX 100000 /* of a report */

/* ---- which spans ---- */

static bool has_wildcard(const char *pattern)
{
	return pattern[strcspn(pattern, "*?[\\")] != '\0';
}

/* One byte. Others than ASCII stay as they are: in \x notation, RE2 takes them for characters. */
static void append_byte(struct text *expression, char byte)
{
	if ((unsigned char)byte < 0x80)
		text_append_format(expression, "\\x%02x", (unsigned int)byte);
	else
		text_append_bytes(expression, &byte, 1);
}

/* Where the set at pattern ends: its ']'; NULL: it is no set. As in base/glob.c. */
static const char *end_of_set(const char *pattern)
{
	const char *first = pattern + 1 + (pattern[1] == '!' || pattern[1] == '^');

	return *first ? strchr(first + 1, ']') : NULL;
}

static void append_set(struct text *expression, const char *pattern, const char *end)
{
	const char *first = pattern + 1;

	text_append(expression, *first == '!' || *first == '^' ? "[^" : "[");
	first += *first == '!' || *first == '^';
	for (const char *at = first; at < end; at++) {
		if (*at == '-' && at > first && at + 1 < end)
			text_append(expression, "-");
		else
			append_byte(expression, *at);
	}
	text_append(expression, "]");
}

/* One pattern of base/glob.h as an expression of RE2, for the whole value. \C is any byte. */
static void append_expression(struct text *text, const char *pattern)
{
	struct text expression = { 0 };

	text_append(&expression, "^");
	for (const char *at = pattern; *at; at++) {
		const char *end = *at == '[' ? end_of_set(at) : NULL;

		if (end) {
			append_set(&expression, at, end);
			at = end;
		} else if (*at == '*' || *at == '?') {
			text_append(&expression, *at == '*' ? "\\C*" : "\\C");
		} else {
			at += *at == '\\' && at[1];
			append_byte(&expression, *at);
		}
	}
	text_append(&expression, "$");
	clickhouse_append_literal(text, text_string(&expression), expression.length);
	if (expression.err)
		text->err = expression.err;
	text_release(&expression);
}

static void append_match(struct text *query, const char *column, const char *pattern)
{
	if (!pattern)
		return;
	if (has_wildcard(pattern)) {
		text_append_format(query, " AND match(%s, ", column);
		append_expression(query, pattern);
		text_append(query, ")");
	} else {
		text_append_format(query, " AND %s = ", column);
		clickhouse_append_literal(query, pattern, strlen(pattern));
	}
}

/* What spans and files have: a host, a capture, and times. */
static void append_place(struct text *query, const struct fleet_choice *choice, const char *last,
			 const char *first)
{
	append_match(query, "host", choice->host);
	append_match(query, "capture", choice->capture);
	if (choice->since_s)
		text_append_format(query, " AND %s >= toDateTime(%llu)", last,
				   (unsigned long long)choice->since_s);
	if (choice->until_s)
		text_append_format(query, " AND %s < toDateTime(%llu)", first,
				   (unsigned long long)choice->until_s);
}

/* Of the table of files: those that may hold such spans. */
static void append_files(struct text *query, const struct fleet_choice *choice)
{
	append_place(query, choice, "last_time", "first_time");
}

/* Of each file one batch counts, see shipper.h. */
static void append_where(struct text *query, const struct fleet_choice *choice)
{
	text_append(query, " WHERE batch GLOBAL IN (SELECT min(batch) FROM files WHERE is_removed = 0");
	append_files(query, choice);
	text_append(query, " GROUP BY host, capture, part)");
	append_place(query, choice, "time", "time");
	append_match(query, "container", choice->container);
	append_match(query, "pod", choice->pod);
	append_match(query, "label", choice->label);
}

/* ---- parts of queries ---- */

/* The column with the ledger's idx-th number. */
static const char *part_column(size_t idx)
{
	const struct record_kind *kind = &record_kinds[TXTRACE_RECORD_SPAN];
	size_t offset = offsetof(struct txtrace_record, span.ledger) + idx * sizeof(uint64_t);

	for (size_t i = 0; i < kind->field_cnt; i++)
		if (kind->fields[i].type == RECORD_DURATION && kind->fields[i].offset == offset)
			return kind->fields[i].name;
	abort(); /* each part of a ledger has a field; every report asks for all of them */
}

/* Members of struct span_sums, of spans for which the condition holds. */
static void append_sums(struct text *query, const char *condition)
{
	text_append_format(query, ", toUInt64(countIf(%s)), sumIf(wall_ns, %s), sumIf(work_ns, %s)",
			   condition, condition, condition);
	for (size_t i = 0; i < TAIL_PART_COUNT; i++)
		text_append_format(query, ", sumIf(%s, %s)", part_column(i), condition);
}

static void read_sums(struct row_reader *reader, struct span_sums *sums)
{
	sums->cnt = row_read_u64(reader);
	sums->wall_ns = row_read_u64(reader);
	sums->work_ns = row_read_u64(reader);
	for (size_t i = 0; i < TAIL_PART_COUNT; i++)
		((uint64_t *)&sums->ledger)[i] = row_read_u64(reader);
}

#define EXACT "lower_bound = 0"

/* A quantile of the wall times of exact spans, by nearest rank, as in analyze/quantile.h. */
static void append_quantile(struct text *query, double fraction, bool is_exact)
{
	if (is_exact)
		text_append_format(query,
				   ", arrayElement(arraySort(groupArrayIf(wall_ns, " EXACT ")), "
				   "toUInt64(greatest(1, ceil(%.17g * countIf(" EXACT ")))))",
				   fraction);
	else
		text_append_format(query,
				   ", toUInt64(if(countIf(" EXACT
				   ") = 0, 0, quantileTDigestIf(%.17g)(wall_ns, " EXACT ")))",
				   fraction);
}

/* ---- asking ---- */

/* Reads all rows: read(reader, row) for each. The array is *rows, of *cnt rows. */
typedef void (*row_read)(struct row_reader *reader, void *row);

static int ask(struct clickhouse *server, struct text *query, struct text *answer, struct error *error)
{
	int err;

	text_append(query, " FORMAT RowBinary");
	if (query->err)
		error_set(error, "not enough memory");
	err = query->err ? -ENOMEM : clickhouse_query(server, text_string(query), answer, error);
	text_release(query);
	return err;
}

static int read_rows(const struct text *answer, row_read read, size_t row_bytes, void **rows, size_t *cnt,
		     struct error *error)
{
	struct row_reader reader = { .at = text_string(answer), .end = text_string(answer) + answer->length };
	size_t room = 0;

	while (row_reader_has_more(&reader)) {
		char *grown = array_grow(*rows, &room, *cnt, row_bytes);

		if (!grown) {
			error_set(error, "not enough memory");
			return -ENOMEM;
		}
		*rows = grown;
		memset(grown + *cnt * row_bytes, 0, row_bytes);
		read(&reader, grown + *cnt * row_bytes);
		++*cnt;
	}
	if (!reader.is_bad)
		return 0;
	error_set(error, "the server's answer is cut off, or no answer of ClickHouse");
	return -EPROTO;
}

/* ---- report ---- */

static const struct {
	const char *name;
	const char *column;
} keys[] = {
	{ "label", "label" },
	{ "host", "host" },
	{ "container", "container" },
	{ "pod", "pod" },
	{ "capture", "capture" },
	{ "process", "concat(host, ' ', toString(pid))" },
	{ "thread", "concat(host, ' ', toString(tid))" },
	{ "tag", "tag" },
	{ "key", "key" },
};

const char *fleet_report_key(size_t index)
{
	return index < sizeof(keys) / sizeof(keys[0]) ? keys[index].name : NULL;
}

static void read_report_row(struct row_reader *reader, void *at)
{
	struct fleet_report_row *row = at;

	row->name = row_read_string(reader);
	row->host_cnt = row_read_u64(reader);
	row->min_ns = row_read_u64(reader);
	row->max_ns = row_read_u64(reader);
	row->p50_ns = row_read_u64(reader);
	row->p90_ns = row_read_u64(reader);
	row->p99_ns = row_read_u64(reader);
	read_sums(reader, &row->exact);
	read_sums(reader, &row->lower_bounds);
}

int fleet_report_ask(struct fleet_report *report, struct clickhouse *server,
		     const struct fleet_choice *choice, size_t key, bool is_exact, struct error *error)
{
	struct text query = { 0 };
	int err;

	text_append_format(&query,
			   "SELECT toString(%s) AS name, toUInt64(uniqExact(host)), minIf(wall_ns, " EXACT
			   "), maxIf(wall_ns, " EXACT ")",
			   keys[key].column);
	append_quantile(&query, 0.5, is_exact);
	append_quantile(&query, 0.9, is_exact);
	append_quantile(&query, 0.99, is_exact);
	append_sums(&query, EXACT);
	append_sums(&query, "lower_bound = 1");
	text_append(&query, " FROM spans");
	append_where(&query, choice);
	text_append_format(&query, " GROUP BY name ORDER BY sum(work_ns) DESC, name LIMIT %d", ROWS_MAX);
	err = ask(server, &query, &report->answer, error);
	err = err ? err
		  : read_rows(&report->answer, read_report_row, sizeof(*report->rows), (void **)&report->rows,
			      &report->cnt, error);
	report->is_cut = report->cnt == ROWS_MAX;
	return err;
}

void fleet_report_release(struct fleet_report *report)
{
	text_release(&report->answer);
	free(report->rows);
}

/* ---- tail ---- */

struct tail_answer {
	struct label_row label;
	struct tail_row row;
};

static void read_tail_row(struct row_reader *reader, void *at)
{
	struct tail_answer *answer = at;
	struct tail_row *row = &answer->row;

	answer->label.label = row_read_string(reader);
	answer->label.exact.sums.cnt = row_read_u64(reader);
	row->median_ns = row_read_u64(reader);
	row->middle.from_ns = row_read_u64(reader);
	row->middle.to_ns = row_read_u64(reader);
	row->high_ns = row->tail.from_ns = row_read_u64(reader);
	row->tail.to_ns = row_read_u64(reader);
	read_sums(reader, &row->middle.sums);
	read_sums(reader, &row->tail.sums);
}

/* The bands of each label, which the other query is joined with. */
static void append_bands(struct text *query, const struct fleet_choice *choice, double fraction,
			 bool is_exact)
{
	static const char *const names[] = { "p50", "p40", "p60", "high" };
	const double fractions[] = { 0.5, TAIL_MIDDLE_FROM, TAIL_MIDDLE_TO, fraction };

	text_append(query, "(SELECT label, toUInt64(countIf(" EXACT ")) AS cnt, maxIf(wall_ns, " EXACT
			   ") AS top, sum(work_ns) AS all_work");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		append_quantile(query, fractions[i], is_exact);
		text_append_format(query, " AS %s", names[i]);
	}
	text_append(query, " FROM spans");
	append_where(query, choice);
	text_append(query, " GROUP BY label)");
}

static int split_answers(struct fleet_tail *tail, struct tail_answer *answers, size_t cnt, double fraction)
{
	tail->labels = calloc(cnt ? cnt : 1, sizeof(*tail->labels));
	tail->rows = calloc(cnt ? cnt : 1, sizeof(*tail->rows));
	if (!tail->labels || !tail->rows)
		return -ENOMEM;
	tail->cnt = cnt;
	for (size_t i = 0; i < cnt; i++) {
		tail->labels[i] = answers[i].label;
		tail->rows[i] = answers[i].row;
		tail->rows[i].label = &tail->labels[i];
		tail->rows[i].has_enough = answers[i].label.exact.sums.cnt >= tail_spans_needed(fraction);
	}
	return 0;
}

int fleet_tail_ask(struct fleet_tail *tail, struct clickhouse *server, const struct fleet_choice *choice,
		   double fraction, bool is_exact, struct error *error)
{
	struct tail_answer *answers = NULL;
	struct text query = { 0 };
	size_t cnt = 0;
	int err;

	text_append(&query, "SELECT label, any(cnt), any(p50), any(p40), any(p60), any(high), any(top)");
	append_sums(&query, "wall_ns >= p40 AND wall_ns <= p60");
	append_sums(&query, "wall_ns >= high");
	text_append(&query, " FROM spans GLOBAL ALL INNER JOIN ");
	append_bands(&query, choice, fraction, is_exact);
	text_append(&query, " AS bands USING label");
	append_where(&query, choice);
	text_append(&query, " AND " EXACT " GROUP BY label ORDER BY any(all_work) DESC, label");
	err = ask(server, &query, &tail->answer, error);
	err = err ? err
		  : read_rows(&tail->answer, read_tail_row, sizeof(*answers), (void **)&answers, &cnt, error);
	if (!err)
		err = split_answers(tail, answers, cnt, fraction);
	free(answers);
	return err;
}

void fleet_tail_release(struct fleet_tail *tail)
{
	text_release(&tail->answer);
	free(tail->labels);
	free(tail->rows);
}

/* ---- spans ---- */

#define SPAN_TEXTS "host, capture, container, pod, label, tag, key"
#define SPAN_NUMBERS                                                                                         \
	"toUInt64(unix_ns), id, parent, toUInt64(pid), toUInt64(tid), toUInt64(end_tid), begin_ns, end_ns, " \
	"work_ns, toUInt64(lower_bound), toUInt64(unfinished)"

static void read_span(struct row_reader *reader, void *at)
{
	struct fleet_span *row = at;
	struct txtrace_span *span = &row->span;

	row->host = row_read_string(reader);
	row->capture = row_read_string(reader);
	row->container = row_read_string(reader);
	row->pod = row_read_string(reader);
	span->label = row_read_string(reader);
	span->tag = row_read_string(reader);
	span->key = row_read_string(reader);
	row->unix_ns = row_read_u64(reader);
	span->id = row_read_u64(reader);
	span->parent = row_read_u64(reader);
	span->pid = (uint32_t)row_read_u64(reader);
	span->tid = (uint32_t)row_read_u64(reader);
	span->end_tid = (uint32_t)row_read_u64(reader);
	span->begin_ns = row_read_u64(reader);
	span->end_ns = row_read_u64(reader);
	span->work_ns = row_read_u64(reader);
	span->flags |= row_read_u64(reader) ? TXTRACE_SPAN_LOWER_BOUND : 0;
	span->flags |= row_read_u64(reader) ? TXTRACE_SPAN_UNFINISHED : 0;
	for (size_t i = 0; i < TAIL_PART_COUNT; i++)
		((uint64_t *)&span->ledger)[i] = row_read_u64(reader);
}

int fleet_spans_ask(struct fleet_spans *spans, struct clickhouse *server, const struct fleet_choice *choice,
		    size_t sort, uint64_t limit, struct error *error)
{
	const char *by = span_top_sort(sort);
	struct text query = { 0 };
	int err;

	text_append(&query, "SELECT toString(host), toString(capture), toString(container), toString(pod), "
			    "toString(label), tag, key, " SPAN_NUMBERS);
	for (size_t i = 0; i < TAIL_PART_COUNT; i++)
		text_append_format(&query, ", %s", part_column(i));
	text_append(&query, " FROM spans");
	append_where(&query, choice);
	if (strcmp(by, "begin") == 0)
		text_append(&query, " ORDER BY unix_ns - wall_ns");
	else
		text_append_format(&query, " ORDER BY %s_ns DESC, unix_ns", by);
	text_append_format(&query, ", host, capture, id LIMIT %llu",
			   (unsigned long long)(limit ? limit : ROWS_MAX));
	err = ask(server, &query, &spans->answer, error);
	return err ? err
		   : read_rows(&spans->answer, read_span, sizeof(*spans->rows), (void **)&spans->rows,
			       &spans->cnt, error);
}

void fleet_spans_release(struct fleet_spans *spans)
{
	text_release(&spans->answer);
	free(spans->rows);
}

/* ---- captures ---- */

static void read_capture(struct row_reader *reader, void *at)
{
	struct fleet_capture_row *row = at;

	row->label = row_read_string(reader);
	row->capture = row_read_string(reader);
	row->cnt = row_read_u64(reader);
	row->wall_ns = row_read_u64(reader);
}

int fleet_captures_ask(struct fleet_captures *captures, struct clickhouse *server,
		       const struct fleet_choice *choice, struct error *error)
{
	struct text query = { 0 };
	int err;

	text_append(&query, "SELECT toString(label) AS l, toString(capture) AS c, toUInt64(count()), "
			    "sum(wall_ns) FROM spans");
	append_where(&query, choice);
	text_append(&query, " AND " EXACT " GROUP BY l, c ORDER BY l, c");
	err = ask(server, &query, &captures->answer, error);
	return err ? err
		   : read_rows(&captures->answer, read_capture, sizeof(*captures->rows),
			       (void **)&captures->rows, &captures->cnt, error);
}

void fleet_captures_release(struct fleet_captures *captures)
{
	text_release(&captures->answer);
	free(captures->rows);
}

/* ---- files ---- */

int fleet_files_ask(struct fleet_files *files, struct clickhouse *server, const struct fleet_choice *choice,
		    struct error *error)
{
	struct text query = { 0 }, answer = { 0 };
	struct row_reader reader;
	int err;

	*files = (struct fleet_files){ 0 };
	text_append(&query,
		    "SELECT toUInt64(countIf(gone = 0)), toUInt64(countIf(gone = 1)), "
		    "toUInt64(countIf(damages > 0)), toUInt64(sum(lost)), toUInt64(uniqExact(host)), "
		    "toUInt64(sum(spans)) FROM (SELECT host, min(is_removed) AS gone, max(damage_cnt) AS "
		    "damages, max(lost_cnt) AS lost, max(span_cnt) AS spans FROM files WHERE 1");
	append_files(&query, choice);
	text_append(&query, " GROUP BY host, capture, part)");
	err = ask(server, &query, &answer, error);
	reader = (struct row_reader){ .at = text_string(&answer),
				      .end = text_string(&answer) + answer.length };
	files->file_cnt = row_read_u64(&reader);
	files->removed_cnt = row_read_u64(&reader);
	files->damaged_cnt = row_read_u64(&reader);
	files->lost_cnt = row_read_u64(&reader);
	files->host_cnt = row_read_u64(&reader);
	files->span_cnt = row_read_u64(&reader);
	text_release(&answer);
	if (!err && reader.is_bad) {
		error_set(error, "the server's answer is cut off, or no answer of ClickHouse");
		err = -EPROTO;
	}
	return err;
}
