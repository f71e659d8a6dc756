/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums of a gas tree: over charges, calls, label spans and timed spans of
 * one name each. Names are those of the tree, which has to live as long.
 */
#ifndef GAS_ROWS_H
#define GAS_ROWS_H

#include "analyze/tree/gas_tree.h"

enum gas_by {
	GAS_BY_CHARGE = 0,
	GAS_BY_CALL = 1,
	GAS_BY_LABEL = 2,
	GAS_BY_SPAN = 3, /* those of SpanBegin */
};

struct gas_row {
	enum gas_by by;
	struct txtrace_string name;
	uint64_t cnt;
	uint64_t open_cnt; /* never ended */
	uint64_t ns;	   /* SPAN: of its own clock */
	int64_t self;	   /* milligas, as all below */
	int64_t total;	   /* CHARGE: compute and other */
	int64_t compute, other; /* CHARGE */
};

struct gas_rows {
	struct gas_row *rows; /* by `by`; charges by name, the others by falling total */
	size_t cnt;
	struct gas_row all; /* charges */
};

/* 0 or -ENOMEM; to be released in any case. */
int gas_rows_make(struct gas_rows *rows, const struct gas_tree *tree);
void gas_rows_release(struct gas_rows *rows);

#endif
