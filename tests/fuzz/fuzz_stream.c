/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any text as a recorded stream: each line is an event or is refused with a sentence; what attribution makes
 * of the events keeps its laws.
 */
#include <errno.h>

#include "fuzz/fuzz_spans.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct stream_event_storage storage;
	struct fuzz_spans spans;
	struct event event;
	FILE *in;
	int result;

	if (!size)
		return 0;
	in = fmemopen((void *)data, size, "r");
	LAW(in);
	storage.line_cnt = 0;
	fuzz_spans_begin(&spans);
	while ((result = stream_read(in, &storage, &event)) != 0) {
		LAW(result == 1 || result == -EBADMSG);
		if (result < 0) {
			LAW(storage.error.text[0]);
			continue;
		}
		law_of_streams(&event);
		fuzz_spans_feed(&spans, &event);
	}
	fclose(in);
	fuzz_spans_end(&spans);
	return 0;
}
