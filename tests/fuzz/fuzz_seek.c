/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a log that is read in other ways than from its begin to its end: first a byte, how many
 * threads decode; one, where to seek, by time or by batch; eight, which. Threads change nothing at all; after
 * a seek come records of the log, in its order.
 */
#define FUZZ_LOG_AT 10u
#include "fuzz/fuzz_checksums.h"
#include "fuzz/fuzz_prints.h"
#include "log/read/log_range.h"

static bool open_log(struct txtrace_log **log, const struct fuzz_file *file)
{
	if (!txtrace_log_open(log, file->path))
		return true;
	txtrace_log_close(*log);
	return false;
}

static void law_of_threads(const struct fuzz_file *file, unsigned int thread_cnt, const struct prints *all)
{
	static struct prints prints;
	struct txtrace_log *log;

	LAW(open_log(&log, file) && !txtrace_log_set_threads(log, thread_cnt));
	prints_read(&prints, log);
	txtrace_log_close(log);
	LAW(prints.cnt == all->cnt && !memcmp(prints.of, all->of, all->cnt * sizeof(all->of[0])));
	LAW(prints.damages == all->damages && prints.damaged_bytes == all->damaged_bytes &&
	    prints.is_complete == all->is_complete);
}

static void law_of_seeks(const struct fuzz_file *file, bool by_time, uint64_t to, const struct prints *all)
{
	static struct prints prints;
	struct txtrace_log *log;

	LAW(open_log(&log, file));
	LAW(!(by_time ? txtrace_log_seek_time(log, to) : txtrace_log_seek_batch(log, to)));
	prints_read(&prints, log);
	LAW(prints_are_among(&prints, all));
	LAW(!log_seek_range(log, 0, to)); /* nothing that is later */
	prints_read(&prints, log);
	LAW(prints_are_among(&prints, all));
	LAW(!txtrace_log_seek_batch(log, 0)); /* and back */
	prints_read(&prints, log);
	LAW(prints_are_among(&prints, all));
	txtrace_log_close(log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;
	static struct prints all;
	struct fuzz_bytes bytes = { data, size };
	unsigned int thread_cnt = (unsigned int)fuzz_take(&bytes, 1) % 4;
	bool by_time = fuzz_take(&bytes, 1) & 1;
	uint64_t to = fuzz_take(&bytes, 8);
	struct txtrace_log *log;

	fuzz_file_set(&file, bytes.at, bytes.left);
	if (!open_log(&log, &file))
		return 0;
	prints_read(&all, log);
	txtrace_log_close(log);
	if (all.is_too_long)
		return 0;
	if (thread_cnt)
		law_of_threads(&file, thread_cnt, &all);
	law_of_seeks(&file, by_time, to, &all);
	return 0;
}
