/* SPDX-License-Identifier: BSD-2-Clause */
/* What makes slow spans slow, as people read it, and as JSON. */
#ifndef TAIL_PRINT_H
#define TAIL_PRINT_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/label/tail_report.h"
#include "base/json.h"
#include "cli/screen.h"

/* --percentile: 0 or -EINVAL, and what it must be. */
int tail_parse_percentile(double *percentile, const char *value, const char **complaint);

/* A paragraph for each label with enough spans, `limit` at most (0: all). 0 or a negative errno. */
int tail_print(const struct screen *screen, double percentile, const struct tail_row *const *rows, size_t cnt,
	       uint64_t limit, uint64_t *hidden_cnt);

/* The line about labels that have too few; none: nothing. */
void tail_print_too_few(const struct screen *screen, double percentile, const struct tail_row *const *rows,
			size_t row_cnt);

/* An object. */
void tail_row_json(struct json *json, const struct tail_row *row);

/* The parts that make the difference, the largest share first; how many they are. */
size_t tail_order_parts(const struct tail_row *row, size_t order[TAIL_PART_COUNT]);

/* A part of the ledger as JSON names it, and its share of what the slow spans take more. */
const char *tail_part_name(size_t part);
double tail_share_percent(const struct tail_row *row, size_t part);

#endif
