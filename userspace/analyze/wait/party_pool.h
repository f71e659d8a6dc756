/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers for those who wait and who end waits (struct party), equal ones the
 * same. The kinds without a name have theirs from the start.
 */
#ifndef PARTY_POOL_H
#define PARTY_POOL_H

#include "analyze/wait/wait_sums.h"
#include "base/string_pool.h"

struct party_pool {
	struct string_pool *strings; /* a byte of kind, then the name */
};

int party_pool_init(struct party_pool *pool); /* 0 or -ENOMEM */
void party_pool_release(struct party_pool *pool);

/* Of a kind without a name, or of PARTY_SPAN without label. */
uint32_t party_pool_fixed(enum party_kind kind);

/*
 * The number, made if it is new and is_growing, else that of PARTY_REST. Names
 * are clipped at 256 bytes. 0 or -ENOMEM.
 */
int party_pool_add(struct party_pool *pool, enum party_kind kind, struct txtrace_string name, bool is_growing,
		   uint32_t *number);
struct party party_pool_get(const struct party_pool *pool, uint32_t number);

#endif
