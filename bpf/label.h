/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Labels and names. As a rule one is a literal, and lies in the same file as
 * the probe to which it is passed. The cookie of the probe says which file that
 * is and where in it the probe lies; the distance of the two addresses leads
 * from there to the literal. So the event has the literal's place in the file.
 * It is right also when the process has ended, or another library has the
 * address. A string that lies elsewhere is copied, each time.
 *
 * Before 5.15 there are no cookies. Then the event has the address, and the
 * recorder reads what the process has there by then.
 */
#ifndef LABEL_H
#define LABEL_H

#include "vmlinux.h"
#include "compat.h"
#include "emit.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

struct label_files_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_LABEL_FILE_MAX);
	__type(key, uint32_t);
	__type(value, struct wire_label_file);
};

extern struct label_files_map label_files SEC(".maps");

/* The label that the program passed, as a place if it is one, else its address. */
static __always_inline uint64_t label_of(struct pt_regs *ctx, uint64_t address)
{
	const struct wire_label_file *file;
	uint64_t site, place;
	uint32_t number;

	if (address & WIRE_LABEL_IS_PLACE) /* no program has such an address */
		return WIRE_LABEL_UNREADABLE;
	if (!address || !cfg_has_attach_cookie)
		return address;
	site = bpf_get_attach_cookie(ctx);
	number = site >> WIRE_LABEL_PLACE_BITS & (WIRE_LABEL_FILE_MAX - 1);
	file = bpf_map_lookup_elem(&label_files, &number);
	place = (site & WIRE_LABEL_PLACE_MAX) + (address - PT_REGS_IP(ctx));
	if (!file || place - file->start >= file->size)
		return address;
	return WIRE_LABEL_IS_PLACE | (uint64_t)number << WIRE_LABEL_PLACE_BITS | place;
}

/* What, added to the address of a label that is told at this probe, makes it a place; 0: nothing does. */
static __always_inline uint64_t label_base(struct pt_regs *ctx)
{
	uint64_t site;

	if (!cfg_has_attach_cookie)
		return 0;
	site = bpf_get_attach_cookie(ctx);
	return site ? (WIRE_LABEL_IS_PLACE | site) - PT_REGS_IP(ctx) : 0;
}

static __always_inline bool label_is_copied(uint64_t label)
{
	return cfg_has_attach_cookie && label > WIRE_LABEL_UNREADABLE && !(label & WIRE_LABEL_IS_PLACE);
}

/* Sends the text at the address. Returns the event's label: WIRE_LABEL_UNREADABLE if the text is lost. */
uint64_t label_copy(uint64_t address);

/* To be called right before the event with this label is sent. */
static __always_inline uint64_t label_told(uint64_t label)
{
	return label_is_copied(label) ? label_copy(label) : label;
}

#endif
