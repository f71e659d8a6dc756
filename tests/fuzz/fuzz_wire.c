/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as records of the wire: two bytes of length, then a record, and so on. A record is an event or is
 * refused; an event can be written into a recorded stream; what attribution makes of the events keeps its
 * laws.
 */
#include <errno.h>

#include "event/event_decode.h"
#include "fuzz/fuzz_spans.h"

/* Longer ones are not sent: WIRE_TEXT_LONG bytes of text behind their struct. */
#define RECORD_MAX_BYTES (sizeof(struct wire_text) + WIRE_TEXT_LONG)

/* Labels are told by the address: 1 in 4 can't be read. */
static int read_label(void *context, uint32_t tgid, uint64_t address, struct event_text *label)
{
	static const char *const labels[] = { "pay", "", "\xff\n\"" };

	(void)context;
	(void)tgid;
	if (address % 4 == 3)
		return -EFAULT;
	*label = (struct event_text){ .bytes = labels[address % 4],
				      .length = (uint32_t)strlen(labels[address % 4]) };
	return 0;
}

/* Reads all of it. */
static int note_copy(void *context, uint32_t tgid, uint64_t address, const struct event_text *text)
{
	volatile unsigned char sum = 0;

	(void)context;
	(void)tgid;
	(void)address;
	for (uint32_t i = 0; i < text->length; i++)
		sum ^= (unsigned char)text->bytes[i];
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct label_source labels = { .read = read_label, .note_copy = note_copy };
	struct fuzz_bytes bytes = { data, size };
	struct fuzz_spans spans;
	struct event event;

	fuzz_spans_begin(&spans);
	while (bytes.left) {
		size_t length = fuzz_take(&bytes, 2) % (RECORD_MAX_BYTES + 1);
		uint64_t *record; /* aligned, as in the ring, and ending where the record does */
		int err;

		length = length < bytes.left ? length : bytes.left;
		record = malloc(length ? length : 1);
		LAW(record);
		memcpy(record, bytes.at, length);
		bytes.at += length;
		bytes.left -= length;
		LAW(length >= sizeof(struct wire_header) || !event_subject(record, length).tid);
		err = event_decode(record, length, &labels, &event);
		LAW(err == 0 || err == 1 || err == -EBADMSG);
		if (!err) {
			law_of_streams(&event);
			fuzz_spans_feed(&spans, &event);
		}
		free(record);
	}
	fuzz_spans_end(&spans);
	return 0;
}
