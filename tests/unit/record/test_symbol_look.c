/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of the kernel that it is asked for lie where its list of all symbols has them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>

#include <bpf/libbpf.h>
#include <cmocka.h>
#include <linux/version.h>

#include "attach/process/target_rules.h"
#include "record/options/span_choices.h"
#include "record/kernel/kernel_side.h"
#include "record/kernel/symbol_look.h"

struct part {
	uint64_t begin;
	uint64_t end;
};

struct parts {
	struct part parts[16];
	size_t cnt;
};

static struct kernel_features features;

static int add(void *context, uint64_t begin, uint64_t end)
{
	struct parts *parts = context;

	assert_true(parts->cnt < sizeof(parts->parts) / sizeof(parts->parts[0]));
	parts->parts[parts->cnt++] = (struct part){ begin, end };
	return 0;
}

static bool has_part(const struct parts *parts, const struct part *part)
{
	for (size_t i = 0; i < parts->cnt; i++)
		if (parts->parts[i].begin == part->begin && parts->parts[i].end == part->end)
			return true;
	return false;
}

/* Some of the functions in which page faults wait, of which every kernel has most; and one that is none. */
static void functions_lie_where_all_symbols_have_them(void **state)
{
	static const char *const names[] = { "handle_userfault", "filemap_fault",   "do_swap_page",
					     "shmem_fault",	 "handle_mm_fault", "uprobe_notify_resume",
					     "do_wp_page",	 "hugetlb_fault",   "filemap_map_pages",
					     "no_such_function" };
	const struct target_rules rules = { 0 };
	const struct span_choices choices = { .sample_rate = 1 };
	const struct kernel_side_options options = { .features = &features,
						     .ring_cnt = 1,
						     .ring_bytes = 4096,
						     .rules = &rules,
						     .choices = &choices,
						     .sample_ns = 1000000 };
	struct kernel_symbols symbols;
	struct kernel_side *side;
	struct error error = { .text = "" };
	size_t found_cnt = 0;
	int prog_fd;

	(void)state;
	if (kernel_side_open(&side, &options, &error) || kernel_side_wait(side, &error))
		fail_msg("%s", error.text);
	assert_int_equal(kernel_symbols_read(&symbols), 0);
	assert_non_null(kernel_side_program(side, "on_symbol_look"));
	prog_fd = bpf_program__fd(kernel_side_program(side, "on_symbol_look"));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct parts asked = { .cnt = 0 }, read = { .cnt = 0 };

		assert_int_equal(symbol_look_each_part(prog_fd, names[i], add, &asked), 0);
		kernel_symbols_each_part(&symbols, names[i], add, &read);
		assert_int_equal(asked.cnt, read.cnt);
		for (size_t part = 0; part < read.cnt; part++)
			assert_true(has_part(&asked, &read.parts[part]));
		found_cnt += read.cnt;
	}
	assert_true(found_cnt >= 5);
	kernel_symbols_release(&symbols);
	kernel_side_close(side);
}

static void the_size_stands_behind_the_slash(void **state)
{
	(void)state;
	assert_int_equal(symbol_look_bytes("filemap_fault+0x0/0x8c0"), 0x8c0);
	assert_int_equal(symbol_look_bytes("fuse_do_open+0x0/0x40 [fuse]"), 0x40);
	assert_int_equal(symbol_look_bytes("0xffffffff81000000"), 0);
	assert_int_equal(symbol_look_bytes(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_size_stands_behind_the_slash),
		cmocka_unit_test(functions_lie_where_all_symbols_have_them),
	};
	struct error missing;

	kernel_features_probe(&features);
	if (kernel_features_missing(&features, &missing, 1) || features.version < KERNEL_VERSION(6, 2, 0)) {
		printf("1..0 # SKIP the kernel: its symbols cannot be asked for\n");
		return 0;
	}
	return cmocka_run_group_tests_name("symbol_look", tests, NULL, NULL);
}
