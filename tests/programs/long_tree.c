/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree whose upper spans stay open for long: `session` above all, in it `step` spans of a second and a
 * half, in each of these many short `call` spans. A second session has a traceparent.
 */
#include "truth.h"

#define STEP_CALLS 150u
#define CALL_US 10000u
#define TRACEPARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

static void make_step(txtrace_span_t session)
{
	txtrace_span_t step = TXTRACE_BEGIN_CHILD("step", session);

	for (unsigned int i = 0; i < STEP_CALLS; i++) {
		txtrace_span_t call = TXTRACE_BEGIN_CHILD("call", step);

		usleep(CALL_US);
		TXTRACE_END(call);
	}
	TXTRACE_END(step);
}

static void make_session(txtrace_span_t session, uint64_t step_cnt)
{
	for (uint64_t i = 0; i < step_cnt; i++)
		make_step(session);
	TXTRACE_END(session);
}

int main(int argc, char **argv)
{
	struct truth_options truth = TRUTH_OPTIONS_DEFAULT;
	uint64_t step_cnt = 3;
	txtrace_span_t named;
	const struct option_spec specs[] = {
		TRUTH_OPTION_SPECS(&truth),
		{ .name = "steps", .help = "of each session", .count = &step_cnt, .min = 1, .max = 1e6 },
	};

	options_parse(specs, sizeof(specs) / sizeof(specs[0]), "long_tree: long spans above short ones", argc,
		      argv);
	truth_start(&truth);
	make_session(TXTRACE_BEGIN("session"), step_cnt);
	named = TXTRACE_BEGIN("named session");
	TXTRACE_ATTR(named, "traceparent", TRACEPARENT);
	make_session(named, step_cnt);
	return 0;
}
