/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/files/pseudonym.h"

#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"

/* A few strings come again and again: those met last are known. */
#define CACHE_SIZE 8192
#define CACHED_LENGTH_MAX 43

struct cached {
	uint8_t length; /* 0: nothing is here */
	char bytes[CACHED_LENGTH_MAX];
	char pseudonym[PSEUDONYM_LENGTH];
};

struct pseudonyms {
	struct hmac_sha256 hmac;
	struct cached cache[CACHE_SIZE];
};

struct pseudonyms *pseudonyms_new(const void *salt, size_t length)
{
	struct pseudonyms *pseudonyms = calloc(1, sizeof(*pseudonyms));

	if (pseudonyms)
		hmac_sha256_init(&pseudonyms->hmac, salt, length);
	return pseudonyms;
}

void pseudonyms_free(struct pseudonyms *pseudonyms)
{
	free(pseudonyms);
}

static void make(const struct pseudonyms *pseudonyms, const char *bytes, size_t length,
		 char pseudonym[PSEUDONYM_LENGTH])
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
	uint8_t code[SHA256_BYTES];
	uint64_t bits = 0;

	hmac_sha256(&pseudonyms->hmac, bytes, length, code);
	for (unsigned int i = 0; i < 8; i++)
		bits = bits << 8 | code[i];
	for (unsigned int i = 0; i < PSEUDONYM_LENGTH; i++)
		pseudonym[i] = digits[bits >> (59 - 5 * i) & 31];
}

static struct cached *cache_entry(struct pseudonyms *pseudonyms, const char *bytes, size_t length)
{
	uint64_t hash = length;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (uint8_t)bytes[i]) * 0x100000001b3u;
	hash *= 0x9e3779b97f4a7c15u;
	return &pseudonyms->cache[hash >> 32 & (CACHE_SIZE - 1)];
}

void pseudonym_append(struct pseudonyms *pseudonyms, struct text *text, const char *bytes, size_t length)
{
	char pseudonym[PSEUDONYM_LENGTH];
	struct cached *cached;

	if (length == 0)
		return;
	if (length > CACHED_LENGTH_MAX) {
		make(pseudonyms, bytes, length, pseudonym);
		text_append_bytes(text, pseudonym, PSEUDONYM_LENGTH);
		return;
	}
	cached = cache_entry(pseudonyms, bytes, length);
	if (cached->length != length || memcmp(cached->bytes, bytes, length) != 0) {
		make(pseudonyms, bytes, length, cached->pseudonym);
		memcpy(cached->bytes, bytes, length);
		cached->length = (uint8_t)length;
	}
	text_append_bytes(text, cached->pseudonym, PSEUDONYM_LENGTH);
}

static const char *find(const char *from, const char *end, char c)
{
	const char *found = from < end ? memchr(from, c, (size_t)(end - from)) : NULL;

	return found ? found : end;
}

void pseudonym_append_tag(struct pseudonyms *pseudonyms, struct text *text, const char *bytes, size_t length)
{
	const char *end = bytes + length, *from = bytes;
	size_t begin = text->length;

	while (length > 0) {
		const char *comma = find(from, end, ','), *equals = find(from, comma, '=');

		if (text->length - begin + 2 * PSEUDONYM_LENGTH + 2 > PSEUDONYM_TEXT_MAX)
			return;
		pseudonym_append(pseudonyms, text, from, (size_t)(equals - from));
		if (equals < comma) {
			text_append(text, "=");
			pseudonym_append(pseudonyms, text, equals + 1, (size_t)(comma - equals - 1));
		}
		if (comma == end)
			return;
		text_append(text, ",");
		from = comma + 1;
	}
}

void pseudonym_of_id(const struct pseudonyms *pseudonyms, uint8_t id[16])
{
	static const uint8_t unknown[16];
	uint8_t code[SHA256_BYTES];

	if (memcmp(id, unknown, sizeof(unknown)) == 0)
		return;
	hmac_sha256(&pseudonyms->hmac, id, 16, code);
	memcpy(id, code, 16);
}
