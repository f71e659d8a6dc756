/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks in shared memory of which some are given another time before they are read: an hour later, and an
 * hour before. Prints how many: {"type":"forged","events":N}
 */
#include "truth.h"

/* The slot that this thread, the only one, has filled last; NULL: it marks through probes. */
static struct txtrace_slot_ *last_slot(void)
{
	struct txtrace_pool_ *pool = txtrace_object_ ? txtrace_object_->pool : NULL;

	for (uint64_t chunk = TXTRACE_HEAD_CHUNKS_; pool && chunk < pool->chunk_cnt; chunk++) {
		for (uint64_t i = 0; pool->chunks[chunk] == TXTRACE_CHUNK_LANES_ && i < 16; i++) {
			uint64_t position = txtrace_lane_at_(pool, chunk * 16 + i)->position;

			if (TXTRACE_END_PLACE_(position))
				return (struct txtrace_slot_ *)txtrace_lane_at_(pool, TXTRACE_END_PLACE_(
											      position)) -
				       TXTRACE_CHUNK_SLOTS_ + TXTRACE_USED_(position) - 1;
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct truth_options truth = TRUTH_OPTIONS_DEFAULT;
	const struct option_spec specs[] = { TRUTH_OPTION_SPECS(&truth) };
	uint64_t hour = UINT64_C(3600) * 2000000000, forged_cnt = 0;

	options_parse(specs, sizeof(specs) / sizeof(specs[0]), "forged_times: marks with other times", argc,
		      argv);
	truth_start(&truth);
	for (int i = 0; i < 1000; i++) {
		txtrace_span_t span = TXTRACE_BEGIN("span");
		struct txtrace_slot_ *slot;

		TXTRACE_EVENT(span, "forged");
		slot = i >= 500 && i % 10 == 0 ? last_slot() : NULL;
		if (slot && slot->commit >> 56 == TXTRACE_MARK_EVENT_) {
			slot->commit += i % 20 ? hour : -hour;
			forged_cnt++;
		}
		TXTRACE_EVENT(span, "true");
		TXTRACE_END(span);
		usleep(100);
	}
	printf("{\"type\":\"forged\",\"events\":%llu}\n", (unsigned long long)forged_cnt);
	return 0;
}
