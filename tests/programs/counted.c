/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans that are counted as they end, in a file that somebody else can read also after this program was
 * killed: `turn`, in each of them `part` with an event and a tag. Confined, it says what memory it marked in
 * (tests/programs/confine.h).
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "confine.h"
#include "shared_memory.h"
#include "truth.h"

static volatile uint64_t *open_progress(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	uint64_t *progress;

	must(fd >= 0 && !ftruncate(fd, sizeof(*progress)), "cannot make the file of the progress");
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(progress != MAP_FAILED, "cannot map the file of the progress");
	return progress;
}

int main(int argc, char **argv)
{
	struct truth_options truth = TRUTH_OPTIONS_DEFAULT;
	uint64_t turn_cnt = 1000, sleep_us = 0;
	const char *path = "", *under = "";
	const struct option_spec specs[] = {
		TRUTH_OPTION_SPECS(&truth),
		{ .name = "turns", .help = "how many", .count = &turn_cnt, .min = 1, .max = 1e12 },
		{ .name = "sleep-us", .help = "after each", .count = &sleep_us, .min = 0, .max = 1e6 },
		{ .name = "progress", .help = "a file: how many have ended", .text = &path },
		{ .name = "under", .help = CONFINEMENTS, .text = &under },
	};
	volatile uint64_t *progress;

	options_parse(specs, sizeof(specs) / sizeof(specs[0]), "counted: spans that are counted", argc, argv);
	progress = open_progress(path);
	if (*under)
		confine(under);
	truth_start(&truth);
	if (*under)
		wait_for_memory();
	for (uint64_t i = 1; i <= turn_cnt; i++) {
		txtrace_span_t turn = TXTRACE_BEGIN("turn");

		{
			TXTRACE_SPAN_AS(part, "part");
			TXTRACE_EVENT(part, "here");
			TXTRACE_TAG(part, "a tag that is longer than one piece of it");
		}
		TXTRACE_END(turn);
		*progress = i;
		if (sleep_us)
			usleep((useconds_t)sleep_us);
	}
	if (*under)
		print_pools();
	return 0;
}
