/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/fleet_diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/compare/permutation.h"
#include "base/seeded_random.h"

#define SEED 1 /* the same captures give the same answer */

const char *const fleet_verdict_names[] = { "unsure", "same", "slower", "faster", "new", "gone" };

static int compare_strings(const struct txtrace_string *a, const struct txtrace_string *b)
{
	size_t length = a->length < b->length ? a->length : b->length;
	int order = length ? memcmp(a->bytes, b->bytes, length) : 0;

	return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* ---- rows ---- */

static uint64_t mean(uint64_t sum, uint64_t cnt)
{
	return cnt ? sum / cnt : 0;
}

static uint64_t part_mean(const struct fleet_report_row *row, size_t part)
{
	return row ? mean(((const uint64_t *)&row->exact.ledger)[part], row->exact.cnt) : 0;
}

static uint64_t wall_mean(const struct fleet_report_row *row)
{
	return row ? mean(row->exact.wall_ns, row->exact.cnt) : 0;
}

static void describe_change(struct fleet_diff_row *row)
{
	row->p = NAN;
	row->verdict = !row->sides[0] ? FLEET_NEW : !row->sides[1] ? FLEET_GONE : FLEET_UNSURE;
	row->mean_more_ns = (int64_t)(wall_mean(row->sides[1]) - wall_mean(row->sides[0]));
	for (size_t part = 0; part < TAIL_PART_COUNT; part++) {
		int64_t more_ns = (int64_t)(part_mean(row->sides[1], part) - part_mean(row->sides[0], part));

		if (llabs(more_ns) <= llabs(row->part_more_ns))
			continue;
		row->most_part = part;
		row->part_more_ns = more_ns;
	}
}

static int by_label(const void *a, const void *b)
{
	return compare_strings(&((const struct fleet_diff_row *)a)->label,
			       &((const struct fleet_diff_row *)b)->label);
}

/* Rows of both sides, by label; then those of one label become one. */
static int join_rows(struct fleet_diff *diff)
{
	size_t cnt = diff->reports[0].cnt + diff->reports[1].cnt, kept = 0, at = 0;
	struct fleet_diff_row *rows = calloc(cnt ? cnt : 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	diff->rows = rows;
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < diff->reports[side].cnt; i++, at++) {
			rows[at].label = diff->reports[side].rows[i].name;
			rows[at].sides[side] = &diff->reports[side].rows[i];
		}
	qsort(rows, cnt, sizeof(*rows), by_label);
	for (size_t i = 0; i < cnt; i++) {
		if (kept > 0 && by_label(&rows[kept - 1], &rows[i]) == 0) {
			for (size_t side = 0; side < 2; side++)
				if (rows[i].sides[side])
					rows[kept - 1].sides[side] = rows[i].sides[side];
			continue;
		}
		rows[kept++] = rows[i];
	}
	diff->cnt = kept;
	for (size_t i = 0; i < kept; i++)
		describe_change(&rows[i]);
	return 0;
}

/* ---- certainty ---- */

static int by_capture(const void *a, const void *b)
{
	return compare_strings(a, b);
}

/* The captures of a side, each once. NULL: no memory. */
static struct txtrace_string *list_captures(const struct fleet_captures *captures, size_t *cnt)
{
	struct txtrace_string *names = calloc(captures->cnt ? captures->cnt : 1, sizeof(*names));

	*cnt = 0;
	if (!names)
		return NULL;
	for (size_t i = 0; i < captures->cnt; i++)
		names[i] = captures->rows[i].capture;
	qsort(names, captures->cnt, sizeof(*names), by_capture);
	for (size_t i = 0; i < captures->cnt; i++)
		if (*cnt == 0 || compare_strings(&names[*cnt - 1], &names[i]))
			names[(*cnt)++] = names[i];
	return names;
}

/* The rows of captures come by label, as diff->rows are; values[figure][unit]. */
static void fill_means(const struct fleet_diff *diff, size_t side, const struct txtrace_string *names,
		       double *values, size_t unit_cnt)
{
	const struct fleet_captures *captures = &diff->captures[side];

	for (size_t i = 0; i < captures->cnt; i++) {
		const struct fleet_capture_row *row = &captures->rows[i];
		const struct fleet_diff_row key = { .label = row->label }, *figure;
		const struct txtrace_string *name;

		figure = bsearch(&key, diff->rows, diff->cnt, sizeof(key), by_label);
		name = bsearch(&row->capture, names, diff->capture_cnt[side], sizeof(*names), by_capture);
		if (figure && name && row->cnt)
			values[(size_t)(figure - diff->rows) * unit_cnt + (side ? diff->capture_cnt[0] : 0) +
			       (size_t)(name - names)] = (double)row->wall_ns / (double)row->cnt;
	}
}

static void decide(struct fleet_diff *diff, const double *p)
{
	for (size_t i = 0; i < diff->cnt; i++) {
		struct fleet_diff_row *row = &diff->rows[i];

		if (row->verdict != FLEET_UNSURE)
			continue;
		row->p = p[i];
		if (!(p[i] <= FLEET_DIFF_ALPHA))
			row->verdict = FLEET_SAME;
		else
			row->verdict = row->mean_more_ns > 0 ? FLEET_SLOWER : FLEET_FASTER;
	}
}

static int test_means(struct fleet_diff *diff, struct txtrace_string *const names[2])
{
	size_t unit_cnt = diff->capture_cnt[0] + diff->capture_cnt[1];
	double *values = calloc(diff->cnt * unit_cnt, sizeof(*values));
	double *floors = calloc(diff->cnt, sizeof(*floors)), *p = calloc(diff->cnt, sizeof(*p));
	struct permutation test = { .cnt = { diff->capture_cnt[0], diff->capture_cnt[1] },
				    .figure_cnt = diff->cnt,
				    .values = values,
				    .floors = floors };
	struct seeded_random random;
	int err = values && floors && p ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < diff->cnt * unit_cnt; i++)
		values[i] = NAN;
	for (size_t i = 0; !err && i < diff->cnt; i++) /* a thousandth: less is no change to speak of */
		floors[i] = 1 + (double)wall_mean(diff->rows[i].sides[0]) / 1000;
	for (size_t side = 0; side < 2 && !err; side++)
		fill_means(diff, side, names[side], values, unit_cnt);
	if (!err) {
		seeded_random_init(&random, SEED);
		err = permutation_test(&test, &random, p);
	}
	if (!err)
		decide(diff, p);
	free(values);
	free(floors);
	free(p);
	return err;
}

/* ---- order ---- */

static double total_change(const struct fleet_diff_row *row)
{
	const struct fleet_report_row *side = row->sides[1] ? row->sides[1] : row->sides[0];

	return fabs((double)row->mean_more_ns) * (double)side->exact.cnt;
}

static int by_change(const void *a, const void *b)
{
	double x = total_change(a), y = total_change(b);

	return x != y ? (x < y ? 1 : -1) : by_label(a, b);
}

static int compare_sides(struct fleet_diff *diff)
{
	struct txtrace_string *names[2] = { list_captures(&diff->captures[0], &diff->capture_cnt[0]),
					    list_captures(&diff->captures[1], &diff->capture_cnt[1]) };
	int err = names[0] && names[1] ? join_rows(diff) : -ENOMEM;

	diff->needed_cnt = permutation_units_needed(FLEET_DIFF_ALPHA, false, false);
	if (!err && diff->cnt && permutation_least_p(diff->capture_cnt, false, false) <= FLEET_DIFF_ALPHA)
		err = test_means(diff, names);
	if (!err)
		qsort(diff->rows, diff->cnt, sizeof(*diff->rows), by_change);
	free(names[0]);
	free(names[1]);
	return err;
}

int fleet_diff_ask(struct fleet_diff *diff, struct clickhouse *server, const struct fleet_choice sides[2],
		   bool is_exact, struct error *error)
{
	int err = 0;

	for (size_t side = 0; side < 2 && !err; side++) {
		err = fleet_report_ask(&diff->reports[side], server, &sides[side], 0, is_exact, error);
		err = err ? err : fleet_captures_ask(&diff->captures[side], server, &sides[side], error);
	}
	return err ? err : compare_sides(diff);
}

void fleet_diff_release(struct fleet_diff *diff)
{
	for (size_t side = 0; side < 2; side++) {
		fleet_report_release(&diff->reports[side]);
		fleet_captures_release(&diff->captures[side]);
	}
	free(diff->rows);
}
