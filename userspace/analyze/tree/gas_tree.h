/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was charged to whom in an imported trace of the Filecoin virtual machine
 * (log/format/fvm_marks.h): self and total of each call and label span, by the
 * names of charges, and the sums over names and labels. Amounts are in milligas
 * and may be negative. Memory follows the number of spans.
 *
 *	struct gas_tree *tree = gas_tree_new();
 *
 *	err = gas_tree_add(tree, &record);            each of the log
 *	err = gas_tree_finish(tree);
 *	use(tree->spans, ...);
 */
#ifndef GAS_TREE_H
#define GAS_TREE_H

#include <stdbool.h>

#include "base/id_map.h"
#include "base/key_map.h"
#include "base/string_pool.h"
#include "base/text.h"
#include "txtrace/log.h"

struct gas_sum {
	uint32_t name; /* of tree->names */
	int64_t milligas;
};

struct gas_sums { /* sorted by falling amount, then by name */
	struct gas_sum *sums;
	size_t cnt;
	int64_t whole;
};

enum gas_kind {
	GAS_ROOT = 0,
	GAS_CALL = 1,
	GAS_LABEL = 2,
	GAS_TIMED = 3, /* of SpanBegin: its clock is ns, and no charges are its own */
};

struct gas_span {
	uint64_t number;     /* in the order of the opening; the root is 0 */
	uint64_t id, parent; /* in the log */
	enum gas_kind kind;
	bool is_closed, has_exit_code, has_error;
	int64_t exit_code;
	struct text name; /* FROM->TO::METHOD, or the label */
	struct text from, to;
	uint64_t method, elapsed_ns, begin_ns, end_ns;
	struct gas_sums self, total;
	struct gas_span *of; /* the parent; NULL: it has none */
};

struct gas_name { /* all charges of a name */
	uint64_t cnt;
	int64_t compute, other; /* milligas */
};

struct gas_tree {
	bool is_json;		 /* amounts are whole gas, and there is no root */
	struct gas_span **spans; /* by their number, those of SpanBegin behind the others */
	size_t span_cnt;
	struct string_pool *names;
	struct key_map charges; /* name as an instant has it -> struct gas_name */

	/* private */
	struct id_map open; /* (pid, id): attributes of spans that have not come */
	size_t span_size;
};

struct gas_tree *gas_tree_new(bool is_json); /* NULL: no memory */
void gas_tree_free(struct gas_tree *tree);   /* NULL is allowed */

/* 0 or -ENOMEM */
int gas_tree_add(struct gas_tree *tree, const struct txtrace_record *record);
int gas_tree_finish(struct gas_tree *tree);

/* The name of a charge. */
struct txtrace_string gas_tree_name(const struct gas_tree *tree, uint32_t number);

/* Stays at the limits of int64_t. */
static inline void gas_add(int64_t *sum, int64_t amount)
{
	if (__builtin_add_overflow(*sum, amount, sum))
		*sum = amount < 0 ? INT64_MIN : INT64_MAX;
}

#endif
