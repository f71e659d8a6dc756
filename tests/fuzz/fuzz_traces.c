/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as traces of OpenTelemetry to which something is added: what comes out are traces again, with as
 * many spans, and all of it is found in them. JSON to which nothing is added stays as it is. Halved, each
 * span is in one half.
 */
#include <errno.h>

#include "fuzz/fuzz.h"
#include "otlp/otlp_split.h"
#include "otlp/otlp_traces.h"

struct count {
	uint64_t span_cnt;
	uint64_t own_cnt;
	bool adds;
	bool drains;
	struct text drained;
};

static int take(void *context, const struct otlp_traces_span *span, struct otlp_traces_added *added)
{
	struct count *count = context;

	count->span_cnt++;
	count->own_cnt += span->has_own;
	LAW(added->cnt == 0);
	if (count->adds) {
		added->attributes[added->cnt++] = (struct otlp_traces_attribute){ .name = "txtrace.a",
										  .number = UINT64_MAX };
		added->attributes[added->cnt++] = (struct otlp_traces_attribute){ .name = "txtrace.b",
										  .text = "text" };
		added->attributes[added->cnt++] = (struct otlp_traces_attribute){ .name = "txtrace.c",
										  .is_flag = true };
	}
	return 0;
}

static int drain(void *context, struct text *out)
{
	struct count *count = context;

	text_append_bytes(&count->drained, text_string(out), out->length);
	text_clear(out);
	return 0;
}

static int walk(const char *bytes, size_t size, struct count *count, struct text *out)
{
	const struct otlp_traces_visitor visitor = { take, count->drains ? drain : NULL, count };
	size_t offset = 0;
	int err = otlp_traces_walk(bytes, size, &visitor, out, &offset);

	LAW(err == 0 || err == -EBADMSG);
	LAW(offset <= size);
	return err;
}

/* Each span is in one of the halves. */
static void halve(const char *bytes, size_t size, uint64_t span_cnt)
{
	struct text halves[2] = { { 0 }, { 0 } };
	struct count counts[2] = { { 0 }, { 0 } };
	bool is_other = false;

	LAW(otlp_split(bytes, size, (uint32_t)(span_cnt / 2), &halves[0], &halves[1]) == 0);
	for (int i = 0; i < 2; i++) {
		/* an unknown field of protobuf, at the begin now, may look like the begin of JSON */
		is_other |= otlp_traces_is_json(text_string(&halves[i]), halves[i].length) !=
			    otlp_traces_is_json(bytes, size);
		LAW(is_other || walk(text_string(&halves[i]), halves[i].length, &counts[i], NULL) == 0);
	}
	LAW(is_other ||
	    (counts[0].span_cnt == span_cnt / 2 && counts[1].span_cnt == span_cnt - span_cnt / 2));
	text_release(&halves[0]);
	text_release(&halves[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct count first = { 0 }, same = { 0 }, added = { .adds = true }, again = { 0 },
		     piecewise = { .adds = true, .drains = true };
	struct text out = { 0 }, rest = { 0 };
	char *bytes = malloc(size ? size : 1);

	LAW(bytes);
	memcpy(bytes, data, size);
	if (walk(bytes, size, &first, NULL) == 0) {
		halve(bytes, size, first.span_cnt);
		LAW(walk(bytes, size, &same, &out) == 0);
		LAW(!otlp_traces_is_json(bytes, size) ||
		    (out.length == size && memcmp(text_string(&out), bytes, size) == 0));
		text_clear(&out);
		LAW(walk(bytes, size, &added, &out) == 0);
		LAW(walk(text_string(&out), out.length, &again, NULL) == 0);
		LAW(walk(bytes, size, &piecewise, &rest) == 0);
		drain(&piecewise, &rest);
		LAW(piecewise.drained.length == out.length &&
		    memcmp(text_string(&piecewise.drained), text_string(&out), out.length) == 0);
		LAW(first.span_cnt == same.span_cnt && first.span_cnt == added.span_cnt &&
		    first.span_cnt == again.span_cnt && again.own_cnt == again.span_cnt);
	}
	text_release(&out);
	text_release(&rest);
	text_release(&piecewise.drained);
	free(bytes);
	return 0;
}
