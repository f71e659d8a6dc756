/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/sui_lanes.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/key_map.h"
#include "base/string_pool.h"

#define OBJECT_BYTES_MAX 255
#define BLANKS " \t\r\n"

struct transaction_lanes {
	size_t first;
	size_t cnt;
};

struct sui_lanes {
	struct key_map transactions; /* by digest */
	struct string_pool *names;
	uint32_t *objects; /* of all transactions */
	size_t object_cnt, object_size;
	int64_t *executing; /* by object */
};

void sui_lanes_free(struct sui_lanes *lanes)
{
	if (!lanes)
		return;
	key_map_release(&lanes->transactions);
	string_pool_free(lanes->names);
	free(lanes->objects);
	free(lanes->executing);
	free(lanes);
}

/* ---- digests ---- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(const char *text, uint8_t digest[SUI_DIGEST_BYTES])
{
	if (strlen(text) != 2 * SUI_DIGEST_BYTES)
		return false;
	for (size_t i = 0; i < SUI_DIGEST_BYTES; i++) {
		int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		digest[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* Bitcoin's alphabet; each leading '1' is a byte 0. */
static bool read_base58(const char *text, uint8_t digest[SUI_DIGEST_BYTES])
{
	static const char alphabet[] = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
	size_t zero_cnt = strspn(text, "1"), leading = 0;

	memset(digest, 0, SUI_DIGEST_BYTES);
	for (; *text; text++) {
		const char *found = strchr(alphabet, *text);
		unsigned int carry = found ? (unsigned int)(found - alphabet) : 0;

		if (!found)
			return false;
		for (size_t i = SUI_DIGEST_BYTES; i-- > 0;) {
			carry += digest[i] * 58u;
			digest[i] = (uint8_t)carry;
			carry >>= 8;
		}
		if (carry)
			return false;
	}
	while (leading < SUI_DIGEST_BYTES && digest[leading] == 0)
		leading++;
	return leading == zero_cnt; /* it has 32 bytes, no more and no less */
}

/* ---- lines ---- */

static int add_object(struct sui_lanes *lanes, const char *name)
{
	uint32_t number;
	int err;
	uint32_t *objects = array_grow(lanes->objects, &lanes->object_size, lanes->object_cnt,
				       sizeof(*objects));

	if (!objects)
		return -ENOMEM;
	lanes->objects = objects;
	err = string_pool_add(lanes->names, name, strlen(name), &number);
	if (!err)
		lanes->objects[lanes->object_cnt++] = number;
	return err;
}

/* The line is changed. */
static int add_line(struct sui_lanes *lanes, char *line, size_t number, struct error *error)
{
	uint8_t digest[SUI_DIGEST_BYTES];
	struct transaction_lanes *transaction;
	char *rest, *word;
	bool is_new;
	int err;

	line[strcspn(line, "#")] = '\0';
	word = strtok_r(line, BLANKS, &rest);
	if (!word)
		return 0;
	if (!read_hex(word, digest) && !read_base58(word, digest)) {
		error_set(error, "line %zu: '%.80s' is no digest of 64 hex digits or in base58", number,
			  word);
		return -EINVAL;
	}
	transaction = key_map_add(&lanes->transactions, digest, sizeof(digest), &is_new);
	if (!transaction)
		return -ENOMEM;
	if (!is_new) {
		error_set(error, "line %zu: the transaction '%.80s' has a line before", number, word);
		return -EINVAL;
	}
	transaction->first = lanes->object_cnt;
	while ((word = strtok_r(NULL, BLANKS, &rest))) {
		if (strlen(word) > OBJECT_BYTES_MAX) {
			error_set(error, "line %zu: an object with more than 255 bytes", number);
			return -EINVAL;
		}
		err = add_object(lanes, word);
		if (err)
			return err;
	}
	transaction->cnt = lanes->object_cnt - transaction->first;
	return 0;
}

static int read_lines(struct sui_lanes *lanes, FILE *file, struct error *error)
{
	char *line = NULL;
	size_t size = 0, number = 0;
	int err = 0;

	errno = 0;
	while (!err && getline(&line, &size, file) >= 0)
		err = add_line(lanes, line, ++number, error);
	if (!err && ferror(file)) {
		err = errno ? -errno : -EIO;
		error_set(error, "line %zu: %s", number + 1, strerror(-err));
	}
	free(line);
	return err;
}

int sui_lanes_read(struct sui_lanes **lanes, const char *path, struct error *error)
{
	struct sui_lanes *new = calloc(1, sizeof(*new));
	struct error why = { "" };
	FILE *file;
	int err;

	if (!new)
		return -ENOMEM;
	file = fopen(path, "re");
	if (!file) {
		err = -errno;
		error_set(error, "can't read '%s': %s", path, strerror(errno));
		free(new);
		return err;
	}
	key_map_init(&new->transactions, sizeof(struct transaction_lanes), NULL);
	new->names = string_pool_new();
	err = new->names ? read_lines(new, file, &why) : -ENOMEM;
	fclose(file);
	if (!err) {
		new->executing = calloc(string_pool_count(new->names) + 1, sizeof(*new->executing));
		err = new->executing ? 0 : -ENOMEM;
	}
	if (err) {
		if (why.text[0])
			error_set(error, "'%s', %s", path, why.text);
		sui_lanes_free(new);
		return err;
	}
	*lanes = new;
	return 0;
}

/* ---- what they say ---- */

const uint32_t *sui_lanes_of(const struct sui_lanes *lanes, const uint8_t digest[SUI_DIGEST_BYTES],
			     size_t *cnt)
{
	const struct transaction_lanes *transaction = key_map_find(&lanes->transactions, digest,
								   SUI_DIGEST_BYTES);

	*cnt = transaction ? transaction->cnt : 0;
	return *cnt > 0 ? lanes->objects + transaction->first : NULL;
}

struct txtrace_string sui_lanes_name(const struct sui_lanes *lanes, uint32_t object)
{
	size_t length;
	const char *bytes = string_pool_get(lanes->names, object, &length);

	return (struct txtrace_string){ bytes, length };
}

int64_t *sui_lanes_executing(struct sui_lanes *lanes, uint32_t object)
{
	return &lanes->executing[object];
}
