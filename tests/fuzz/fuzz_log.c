/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a log. The reader comes to an end, says of every byte range that it skips where it is, and
 * gives records that can be shown.
 */
#include <errno.h>

#include "fuzz/fuzz_checksums.h"
#include "fuzz/fuzz_laws.h"

/* A small file may unpack to millions of records; what is wrong with one of them shows in the first ones. */
#define RECORD_MAX 20000

/* Each damage stands behind the one before. */
static void law_of_damage(uint64_t *begin, const struct txtrace_damage *damage, size_t size)
{
	LAW(damage->reason && damage->reason[0]);
	LAW(damage->offset_bytes <= size && damage->length_bytes <= size - damage->offset_bytes);
	LAW(damage->offset_bytes >= *begin);
	*begin = damage->offset_bytes;
}

static void law_of_progress(const struct txtrace_log *log, size_t size)
{
	uint64_t read_bytes, total_bytes;

	txtrace_log_progress(log, &read_bytes, &total_bytes);
	LAW(total_bytes == size && read_bytes <= size);
}

static void read_all(struct txtrace_log *log, size_t size)
{
	uint64_t damage_begin = 0, read_bytes, total_bytes;
	struct txtrace_record record;
	int result;

	for (uint32_t cnt = 0; (result = txtrace_log_next(log, &record)) > 0; cnt++) {
		if (cnt == RECORD_MAX)
			return;
		law_of_records(&record);
		law_of_progress(log, size);
		if (record.kind == TXTRACE_RECORD_DAMAGE)
			law_of_damage(&damage_begin, &record.damage, size);
		txtrace_log_realtime_ns(log, 1);
	}
	LAW(result == 0 && txtrace_log_next(log, &record) == 0);
	txtrace_log_progress(log, &read_bytes, &total_bytes);
	LAW(read_bytes == total_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;
	struct txtrace_log *log;
	int err = txtrace_log_open(&log, fuzz_file_set(&file, data, size));

	if (err) {
		LAW(err == -EBADMSG || err == -EPROTONOSUPPORT || (err == -ENODATA && size == 0));
		LAW(txtrace_log_strerror(log, err)[0]);
		txtrace_log_close(log);
		return 0;
	}
	LAW(memchr(txtrace_log_info(log)->command, 0, sizeof(txtrace_log_info(log)->command)));
	read_all(log, size);
	txtrace_log_is_complete(log);
	txtrace_log_close(log);
	return 0;
}
