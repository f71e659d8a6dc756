/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keyed spans of two labels, one of which somebody may not want to see. In each round:
 *
 *	plain     wanted; begun by one thread, entered and ended by the other, with an event
 *	noise     unwanted; just so
 *	twice     begun as wanted, then as unwanted, ended: the first is cut off by the second
 *	reversed  begun as unwanted, then as wanted, ended: the second is whole
 *	reused    unwanted, ended, then wanted under the same key, and ended
 *
 * Prints how many of each label were begun, ended by their end, and cut off: "wanted=… whole=… cut=…".
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "program_options.h"
#include "txtrace.h"

struct key {
	char text[24];
	size_t length;
};

static struct key make_key(const char *kind, uint64_t round)
{
	struct key key;

	key.length = (size_t)snprintf(key.text, sizeof(key.text), "%.8s-%u", kind, (unsigned int)round);
	return key;
}

/* What the other thread does for a span that has begun. */
static void *work(void *argument)
{
	struct key *key = argument;

	TXTRACE_KEY_ENTER(key->text, key->length);
	TXTRACE_KEY_EVENT(key->text, key->length, "seen");
	TXTRACE_KEY_EXIT(key->text, key->length);
	TXTRACE_KEY_END(key->text, key->length);
	return NULL;
}

static void hand_over(struct key *key)
{
	pthread_t other;

	TXTRACE_KEY_EXIT(key->text, key->length);
	if (pthread_create(&other, NULL, work, key) == 0)
		pthread_join(other, NULL);
}

static void one_round(uint64_t round)
{
	struct key plain = make_key("plain", round), noise = make_key("noise", round),
		   twice = make_key("twice", round);
	struct key reversed = make_key("reversed", round), reused = make_key("reused", round);

	TXTRACE_KEY_BEGIN("wanted", plain.text, plain.length);
	hand_over(&plain);
	for (int i = 0; i < 20; i++) {
		TXTRACE_KEY_BEGIN("unwanted", noise.text, noise.length);
		TXTRACE_KEY_EVENT(noise.text, noise.length, "heard");
		TXTRACE_KEY_END(noise.text, noise.length);
	}
	TXTRACE_KEY_BEGIN("unwanted", noise.text, noise.length);
	hand_over(&noise);
	TXTRACE_KEY_BEGIN("wanted", twice.text, twice.length);
	TXTRACE_KEY_BEGIN("unwanted", twice.text, twice.length);
	TXTRACE_KEY_END(twice.text, twice.length);
	TXTRACE_KEY_BEGIN("unwanted", reversed.text, reversed.length);
	TXTRACE_KEY_BEGIN("wanted", reversed.text, reversed.length);
	TXTRACE_KEY_END(reversed.text, reversed.length);
	TXTRACE_KEY_BEGIN("unwanted", reused.text, reused.length);
	TXTRACE_KEY_END(reused.text, reused.length);
	TXTRACE_KEY_BEGIN("wanted", reused.text, reused.length);
	TXTRACE_KEY_END(reused.text, reused.length);
}

int main(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	uint64_t rounds = 500;
	const struct option_spec table[] = {
		{ .name = "rounds", .help = "how many, 2 ms apart", .count = &rounds, .max = 1e6 },
	};

	options_parse(table, sizeof(table) / sizeof(table[0]),
		      "keyed_labels: spans named by bytes, wanted and not", argc, argv);
	for (uint64_t i = 0; i < rounds; i++) {
		one_round(i);
		nanosleep(&pause, NULL);
	}
	printf("wanted=%u whole=%u cut=%u\n", (unsigned int)(4 * rounds), (unsigned int)(3 * rounds),
	       (unsigned int)rounds);
	return 0;
}
