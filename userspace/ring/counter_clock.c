/* SPDX-License-Identifier: BSD-2-Clause */
#include "ring/counter_clock.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define TRIES 5
#define FIRST_LOOK_NS 1000000u /* between the first two looks */
#define LOOK_NS 10000000u      /* between those that are kept */
/* A look that was held up is not kept, unless there has been none for long: the next line would be askew. */
#define DOUBT_NS 5000u
#define PATIENCE_NS 1000000000u
#define COUNTER_BITS 56
#define ROUND (INT64_C(1) << 31)

static bool file_has_word(const char *path, const char *word)
{
	FILE *file = fopen(path, "re");
	char line[4096], padded[64];
	bool has_word = false;

	snprintf(padded, sizeof(padded), " %s ", word);
	while (file && !has_word && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = ' ';
		has_word = strstr(line, padded) || !strncmp(line, padded + 1, strlen(padded + 1));
	}
	if (file)
		fclose(file);
	return has_word;
}

#define CLOCK_SOURCE_PATH "/sys/devices/system/clocksource/clocksource0/current_clocksource"

bool counter_clock_is_usable(void)
{
#if defined(__x86_64__)
	bool is_steady = file_has_word("/proc/cpuinfo", "constant_tsc") &&
			 file_has_word("/proc/cpuinfo", "nonstop_tsc");

	return file_has_word(CLOCK_SOURCE_PATH, "tsc") ||
	       (is_steady && file_has_word(CLOCK_SOURCE_PATH, "kvm-clock"));
#else
	return file_has_word(CLOCK_SOURCE_PATH, "arch_sys_counter");
#endif
}

/* The time lies between two readings of the counter: of several tries the one in which they are closest. */
static struct counter_look look_now(void)
{
	struct counter_look best = { 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = counter_clock_read(), time_ns = clock_now_ns();
		uint64_t after = counter_clock_read();

		if (after - before < least) {
			least = after - before;
			best = (struct counter_look){ before + least / 2, time_ns, least };
		}
	}
	return best;
}

static const struct counter_look *look_at(const struct counter_clock *clock, uint32_t number)
{
	return &clock->looks[number % COUNTER_CLOCK_LOOKS];
}

static uint32_t oldest_of(const struct counter_clock *clock)
{
	return clock->cnt > COUNTER_CLOCK_LOOKS ? clock->cnt - COUNTER_CLOCK_LOOKS : 0;
}

/* The counter's difference, with its sign: it may be anywhere near the other. */
static int64_t between(uint64_t from, uint64_t to)
{
	return (int64_t)((to - from) << (64 - COUNTER_BITS)) >> (64 - COUNTER_BITS);
}

uint64_t counter_clock_time_ns(const struct counter_clock *clock, uint64_t counter)
{
	uint32_t oldest = oldest_of(clock), number = clock->cnt - 1;
	const struct counter_look *to;

	while (number > oldest + 1 && between(look_at(clock, number - 1)->counter, counter) < 0)
		number--;
	to = look_at(clock, number);
	return to->time_ns +
	       (uint64_t)(int64_t)(((__int128)between(to->counter, counter) *
					    (int64_t)clock->rates[number % COUNTER_CLOCK_LOOKS] +
				    ROUND) >>
				   32);
}

static uint64_t rate_of(const struct counter_clock *clock)
{
	return clock->rates[(clock->cnt - 1) % COUNTER_CLOCK_LOOKS];
}

static uint64_t doubt_ns(const struct counter_clock *clock, const struct counter_look *look)
{
	return (uint64_t)((unsigned __int128)look->doubt * rate_of(clock) >> 32);
}

/*
 * Not where the line leads from the oldest look through the last one. Each
 * look may be off by its doubt. What the ends of the line are off by grows
 * with the distance, the more so the shorter the line is.
 */
static bool is_off_the_line(const struct counter_clock *clock, const struct counter_look *look)
{
	const struct counter_look *from = look_at(clock, oldest_of(clock)),
				  *to = look_at(clock, clock->cnt - 1);
	uint64_t length_ns = to->time_ns - from->time_ns, passed_ns = look->time_ns - to->time_ns;
	uint64_t ends_ns = doubt_ns(clock, from) + doubt_ns(clock, to);
	uint64_t allowed_ns = COUNTER_CLOCK_JUMP_NS + passed_ns / 1000 + ends_ns + doubt_ns(clock, look);
	int64_t expected_ns, wrong_ns;

	if (to->counter == from->counter || !length_ns)
		return false;
	allowed_ns += (uint64_t)((unsigned __int128)ends_ns * passed_ns / length_ns);
	expected_ns = (int64_t)((__int128)between(to->counter, look->counter) * (__int128)length_ns /
				between(from->counter, to->counter));
	wrong_ns = expected_ns - (int64_t)passed_ns;
	return (uint64_t)(wrong_ns < 0 ? -wrong_ns : wrong_ns) > allowed_ns;
}

static void add_look(struct counter_clock *clock, const struct counter_look *look, uint64_t rate)
{
	uint32_t at = clock->cnt++ % COUNTER_CLOCK_LOOKS;

	clock->looks[at] = *look;
	clock->rates[at] = rate;
}

static uint64_t rate_between(const struct counter_look *from, const struct counter_look *to)
{
	return (uint64_t)(((unsigned __int128)(to->time_ns - from->time_ns) << 32) /
			  (to->counter - from->counter));
}

/* Begins anew where the look is, as fast as the line that led there. */
static void move_line(struct counter_clock *clock, const struct counter_look *look)
{
	const struct counter_look *from = look_at(clock, oldest_of(clock)),
				  *to = look_at(clock, clock->cnt - 1);
	struct counter_look before = {
		look->counter - (to->counter - from->counter),
		look->time_ns - (to->time_ns - from->time_ns),
		from->doubt + to->doubt,
	};

	clock->cnt = 0;
	add_look(clock, &before, 0);
	add_look(clock, look, rate_between(&before, look));
}

bool counter_clock_keep(struct counter_clock *clock, const struct counter_look *look)
{
	const struct counter_look *before = look_at(clock, clock->cnt - 1);
	uint64_t rate = clock->cnt ? rate_of(clock) : 0;

	if (clock->cnt > 1 && is_off_the_line(clock, look)) {
		move_line(clock, look);
		return true;
	}
	if (clock->cnt && look->counter != before->counter)
		rate = rate_between(before, look);
	add_look(clock, look, rate);
	return false;
}

void counter_clock_init(struct counter_clock *clock)
{
	struct counter_look look = look_now();
	uint64_t first_ns = look.time_ns;

	memset(clock, 0, sizeof(*clock));
	counter_clock_keep(clock, &look);
	while (look.time_ns - first_ns < FIRST_LOOK_NS)
		look = look_now();
	counter_clock_keep(clock, &look);
}

uint64_t counter_clock_look(struct counter_clock *clock, bool *has_jumped)
{
	struct counter_look look = look_now();
	uint64_t passed_ns = look.time_ns - look_at(clock, clock->cnt - 1)->time_ns;
	bool is_kept = passed_ns >= LOOK_NS &&
		       (doubt_ns(clock, &look) <= DOUBT_NS || passed_ns >= PATIENCE_NS);

	*has_jumped = is_kept && counter_clock_keep(clock, &look);
	return look.time_ns;
}
