/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/kernel/fault_ranges.h"

#include "txtrace/event.h"

/* The most telling first: there may not be room for all parts. */
static const struct {
	const char *function;
	enum block_fault fault;
} waits[] = {
	{ "handle_userfault", FAULT_USERFAULTFD },
	{ "filemap_fault", FAULT_FILE },
	{ "do_swap_page", FAULT_SWAP },
	{ "shmem_fault", FAULT_FILE },
	/* no fault, but a probe that has to look into the address space */
	{ "uprobe_notify_resume", FAULT_MMAP_LOCK },
	/* 6.5; before, the architecture's code took the lock itself */
	{ "lock_mm_and_find_vma", FAULT_MMAP_LOCK },
	{ "do_anonymous_page", FAULT_ANONYMOUS },
	{ "do_huge_pmd_anonymous_page", FAULT_ANONYMOUS },
	{ "do_wp_page", FAULT_ANONYMOUS }, /* a copy of a page that was shared */
	{ "migration_entry_wait", FAULT_MIGRATION },
	{ "filemap_map_pages", FAULT_FILE },
	{ "hugetlb_fault", FAULT_ANONYMOUS },
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

size_t fault_ranges_find(struct fault_range ranges[FAULT_RANGE_MAX], const struct kernel_symbols *symbols)
{
	struct finding finding = { .ranges = ranges };

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		finding.fault = waits[i].fault;
		kernel_symbols_each_part(symbols, waits[i].function, add_part, &finding);
	}
	return finding.cnt;
}
