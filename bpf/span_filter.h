/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which spans are recorded: one of so many transactions (--sample), those of
 * certain labels (--label). Without either, nothing here is called and the
 * verifier cuts it away.
 *
 * A transaction is recorded as a whole or not at all: of a span without a
 * parent its process and id decide, of a child its parent's decision; of a
 * keyed span the bytes of the key, so that every process decides alike. The
 * parent of a span that names none is what its thread is in (entered.h).
 *
 * What is open and sampled is kept in a map, with the id that its children are
 * to have as their parent: its own, or, of a span whose label is not wanted,
 * that of the nearest one above it that is recorded. So the time of what is
 * left out stays with the spans around it, and whatever is recorded has a
 * recorded parent.
 *
 * Labels are known by their addresses, once the recorder has read them
 * (span_labels). Until then spans pass, and the recorder leaves them out.
 *
 * Of keyed spans that are open it is remembered whether their begin passed, as
 * only that has the label: what follows passes or not as the begin did. What is
 * not remembered passes, and the recorder decides; a begin that passed and for
 * which there was no room is why no other begin is left out here from then on,
 * lest events of that span be taken for the other's.
 */
#ifndef SPAN_FILTER_H
#define SPAN_FILTER_H

#include "vmlinux.h"
#include "txtrace/event.h"

#include <bpf/bpf_helpers.h>

extern const volatile uint32_t cfg_sample_rate; /* one of so many; 1: all */
extern const volatile bool cfg_filters_labels;

struct span_name {
	uint64_t id;
	uint32_t tgid;
	uint32_t padding;
};

static __always_inline bool span_filter_is_on(void)
{
	return cfg_sample_rate > 1 || cfg_filters_labels;
}

/*
 * A span begins: is it recorded? *parent becomes the one that it is to be
 * recorded with; *flags gets WIRE_IS_NESTED if that was found here.
 */
bool span_filter_begin(const uint8_t kind, uint64_t id, uint64_t label, uint64_t *parent, uint16_t *flags);

/* Something is said of it. */
bool span_filter_has(uint64_t id);

/* The thread enters it; leaves it; ends it. */
bool span_filter_enter(uint64_t id);
bool span_filter_leave(uint64_t id);
bool span_filter_end(uint64_t id);

struct span_key {
	uint64_t bytes[WIRE_KEY_MAX / 8]; /* filled up with zeros */
	uint32_t length;
	uint32_t padding;
};

/* kind: of the event, which is to be left out or not. label: with which a span begins. */
bool span_filter_has_key(const struct span_key *key, const uint8_t kind, uint64_t label);

#endif
