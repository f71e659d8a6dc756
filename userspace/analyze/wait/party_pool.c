/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/wait/party_pool.h"

#include <errno.h>
#include <string.h>

#define NAME_MAX_BYTES 256

const char *const party_kind_names[PARTY_KIND_COUNT] = {
	[PARTY_SPAN] = "span",	     [PARTY_THREAD] = "thread", [PARTY_INTERRUPT] = "interrupt",
	[PARTY_UNKNOWN] = "unknown", [PARTY_UNSEEN] = "unseen", [PARTY_NO_SPAN] = "no_span",
	[PARTY_REST] = "rest",	     [PARTY_TIMER] = "timer",	[PARTY_SOFTIRQ] = "softirq",
};

int party_pool_init(struct party_pool *pool)
{
	int err = 0;

	pool->strings = string_pool_new();
	if (!pool->strings)
		return -ENOMEM;
	for (char kind = 0; kind < PARTY_KIND_COUNT && !err; kind++) {
		uint32_t number;

		err = string_pool_add(pool->strings, &kind, 1, &number);
	}
	if (err)
		party_pool_release(pool);
	return err;
}

void party_pool_release(struct party_pool *pool)
{
	string_pool_free(pool->strings);
	pool->strings = NULL;
}

uint32_t party_pool_fixed(enum party_kind kind)
{
	return (uint32_t)kind;
}

int party_pool_add(struct party_pool *pool, enum party_kind kind, struct txtrace_string name, bool is_growing,
		   uint32_t *number)
{
	char bytes[1 + NAME_MAX_BYTES] = { (char)kind };
	size_t length = name.length < NAME_MAX_BYTES ? name.length : NAME_MAX_BYTES;

	if (length > 0)
		memcpy(bytes + 1, name.bytes, length);
	*number = string_pool_find(pool->strings, bytes, 1 + length);
	if (*number != STRING_POOL_NONE)
		return 0;
	if (is_growing)
		return string_pool_add(pool->strings, bytes, 1 + length, number);
	*number = party_pool_fixed(PARTY_REST);
	return 0;
}

struct party party_pool_get(const struct party_pool *pool, uint32_t number)
{
	size_t length;
	const char *bytes = string_pool_get(pool->strings, number, &length);

	return (struct party){ (enum party_kind)bytes[0], { bytes + 1, length - 1 } };
}
