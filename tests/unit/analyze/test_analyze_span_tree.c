/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans by hand, in the order of a log, and the call tree that they must make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "analyze/tree/span_tree.h"

/* A span of thread 7 that was on a CPU all the time. */
static struct txtrace_span span(uint64_t id, uint64_t parent, const char *label, uint64_t begin_ns,
				uint64_t end_ns)
{
	return (struct txtrace_span){
		.id = id,
		.parent = parent,
		.pid = 1,
		.tid = 7,
		.end_tid = 7,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.work_ns = end_ns - begin_ns,
		.ledger = { .on_cpu_ns = end_ns - begin_ns },
		.label = { label, strlen(label) },
	};
}

static void add(struct span_tree *tree, struct txtrace_span one)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN, .span = one };

	assert_int_equal(span_tree_add(tree, &record), 0);
}

/* The node at a path such as "tx/commit". */
static const struct tree_node *at(const struct span_tree *tree, const char *path)
{
	const struct tree_node *node = span_tree_root(tree);

	while (*path) {
		size_t length = strcspn(path, "/");
		const struct tree_node *child = node->first_child;

		for (; child; child = child->next) {
			struct txtrace_string label = span_tree_label(tree, child);

			if (label.length == length && memcmp(label.bytes, path, length) == 0)
				break;
			if (child->label == TREE_LABEL_UNKNOWN_PARENT && length == 1 && *path == '?')
				break;
		}
		if (!child)
			fail_msg("there is no %s", path);
		node = child;
		path += length + (path[length] == '/');
	}
	return node;
}

static uint64_t self_ns(const struct tree_node *node)
{
	struct txtrace_ledger self = tree_self(&node->exact);

	return txtrace_ledger_sum_ns(&self);
}

static void children_are_taken_off_their_parents(void **state)
{
	struct span_tree *tree = span_tree_new(0);

	(void)state;
	add(tree, span(3, 2, "sync", 30, 50));
	add(tree, span(2, 1, "commit", 20, 60));
	add(tree, span(4, 1, "reply", 60, 70)); /* begins in the moment in which the other ends: no overlap */
	add(tree, span(1, 0, "tx", 0, 100));
	assert_int_equal(span_tree_finish(tree, NULL), 0);

	assert_int_equal(self_ns(at(tree, "tx")), 100 - 40 - 10);
	assert_int_equal(self_ns(at(tree, "tx/commit")), 40 - 20);
	assert_int_equal(self_ns(at(tree, "tx/commit/sync")), 20);
	assert_int_equal(at(tree, "tx/commit")->place_cnt[TREE_SHARED], 1);
	assert_ptr_equal(at(tree, "tx")->first_child, at(tree, "tx/commit")); /* more work than reply */
	span_tree_free(tree);
}

static void a_parent_that_could_not_hold_its_children_keeps_its_self(void **state)
{
	struct span_tree *tree = span_tree_new(0);
	struct txtrace_span parent = span(1, 0, "tx", 0, 100), child = span(2, 1, "commit", 20, 60);

	(void)state;
	/* 40 on a CPU in the child */
	parent.ledger = (struct txtrace_ledger){ .on_cpu_ns = 30, .runnable_ns = 70 };
	add(tree, child);
	add(tree, parent);
	assert_int_equal(span_tree_finish(tree, NULL), 0);
	assert_int_equal(self_ns(at(tree, "tx")), 100);
	assert_int_equal(at(tree, "tx/commit")->place_cnt[TREE_UNSURE], 1);
	span_tree_free(tree);
}

static void late_children_find_their_place(void **state)
{
	struct span_tree *tree = span_tree_new(0);

	(void)state;
	add(tree, span(2, 1, "job", 10, 20));
	add(tree, span(3, 2, "rest", 15, 30)); /* 2 has ended, 1 has not */
	add(tree, span(1, 0, "tx", 0, 40));
	add(tree, span(4, 2, "more", 35, 50)); /* all have */
	assert_int_equal(span_tree_finish(tree, NULL), 0);
	assert_int_equal(at(tree, "tx/job")->exact.cnt, 1);
	assert_int_equal(at(tree, "tx/job/rest")->place_cnt[TREE_UNSURE], 1);
	assert_int_equal(at(tree, "tx/job/more")->place_cnt[TREE_APART], 1); /* began when 2 had ended */
	span_tree_free(tree);
}

static void processes_have_ids_of_their_own(void **state)
{
	struct span_tree *tree = span_tree_new(0);
	struct txtrace_span other = span(2, 1, "child", 1, 2);

	(void)state;
	other.pid = 2;
	add(tree, other);
	add(tree, span(1, 0, "tx", 0, 10));
	assert_int_equal(span_tree_finish(tree, NULL), 0);
	assert_null(at(tree, "tx")->first_child);
	assert_int_equal(at(tree, "?/child")->exact.cnt, 1);
	assert_int_equal(at(tree, "?/child")->place_cnt[TREE_SHARED], 0);
	span_tree_free(tree);
}

static void picked_labels_become_roots(void **state)
{
	struct span_tree *tree = span_tree_new(0);

	(void)state;
	add(tree, span(2, 1, "sql", 10, 20));
	add(tree, span(3, 1, "sql", 20, 25));
	add(tree, span(1, 0, "tx", 0, 40));
	add(tree, span(5, 4, "sql", 50, 57));
	add(tree, span(4, 0, "batch", 50, 60));
	assert_int_equal(span_tree_finish(tree, "sq?"), 0);
	assert_int_equal(at(tree, "sql")->exact.cnt, 3);
	assert_int_equal(at(tree, "sql")->exact.wall_ns, 22);
	assert_int_equal(span_tree_root(tree)->child_cnt, 1);
	span_tree_free(tree);
}

/* 200,000 spans, all of which come before their parents, of 100 labels; no more than 1000 wait at a time. */
static void memory_follows_what_is_open(void **state)
{
	struct span_tree *tree = span_tree_new(4 << 20);
	char label[16];

	(void)state;
	for (uint64_t round = 0; round < 200; round++) {
		for (uint64_t i = 0; i < 1000; i++)
			add(tree, span(round * 2000 + 1000 + i, round * 2000 + i + 1, "child", round * 10,
				       round * 10 + 1));
		for (uint64_t i = 0; i < 1000; i++) {
			snprintf(label, sizeof(label), "label %u", (unsigned int)(i % 100));
			add(tree, span(round * 2000 + i + 1, 0, label, round * 10, round * 10 + 5));
		}
	}
	assert_int_equal(span_tree_finish(tree, NULL), 0);
	assert_int_equal(span_tree_given_up_count(tree), 0);
	assert_false(span_tree_has_rest(tree));
	assert_int_equal(at(tree, "label 42")->exact.cnt, 2000);
	span_tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_are_taken_off_their_parents),
		cmocka_unit_test(a_parent_that_could_not_hold_its_children_keeps_its_self),
		cmocka_unit_test(late_children_find_their_place),
		cmocka_unit_test(processes_have_ids_of_their_own),
		cmocka_unit_test(picked_labels_become_roots),
		cmocka_unit_test(memory_follows_what_is_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
