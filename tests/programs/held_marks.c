/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that loses its CPU within a mark, once it has a slot and before it reads the time: what a
 * preemption there does, each time. It marks nothing else before it leaves the CPU again. Prints how many:
 * {"type":"held","spans":N}
 */
#include "truth.h"

#include "shared_memory.h"

#define SPANS 200

/* The lane of this thread, the only one. */
static struct txtrace_lane_ *find_lane(struct txtrace_pool_ *pool)
{
	for (uint64_t chunk = TXTRACE_HEAD_CHUNKS_; chunk < pool->chunk_cnt; chunk++) {
		for (uint64_t i = 0; pool->chunks[chunk] == TXTRACE_CHUNK_LANES_ && i < 16; i++) {
			struct txtrace_lane_ *lane = txtrace_lane_at_(pool, chunk * 16 + i);

			if (TXTRACE_END_PLACE_(lane->position))
				return lane;
		}
	}
	return NULL;
}

/* false: there was no slot left in the chunk. */
static bool end_held(txtrace_span_t span)
{
	struct txtrace_thread_ self = { .guard = txtrace_object_, .serial = txtrace_object_->serial };
	struct txtrace_slot_ *slot;

	self.pool = txtrace_object_->pool;
	self.lane = find_lane(self.pool);
	must(self.lane, "there is no lane");
	slot = txtrace_take_slot_(&self);
	if (!slot)
		return false;
	usleep(200);
	txtrace_fill_(slot, TXTRACE_MARK_END_, span, TXTRACE_NO_NAME_, 0, 0);
	return true;
}

int main(int argc, char **argv)
{
	struct truth_options truth = TRUTH_OPTIONS_DEFAULT;
	const struct option_spec specs[] = { TRUTH_OPTION_SPECS(&truth) };
	unsigned held_cnt = 0;

	options_parse(specs, sizeof(specs) / sizeof(specs[0]), "held_marks: off the CPU within marks", argc,
		      argv);
	truth_start(&truth);
	wait_for_memory();
	must(marks_in_memory(), "it does not mark in memory");
	for (unsigned i = 0; i < SPANS; i++) {
		txtrace_span_t span = TXTRACE_BEGIN("held");

		if (end_held(span))
			held_cnt++;
		else
			TXTRACE_END(span);
		usleep(200);
	}
	printf("{\"type\":\"held\",\"spans\":%u}\n", held_cnt);
	return 0;
}
