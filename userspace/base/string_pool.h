/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives each distinct byte string a number: 0, 1, 2, … in the order in which
 * they first came. Owns copies. The hash is seeded at random, so that strings
 * chosen by somebody else can't make it slow.
 */
#ifndef STRING_POOL_H
#define STRING_POOL_H

#include <stddef.h>
#include <stdint.h>

struct string_pool;

#define STRING_POOL_NONE UINT32_MAX

struct string_pool *string_pool_new(void); /* NULL: no memory */
void string_pool_free(struct string_pool *pool);

/* *number of the string, made if it is new. 0, -ENOMEM, or -E2BIG: 2^32 - 1 strings are in it. */
int string_pool_add(struct string_pool *pool, const char *bytes, size_t length, uint32_t *number);
/* or STRING_POOL_NONE */
uint32_t string_pool_find(const struct string_pool *pool, const char *bytes, size_t length);

/* The copy; valid until the pool is freed. number < string_pool_count(). */
const char *string_pool_get(const struct string_pool *pool, uint32_t number, size_t *length);
uint32_t string_pool_count(const struct string_pool *pool);
size_t string_pool_bytes(const struct string_pool *pool); /* memory that it holds, about */

#endif
