/* SPDX-License-Identifier: BSD-2-Clause */
/* Are these ids what ids have to be? */
#ifndef ID_SET_H
#define ID_SET_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_ids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Whether none is 0 and none is there twice. */
static int ids_are_unique(const char *when, const uint64_t *ids, size_t id_cnt)
{
	uint64_t *sorted = (uint64_t *)malloc(id_cnt * sizeof(*ids));
	size_t zero_cnt = 0, repeat_cnt = 0, i;

	if (!sorted)
		abort();
	memcpy(sorted, ids, id_cnt * sizeof(*ids));
	qsort(sorted, id_cnt, sizeof(*sorted), compare_ids);
	for (i = 0; i < id_cnt; i++) {
		zero_cnt += sorted[i] == 0;
		repeat_cnt += i > 0 && sorted[i] == sorted[i - 1] && sorted[i] != 0;
	}
	free(sorted);
	if (zero_cnt || repeat_cnt)
		printf("# %s: of %zu ids %zu are 0 and %zu are there again\n", when, id_cnt, zero_cnt,
		       repeat_cnt);
	return !zero_cnt && !repeat_cnt;
}

#endif
