/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/sui_pack.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"

#define NS_PER_S 1000000000u
#define NS_PER_US 1000u

struct sui_pack *sui_pack_new(uint64_t begin_ns)
{
	struct sui_pack *pack = calloc(1, sizeof(*pack));

	if (pack)
		pack->begin_ns = begin_ns;
	return pack;
}

void sui_pack_free(struct sui_pack *pack)
{
	if (!pack)
		return;
	free(pack->words);
	free(pack->events);
	free(pack);
}

int sui_pack_add(struct sui_pack *pack, const struct sui_pack_event *event)
{
	struct sui_pack_event *events = array_grow(pack->events, &pack->size, pack->cnt, sizeof(*events));

	if (!events)
		return -ENOMEM;
	pack->events = events;
	events[pack->cnt++] = *event;
	return 0;
}

/* ---- bytes ---- */

static void put_number(struct text *bytes, uint64_t value, unsigned int length)
{
	for (unsigned int i = 0; i < length; i++) {
		char byte = (char)(value >> (8 * i));

		text_append_bytes(bytes, &byte, 1);
	}
}

static void put_uleb128(struct text *bytes, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		put_number(bytes, (value & 0x7f) | 0x80, 1);
	put_number(bytes, value, 1);
}

static void put_time(struct text *bytes, enum sui_record_kind kind, uint64_t seconds, uint32_t nanos)
{
	put_number(bytes, kind, 1);
	put_number(bytes, seconds, 8);
	put_number(bytes, nanos, 4);
}

static void put_ns(struct text *bytes, enum sui_record_kind kind, uint64_t ns)
{
	put_time(bytes, kind, ns / NS_PER_S, (uint32_t)(ns % NS_PER_S));
}

static void put_delta(struct text *bytes, uint64_t us)
{
	put_number(bytes, SUI_DELTA, 1);
	put_number(bytes, us, 2);
}

static void put_event(struct text *bytes, const struct sui_pack_event *event)
{
	put_number(bytes, SUI_EVENT, 1);
	text_append_bytes(bytes, (const char *)event->digest, sizeof(event->digest));
	put_number(bytes, event->type, 1);
}

/* ---- as Sui's writer does it ---- */

static void pack_events(const struct sui_pack *pack, struct text *bytes, uint64_t *cut_cnt)
{
	uint64_t clock_ns = pack->begin_ns;

	if (pack->cnt > 0 && pack->events[0].time_ns < clock_ns)
		clock_ns = pack->events[0].time_ns;
	put_ns(bytes, SUI_ABSOLUTE, clock_ns);
	for (size_t i = 0; i < pack->cnt; i++) {
		const struct sui_pack_event *event = &pack->events[i];
		uint64_t since_ns = event->time_ns > clock_ns ? event->time_ns - clock_ns : 0;

		if (since_ns / NS_PER_US <= SUI_DELTA_US_MAX) {
			/* from what was written, so that what is cut does not add up */
			put_delta(bytes, since_ns / NS_PER_US);
			*cut_cnt += since_ns % NS_PER_US != 0;
			clock_ns += since_ns - since_ns % NS_PER_US;
		} else {
			put_ns(bytes, SUI_LARGE_DELTA, since_ns);
			clock_ns += since_ns;
		}
		put_event(bytes, event);
	}
}

/* ---- by its words ---- */

struct word {
	char kind; /* a, d, l, e, c */
	uint64_t number;
	uint32_t nanos;
};

/* false: it is none. *at goes on behind it. */
static bool read_word(const char **at, struct word *word)
{
	uint64_t nanos = 0;
	char *end;

	*word = (struct word){ .kind = **at };
	if (word->kind == 'e') {
		++*at;
		return true;
	}
	if ((word->kind != 'a' && word->kind != 'l' && word->kind != 'd' && word->kind != 'c') ||
	    (*at)[1] < '0' || (*at)[1] > '9')
		return false;
	errno = 0;
	word->number = strtoull(*at + 1, &end, 10);
	if (word->kind == 'a' || word->kind == 'l') {
		if (end[0] != '.' || end[1] < '0' || end[1] > '9')
			return false;
		nanos = strtoull(end + 1, &end, 10);
	}
	word->nanos = (uint32_t)nanos;
	*at = end;
	return !errno && nanos <= UINT32_MAX && (word->kind != 'd' || word->number <= SUI_DELTA_US_MAX);
}

/* 1; 0: there are no more; -EINVAL: it is none. */
static int next_word(const char **at, struct word *word)
{
	while (**at == ' ')
		++*at;
	if (!**at)
		return 0;
	return read_word(at, word) && (**at == ' ' || !**at) ? 1 : -EINVAL;
}

static bool move_clock(uint64_t *clock_ns, const struct word *word)
{
	uint64_t ns;

	if (word->kind == 'e')
		return true;
	if (word->kind == 'c') {
		*clock_ns = word->number;
		return true;
	}
	if (__builtin_mul_overflow(word->number, word->kind == 'd' ? NS_PER_US : NS_PER_S, &ns) ||
	    __builtin_add_overflow(ns, word->nanos, &ns))
		return false;
	if (word->kind == 'a')
		*clock_ns = 0;
	return !__builtin_add_overflow(*clock_ns, ns, clock_ns);
}

/* Where an event stands: the batch's events are in the order of time, and its records need not be. */
struct place {
	uint64_t time_ns;
	size_t number;
	size_t event;
};

static int compare_times(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

static int compare_numbers(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	return left->number < right->number ? -1 : left->number > right->number;
}

/* Finds the event of each e. false: the words are not those of these events. */
static bool find_places(const struct sui_pack *pack, struct place *places, uint64_t *record_cnt)
{
	const char *at = pack->words;
	uint64_t clock_ns = 0;
	struct word word;
	size_t cnt = 0;
	int result;

	*record_cnt = 0;
	while ((result = next_word(&at, &word)) == 1) {
		if (!move_clock(&clock_ns, &word))
			return false;
		*record_cnt += word.kind != 'c';
		if (word.kind != 'e')
			continue;
		if (cnt == pack->cnt)
			return false;
		places[cnt] = (struct place){ .time_ns = clock_ns, .number = cnt };
		cnt++;
	}
	if (result || cnt != pack->cnt)
		return false;
	qsort(places, cnt, sizeof(*places), compare_times);
	for (size_t i = 0; i < cnt; i++) {
		if (places[i].time_ns != pack->events[i].time_ns)
			return false;
		places[i].event = i;
	}
	qsort(places, cnt, sizeof(*places), compare_numbers);
	return true;
}

static void pack_words(const struct sui_pack *pack, const struct place *places, struct text *bytes)
{
	const char *at = pack->words;
	struct word word;

	while (next_word(&at, &word) == 1) {
		if (word.kind == 'e')
			put_event(bytes, &pack->events[places++->event]);
		else if (word.kind == 'd')
			put_delta(bytes, word.number);
		else if (word.kind != 'c')
			put_time(bytes, word.kind == 'a' ? SUI_ABSOLUTE : SUI_LARGE_DELTA, word.number,
				 word.nanos);
	}
}

/* ---- all ---- */

static int write_bytes(FILE *out, const struct text *bytes)
{
	return fwrite(bytes->bytes, 1, bytes->length, out) == bytes->length ? 0 : errno ? -errno : -EIO;
}

int sui_pack_write(const struct sui_pack *pack, FILE *out, uint64_t *cut_cnt)
{
	struct place *places = pack->words ? calloc(pack->cnt + 1, sizeof(*places)) : NULL;
	struct text length = { 0 }, payload = { 0 };
	uint64_t record_cnt;
	int err;

	if (places && find_places(pack, places, &record_cnt)) {
		put_uleb128(&payload, record_cnt);
		pack_words(pack, places, &payload);
	} else {
		put_uleb128(&payload, 1 + 2 * (uint64_t)pack->cnt);
		pack_events(pack, &payload, cut_cnt);
	}
	put_number(&length, payload.length, 4);
	err = pack->words && !places ? -ENOMEM : payload.err ? payload.err : length.err;
	err = err ? err : write_bytes(out, &length);
	err = err ? err : write_bytes(out, &payload);
	free(places);
	text_release(&length);
	text_release(&payload);
	return err;
}
