/* SPDX-License-Identifier: BSD-2-Clause */
/* What is in a log, as one number for each record: to compare two ways to read it. */
#ifndef FUZZ_PRINTS_H
#define FUZZ_PRINTS_H

#include "base/crc32c.h"
#include "fuzz/fuzz.h"

#define assert_int_equal(a, b) LAW((a) == (b)) /* for cmocka's, in what is not used here */
#include "unit/log_samples.h"

#define PRINT_MAX 20000u

struct prints {
	/* checksums of the records as text, in their order; damage is not among them */
	uint32_t of[PRINT_MAX];
	uint32_t cnt;
	uint64_t damaged_bytes;
	uint32_t damages; /* checksum of all that was told of them */
	bool is_complete;
	bool is_too_long; /* the rest was not read */
};

/* What is left of the log. */
static inline void prints_read(struct prints *prints, struct txtrace_log *log)
{
	struct txtrace_record record;
	char line[4096];
	FILE *out;

	memset(prints, 0, sizeof(*prints));
	while (txtrace_log_next(log, &record) > 0) {
		if (record.kind == TXTRACE_RECORD_DAMAGE) {
			prints->damaged_bytes += record.damage.length_bytes;
			prints->damages = crc32c_extend(prints->damages, (const void *)&record.damage,
							sizeof(record.damage));
			continue;
		}
		prints->is_too_long = prints->cnt == PRINT_MAX;
		if (prints->is_too_long)
			return;
		memset(line, 0, sizeof(line));
		out = fmemopen(line, sizeof(line), "w");
		put_record(out, &record);
		fclose(out);
		prints->of[prints->cnt++] = crc32c(line, sizeof(line));
	}
	prints->is_complete = txtrace_log_is_complete(log);
}

/* Whether all records of `some` are in `all`, in the same order. */
static inline bool prints_are_among(const struct prints *some, const struct prints *all)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < some->cnt; i++, at++) {
		while (at < all->cnt && all->of[at] != some->of[i])
			at++;
		if (at == all->cnt)
			return false;
	}
	return true;
}

#endif
