/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/column.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define DOT "\xc2\xb7"

/* ---- names ---- */

bool column_is_of(const struct column *column, unsigned int variant)
{
	return !column->variants || column->variants & 1u << variant;
}

/* What may be left out at the end of a name. */
static bool is_unit(const char *end)
{
	return !*end || strcmp(end, "_ns") == 0 || strcmp(end, "_milligas") == 0;
}

/* NULL: there is none, and complaint says which there are. */
static const struct column *find(const struct column *columns, unsigned int variant, const char *name,
				 size_t length, struct text *complaint)
{
	struct text known = { 0 };

	for (const struct column *column = columns; column->name; column++) {
		if (!column_is_of(column, variant))
			continue;
		if (strncmp(column->name, name, length) == 0 && is_unit(column->name + length)) {
			text_release(&known);
			return column;
		}
		text_append_format(&known, "%s%s", known.length ? ", " : "", column->name);
	}
	text_append_format(complaint, "there is no column '%.*s'; there are %s",
			   (int)(length < 64 ? length : 64), name, text_string(&known));
	text_release(&known);
	return NULL;
}

int column_choose(struct column_choice *choice, const struct column *columns, unsigned int variant,
		  const char *names, struct text *complaint)
{
	choice->cnt = 0;
	for (const char *name = names;; name++) {
		size_t length = strcspn(name, ",");
		const struct column *column = find(columns, variant, name, length, complaint);

		if (column && choice->cnt == COLUMNS_MAX)
			text_append_format(complaint, "at most %d columns can be shown", COLUMNS_MAX);
		if (!column || choice->cnt == COLUMNS_MAX)
			return -EINVAL;
		choice->columns[choice->cnt++] = column;
		name += length;
		if (!*name)
			return 0;
	}
}

const struct column *column_of_sort(const struct column *columns, unsigned int variant, const char *sort,
				    struct text *complaint)
{
	sort += *sort == '-';
	return find(columns, variant, sort, strlen(sort), complaint);
}

/* ---- values ---- */

static void fill(const struct column *column, const void *context, const void *row, struct cell *cell)
{
	const char *field = (const char *)row + column->offset;
	struct text words = cell->words;

	*cell = (struct cell){ .context = context, .column = column, .words = words, .style = column->style };
	text_clear(&cell->words);
	if (column->get)
		column->get(row, cell);
	else
		cell->number = column->flags & COLUMN_U32 ? *(const uint32_t *)field
							  : *(const uint64_t *)field;
	if (!column->get)
		cell->difference = (int64_t)cell->number;
}

static double percent(const struct cell *cell)
{
	return 100.0 * (double)cell->number / (double)cell->whole;
}

static bool is_unknown(const struct column *column, const struct cell *cell)
{
	switch (column->type) {
	case COLUMN_SHARE:
		return cell->is_unknown || cell->whole == 0;
	case COLUMN_REAL:
		return cell->is_unknown || !isfinite(cell->real);
	case COLUMN_STRING:
		return cell->is_unknown || cell->string.length == 0;
	default:
		return cell->is_unknown;
	}
}

static bool is_signed(const struct column *column)
{
	return column->type == COLUMN_SIGNED || column->type == COLUMN_GAS;
}

static bool is_text(const struct column *column)
{
	return column->type == COLUMN_STRING || column->type == COLUMN_WORDS;
}

/* ---- order ---- */

struct sort_key {
	double number; /* of numbers; -infinity: unknown */
	char *text;
	bool is_unknown;
	size_t idx;
	bool is_reversed;
};

static int compare_keys(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;
	int order;

	if (x->is_unknown != y->is_unknown)
		return x->is_unknown ? 1 : -1;
	if (x->text && y->text)
		order = strcmp(x->text, y->text);
	else
		order = (x->number < y->number) - (x->number > y->number);
	if (order == 0)
		return x->idx < y->idx ? -1 : x->idx > y->idx;
	return x->is_reversed ? -order : order;
}

static int make_key(const struct column *column, const struct cell *cell, struct sort_key *key)
{
	const struct txtrace_string *string = &cell->string;

	key->is_unknown = is_unknown(column, cell);
	switch (column->type) {
	case COLUMN_STRING:
		key->text = strndup(string->length ? string->bytes : "", string->length);
		return key->text ? 0 : -ENOMEM;
	case COLUMN_WORDS:
		key->text = strdup(text_string(&cell->words));
		return key->text ? cell->words.err : -ENOMEM;
	case COLUMN_SHARE:
		key->number = cell->whole ? percent(cell) : 0;
		return 0;
	case COLUMN_REAL:
		key->number = cell->real;
		return 0;
	default:
		key->number = is_signed(column) ? (double)cell->difference : (double)cell->number;
		return 0;
	}
}

int column_sort(const struct column *column, bool is_reversed, const void *context, const void **rows,
		size_t cnt)
{
	struct sort_key *keys = calloc(cnt + 1, sizeof(*keys));
	const void **sorted = calloc(cnt + 1, sizeof(*sorted));
	struct cell cell = { 0 };
	int err = keys && sorted ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < cnt; i++) {
		keys[i] = (struct sort_key){ .idx = i, .is_reversed = is_reversed };
		fill(column, context, rows[i], &cell);
		err = make_key(column, &cell, &keys[i]);
	}
	if (!err && cnt > 0) {
		qsort(keys, cnt, sizeof(*keys), compare_keys);
		for (size_t i = 0; i < cnt; i++)
			sorted[i] = rows[keys[i].idx];
		memcpy(rows, sorted, cnt * sizeof(*rows));
	}
	for (size_t i = 0; keys && i < cnt; i++)
		free(keys[i].text);
	free(keys);
	free(sorted);
	text_release(&cell.words);
	return err;
}

/* ---- a table ---- */

void column_titles(const struct column_choice *choice, struct table_column titles[COLUMNS_MAX])
{
	for (size_t i = 0; i < choice->cnt; i++) {
		const struct column *column = choice->columns[i];
		const char *title = column->title ? column->title : column->name;

		if (column->flags & COLUMN_KEY && choice->key_title)
			title = choice->key_title;
		titles[i] = (struct table_column){ title, is_text(column) ? TABLE_LEFT : TABLE_RIGHT,
						   column->group };
	}
}

static void append_moment(struct text *text, uint64_t ns, uint64_t begin_ns)
{
	uint64_t offset_ns = ns > begin_ns ? ns - begin_ns : 0;

	text_append_format(text, "+%" PRIu64 ".%06" PRIu64, offset_ns / 1000000000,
			   offset_ns / 1000 % 1000000);
}

static void append_number(struct text *text, const struct column *column, const struct cell *cell,
			  uint64_t begin_ns)
{
	uint64_t magnitude = cell->difference < 0 ? 0 - (uint64_t)cell->difference
						  : (uint64_t)cell->difference;
	char units[UNITS_SIZE];

	switch (column->type) {
	case COLUMN_DURATION:
		text_append(text, units_format_duration(units, cell->number));
		break;
	case COLUMN_MOMENT:
		append_moment(text, cell->number, begin_ns);
		break;
	case COLUMN_ID:
		text_append_u64(text, cell->number);
		break;
	case COLUMN_SHARE:
		text_append(text, units_format_share(units, cell->number, cell->whole));
		break;
	case COLUMN_REAL:
		text_append_format(text, "%.*f", column->decimals ? (int)column->decimals : 2, cell->real);
		break;
	case COLUMN_SIGNED:
		text_append_format(text, "%s%s", cell->difference < 0 ? "-" : "+",
				   units_format_duration(units, magnitude));
		break;
	case COLUMN_GAS:
		text_append_format(text, "%s%s.%03u", cell->difference < 0 ? "-" : "",
				   units_format_count(units, magnitude / 1000),
				   (unsigned int)(magnitude % 1000));
		break;
	default:
		text_append(text, units_format_count(units, cell->number));
		break;
	}
}

static bool is_nothing(const struct column *column, const struct cell *cell)
{
	return column->type == COLUMN_REAL ? cell->real == 0 : cell->number == 0;
}

void column_add_cell(const struct column *column, const void *context, const void *row, uint64_t begin_ns,
		     struct table *table)
{
	struct cell cell = { 0 };
	struct text text = { 0 };

	fill(column, context, row, &cell);
	if (column->type == COLUMN_WORDS ||
	    (column->type == COLUMN_STRING && (cell.is_shortened || cell.string.length == 0))) {
		table_cell(table, cell.style, text_string(&cell.words));
	} else if (column->type == COLUMN_STRING) {
		text_append_escaped(&text, cell.string.bytes, cell.string.length);
		table_cell(table, cell.style, text_string(&text));
	} else if (column->flags & COLUMN_BLANK && (cell.is_unknown || is_nothing(column, &cell))) {
		table_cell(table, TABLE_PLAIN, "");
	} else if (cell.is_unknown || (column->flags & COLUMN_DOT && is_nothing(column, &cell))) {
		table_cell(table, TABLE_DIM, cell.words.length ? text_string(&cell.words) : DOT);
	} else {
		text_append(&text, cell.bound ? cell.bound : "");
		append_number(&text, column, &cell, begin_ns);
		table_cell(table, cell.style, text_string(&text));
	}
	text_release(&text);
	text_release(&cell.words);
}

int column_print_table(const struct column_choice *choice, const void *context, const void *const *rows,
		       size_t cnt, uint64_t begin_ns, const struct screen *screen)
{
	struct table_column titles[COLUMNS_MAX];
	struct table *table;
	int err;

	column_titles(choice, titles);
	table = table_new(titles, choice->cnt);
	for (size_t i = 0; i < cnt; i++) {
		for (size_t j = 0; j < choice->cnt; j++)
			column_add_cell(choice->columns[j], context, rows[i], begin_ns, table);
	}
	err = screen_print_table(screen, table);
	table_free(table);
	return err;
}

/* ---- CSV ---- */

/*
 * RFC 4180: quotes where they are needed, or where is_quoted, and around text that is empty: what has no
 * value has none.
 */
static void csv_print_field(FILE *file, const char *field, bool is_quoted)
{
	if (!is_quoted && !field[strcspn(field, ",\"\r\n ")]) {
		fputs(field, file);
		return;
	}
	fputc('"', file);
	for (; *field; field++) {
		if (*field == '"')
			fputc('"', file);
		fputc(*field, file);
	}
	fputc('"', file);
}

void column_print_csv_names(const struct column_choice *choice, FILE *file)
{
	for (size_t i = 0; i < choice->cnt; i++)
		fprintf(file, "%s%s", i ? "," : "", choice->columns[i]->name);
	fputc('\n', file);
}

static void append_plain(struct text *text, const struct column *column, const struct cell *cell)
{
	switch (column->type) {
	case COLUMN_STRING:
		text_append_escaped(text, cell->string.bytes, cell->string.length);
		break;
	case COLUMN_WORDS:
		text_append(text, text_string(&cell->words));
		break;
	case COLUMN_SHARE:
		text_append_format(text, "%.3f", percent(cell));
		break;
	case COLUMN_REAL:
		text_append_format(text, "%.6g", cell->real);
		break;
	case COLUMN_SIGNED:
	case COLUMN_GAS:
		text_append_format(text, "%" PRId64, cell->difference);
		break;
	default:
		text_append_u64(text, cell->number);
		break;
	}
}

int column_print_csv(const struct column_choice *choice, const void *context, const void *row, FILE *file)
{
	struct text field = { 0 };
	struct cell cell = { 0 };
	int err;

	for (size_t i = 0; i < choice->cnt; i++) {
		const struct column *column = choice->columns[i];

		fill(column, context, row, &cell);
		text_clear(&field);
		if (i > 0)
			fputc(',', file);
		if (is_unknown(column, &cell))
			continue;
		append_plain(&field, column, &cell);
		csv_print_field(file, text_string(&field), is_text(column) && field.length == 0);
	}
	fputc('\n', file);
	err = field.err ? field.err : cell.words.err;
	text_release(&field);
	text_release(&cell.words);
	return err;
}

/* ---- JSON ---- */

void column_member_json(const struct column *column, const void *context, const void *row, struct json *json)
{
	struct cell cell = { 0 };

	fill(column, context, row, &cell);
	json_name(json, column->name);
	if (is_unknown(column, &cell))
		json_null(json);
	else if (column->type == COLUMN_STRING)
		json_string(json, cell.string.bytes, cell.string.length);
	else if (column->type == COLUMN_WORDS)
		json_text(json, text_string(&cell.words));
	else if (column->type == COLUMN_SHARE)
		json_fixed(json, percent(&cell), 3);
	else if (column->type == COLUMN_REAL)
		json_double(json, cell.real);
	else if (is_signed(column))
		json_i64(json, cell.difference);
	else
		json_u64(json, cell.number);
	if (cell.words.err && !json->err)
		json->err = cell.words.err;
	text_release(&cell.words);
}
