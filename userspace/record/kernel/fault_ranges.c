/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/kernel/fault_ranges.h"

#include <stdbool.h>

#include "txtrace/event.h"

#define TAKES_MMAP_LOCK "lock_mm_and_find_vma" /* since 6.5, and in some kernels before */

struct fault_wait {
	const char *function;
	enum block_fault fault;
};

/* The most telling first: there may not be room for all parts. */
static const struct fault_wait waits[] = {
	{ "handle_userfault", FAULT_USERFAULTFD },
	{ "filemap_fault", FAULT_FILE },
	{ "do_swap_page", FAULT_SWAP },
	{ "shmem_fault", FAULT_FILE },
	/* no fault, but a probe that has to look into the address space */
	{ "uprobe_notify_resume", FAULT_MMAP_LOCK },
	{ "__x64_sys_uprobe", FAULT_MMAP_LOCK },
	{ TAKES_MMAP_LOCK, FAULT_MMAP_LOCK },
	{ "do_anonymous_page", FAULT_ANONYMOUS },
	{ "do_huge_pmd_anonymous_page", FAULT_ANONYMOUS },
	{ "do_wp_page", FAULT_ANONYMOUS }, /* a copy of a page that was shared */
	{ "migration_entry_wait", FAULT_MIGRATION },
	{ "filemap_map_pages", FAULT_FILE },
	{ "hugetlb_fault", FAULT_ANONYMOUS },
};

/* In kernels without that function: a wait for any such lock outside handle_mm_fault(). */
static const struct fault_wait old_waits[] = {
	{ "rwsem_down_read_slowpath", FAULT_MMAP_LOCK },
	{ "handle_mm_fault", FAULT_UNKNOWN },
};

struct finding {
	struct fault_range *ranges;
	size_t cnt;
	enum block_fault fault;
};

static int add_part(void *context, uint64_t begin, uint64_t end)
{
	struct finding *finding = context;

	if (finding->cnt == FAULT_RANGE_MAX)
		return 1;
	finding->ranges[finding->cnt++] = (struct fault_range){ begin, end, finding->fault };
	return 0;
}

static int is_there(void *context, uint64_t begin, uint64_t end)
{
	(void)begin;
	(void)end;
	*(bool *)context = true;
	return 1;
}

static bool has_function(const struct fault_symbols *symbols, const char *name)
{
	bool has_it = false;

	symbols->each_part(symbols->symbols, name, is_there, &has_it);
	return has_it;
}

static void find(struct finding *finding, const struct fault_symbols *symbols, const struct fault_wait *table,
		 size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		finding->fault = table[i].fault;
		symbols->each_part(symbols->symbols, table[i].function, add_part, finding);
	}
}

size_t fault_ranges_find(struct fault_range ranges[FAULT_RANGE_MAX], const struct fault_symbols *symbols)
{
	struct finding finding = { .ranges = ranges };

	if (!has_function(symbols, TAKES_MMAP_LOCK))
		find(&finding, symbols, old_waits, sizeof(old_waits) / sizeof(old_waits[0]));
	find(&finding, symbols, waits, sizeof(waits) / sizeof(waits[0]));
	return finding.cnt;
}
