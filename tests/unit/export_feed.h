/* SPDX-License-Identifier: BSD-2-Clause */
/* For the tests of the formats: records in, the text of the export out. Include it behind cmocka.h. */
#ifndef EXPORT_FEED_H
#define EXPORT_FEED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "unit/export_folder.h"

struct feed {
	struct export *export;
	FILE *out;
	struct export_folder folder; /* of a format that is several files; what was written then is nowhere */
	char *bytes;		     /* what was written, after feed_end() */
	size_t length;
	struct export_totals totals;
	bool is_ended; /* by feed_end(); an export that was given up may not have made a file yet */
};

static const struct txtrace_log_info feed_info = {
	.version_major = 1,
	.version_minor = 2,
	.capture_id = { 0xc0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	.boot_id = { 0xb0, 0xff },
	.start_monotonic_ns = 500,
	.start_realtime_ns = 1700000000000000500,
	.pid = 100,
	.cpu_cnt = 2,
	.host = "box",
	.kernel = "6.18.0 x86_64",
	.command = "./bank -t 2",
	.recorder = "txtrace-bpf 0.1.0",
	.options = "-p 100",
};

static inline struct txtrace_string feed_string(const char *text)
{
	return (struct txtrace_string){ .bytes = text, .length = strlen(text) };
}

static inline void feed_begin(struct feed *feed, const char *format)
{
	const struct export_format *found = export_format_find(format);

	*feed = (struct feed){ 0 };
	feed->out = open_memstream(&feed->bytes, &feed->length);
	assert_non_null(feed->out);
	feed->folder.fd = -1;
	if (found->open) {
		assert_int_equal(export_open(&feed->export, found, feed->out, &feed_info), 0);
		return;
	}
	export_folder_make(&feed->folder);
	assert_int_equal(export_open_in(&feed->export, found, feed->folder.fd, &feed_info), 0);
}

static inline void feed_add(struct feed *feed, struct txtrace_record record)
{
	assert_int_equal(export_add(feed->export, &record), 0);
}

/* feed_span(&feed, .id = 1, …), and so on for each kind of record */
#define feed_span(feed, ...) \
	feed_add(feed, (struct txtrace_record){ TXTRACE_RECORD_SPAN, .span = { __VA_ARGS__ } })
#define feed_run(feed, ...) \
	feed_add(feed, (struct txtrace_record){ TXTRACE_RECORD_RUN, .run = { __VA_ARGS__ } })
#define feed_wake(feed, ...) \
	feed_add(feed, (struct txtrace_record){ TXTRACE_RECORD_WAKE, .wake = { __VA_ARGS__ } })
#define feed_thread(feed, ...) \
	feed_add(feed, (struct txtrace_record){ TXTRACE_RECORD_THREAD, .thread = { __VA_ARGS__ } })
#define feed_attribute(feed, ...) \
	feed_add(feed, (struct txtrace_record){ TXTRACE_RECORD_ATTRIBUTE, .attribute = { __VA_ARGS__ } })
#define feed_instant(feed, ...) \
	feed_add(feed, (struct txtrace_record){ TXTRACE_RECORD_INSTANT, .instant = { __VA_ARGS__ } })
#define feed_counter(feed, ...) \
	feed_add(feed, (struct txtrace_record){ TXTRACE_RECORD_COUNTER, .counter = { __VA_ARGS__ } })
#define feed_link(feed, ...) \
	feed_add(feed, (struct txtrace_record){ TXTRACE_RECORD_LINK, .link = { __VA_ARGS__ } })
#define feed_open_span(feed, ...) \
	feed_add(feed, (struct txtrace_record){ TXTRACE_RECORD_OPEN_SPAN, .open_span = { __VA_ARGS__ } })
#define feed_loss(feed, ...) \
	feed_add(feed, (struct txtrace_record){ TXTRACE_RECORD_LOSS, .loss = { __VA_ARGS__ } })
#define feed_damage(feed, ...) \
	feed_add(feed, (struct txtrace_record){ TXTRACE_RECORD_DAMAGE, .damage = { __VA_ARGS__ } })
#define feed_summary(feed, ...) \
	feed_add(feed, (struct txtrace_record){ TXTRACE_RECORD_SUMMARY, .summary = { __VA_ARGS__ } })

static inline void feed_end(struct feed *feed)
{
	assert_int_equal(export_close(feed->export, 0, &feed->totals), 0);
	assert_int_equal(fclose(feed->out), 0);
	feed->is_ended = true;
}

static inline void feed_release(struct feed *feed)
{
	free(feed->bytes);
	if (feed->folder.fd >= 0) {
		size_t file_cnt = export_folder_remove(&feed->folder);

		assert_true(file_cnt > 0 || !feed->is_ended);
	}
}

/* What was written between the first line and the last, as text. To be freed. */
static inline char *feed_middle(const struct feed *feed)
{
	const char *begin = memchr(feed->bytes, '\n', feed->length), *end;

	assert_non_null(begin);
	begin++;
	end = memrchr(begin, '\n', feed->length - (size_t)(begin - feed->bytes) - 1);
	return strndup(begin, end ? (size_t)(end + 1 - begin) : 0);
}

#endif
