/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of otlp_split.h for JSON. */
#include <errno.h>

#include "otlp/otlp_json_scan.h"
#include "otlp/otlp_split_walk.h"

/* The arrays that lead to spans, each in the elements of the one before. */
static const char *const arrays[] = { "resourceSpans", "scopeSpans", "spans" };

#define SPAN_LEVEL 2u

struct part {
	struct otlp_wanted *wanted;
	struct text *out;   /* NULL: spans are counted, nothing else */
	const char *copied; /* up to there the text is in out, or left out */
	unsigned int level; /* of the array that is looked for, or whose elements are visited */
	bool has_element;   /* of that array, in out */
};

static int see_member(struct json_scan *scan, const struct json_word *name, void *context);

static void copy_up_to(struct part *part, const char *to)
{
	if (part->out)
		text_append_bytes(part->out, part->copied, (size_t)(to - part->copied));
	part->copied = to;
}

/* The spans of the element, which is read. */
static int count_spans(struct json_scan *scan, unsigned int level, uint64_t *cnt)
{
	struct otlp_wanted all = { .end = UINT64_MAX };
	struct part part = { .wanted = &all, .level = level + 1 };
	struct json_word text;
	int err = level == SPAN_LEVEL ? json_scan_skip(scan, &text)
				      : json_scan_each(scan, "{}", see_member, &part);

	*cnt = level == SPAN_LEVEL ? 1 : all.number;
	return err;
}

/* An element goes along if spans of it do. */
static int see_element(struct json_scan *scan, const struct json_word *name, void *context)
{
	struct part *part = context;
	struct otlp_wanted *wanted = part->wanted;
	const char *begin;
	uint64_t cnt;
	int err;

	(void)name;
	json_scan_peek(scan);
	begin = scan->at;
	err = count_spans(scan, part->level, &cnt);
	if (err)
		return err;
	if (!part->out || wanted->number + cnt <= wanted->begin || wanted->number >= wanted->end) {
		wanted->number += cnt;
		return 0;
	}
	if (part->has_element)
		text_append(part->out, ",");
	part->has_element = true;
	part->copied = begin;
	if (part->level == SPAN_LEVEL) {
		wanted->number++;
	} else {
		struct part inner = {
			.wanted = wanted, .out = part->out, .copied = begin, .level = part->level + 1
		};

		scan->at = begin;
		err = json_scan_each(scan, "{}", see_member, &inner);
		part->copied = inner.copied;
	}
	copy_up_to(part, scan->at);
	return err;
}

static int see_member(struct json_scan *scan, const struct json_word *name, void *context)
{
	struct part *part = context;
	struct json_word text;
	int err;

	if (!json_word_is(name, arrays[part->level]) || json_scan_peek(scan) != '[')
		return json_scan_skip(scan, &text);
	copy_up_to(part, scan->at + 1);
	part->has_element = false;
	err = json_scan_each(scan, "[]", see_element, part);
	part->copied = scan->at - 1; /* what is between the elements is left out */
	return err;
}

int otlp_split_json(struct text *out, const char *bytes, size_t length, struct otlp_wanted *wanted)
{
	struct json_scan scan = { .at = bytes, .end = bytes + length };
	int err = 0;

	while (!err && json_scan_peek(&scan)) {
		struct part part = { .wanted = wanted, .out = out, .copied = scan.at };

		err = json_scan_each(&scan, "{}", see_member, &part);
		copy_up_to(&part, scan.at);
	}
	return err;
}
