/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Spans of programs that were never changed: what the recorder tells the BPF
 * programs of bpf/foreign.bpf.c. Like txtrace/event.h it lives between the two
 * sides of one build only.
 *
 * A probe's cookie says what a hit means. Of a function: the index of its
 * label. Of a begin or end of a span: the index of a struct foreign_site, which
 * says where the key, the tags and the parent are found; sites of one kind
 * share it, since the same probe has its arguments elsewhere at each site.
 */
#ifndef TXTRACE_FOREIGN_H
#define TXTRACE_FOREIGN_H

#ifndef __VMLINUX_H__
#include <stdint.h>
#endif

#define FOREIGN_SPAN_MAX 64   /* --span options, presets' included; a power of two */
#define FOREIGN_SITE_MAX 2048 /* distinct places of arguments */
#define FOREIGN_KEY_MAX 2
#define FOREIGN_TAG_MAX 4
/* a power of two; functions of one thread that are not over yet; deeper calls are counted as lost */
#define FOREIGN_DEPTH_MAX 128
#define FOREIGN_OPEN_MAX 262144 /* open spans that are named by a number; more are counted as lost */

/* besides: the kernel single-steps the instruction. Not where the cookie is in a path */
#define FOREIGN_COOKIE_STEPPED (1ull << 32)

/* before Linux 5.13: threads with spans at a time; those of more are counted as lost */
#define FOREIGN_THREAD_MAX 4096

/*
 * Before Linux 5.15 the cookie is in the path under which the file is named to
 * the kernel, which keeps it: "/proc/self/fd", two bytes for each bit from the
 * lowest to the highest, which lead nowhere else ("//" or "/."), "/7".
 */
#define PROBE_PATH_PREFIX "/proc/self/fd"
#define PROBE_PATH_PREFIX_BYTES 13
#define PROBE_PATH_COOKIE_BITS 16
#define PROBE_PATH_ZERO '/'
#define PROBE_PATH_ONE '.'
#define PROBE_PATH_BIT(byte) (~(byte) & 1) /* without a branch, for the verifier */

/*
 * Labels and names of values that come from the command line travel as
 * addresses that no program can have: this and the index in the recorder's
 * table.
 */
#define FOREIGN_LABEL_BASE 0xfffff00000000000ull

enum foreign_source {
	FOREIGN_NOTHING = 0,
	FOREIGN_TID = 1,
	FOREIGN_CONSTANT = 2, /* `offset` */
	FOREIGN_REGISTER = 3,
	FOREIGN_MEMORY = 4,   /* what lies at the register + `offset` (+ another register << `index_shift`) */
};

#define FOREIGN_NO_REGISTER 0xffff

/* Where a value is found when a probe is hit. */
struct foreign_value {
	uint8_t source; /* enum foreign_source */
	uint8_t size_bytes;
	uint8_t is_signed;
	uint8_t is_string;       /* the value is the address of a string */
	uint16_t register_offset; /* in struct pt_regs; FOREIGN_NO_REGISTER: none, 0 is added to */
	uint16_t index_offset;   /* likewise */
	uint32_t index_shift;
	uint32_t padding;
	int64_t offset;
	uint64_t name; /* of a tag, as an address */
};

enum foreign_parent {
	/* not named: what the thread is in; of a span that is named by a number: none */
	FOREIGN_PARENT_NONE = 0,
	FOREIGN_PARENT_THREAD = 1, /* what the thread is in */
	/* the open span of a --span, by this thread or by parent_keys; if it is not open, none */
	FOREIGN_PARENT_SPAN = 2,
	FOREIGN_PARENT_ROOT = 3,   /* none */
};

struct foreign_site {
	uint32_t span_idx;
	uint32_t key_cnt; /* 0: the thread is the key */
	uint32_t is_key_string;
	uint32_t tag_cnt;
	uint32_t parent; /* enum foreign_parent */
	uint32_t parent_span_idx;
	uint32_t parent_key_cnt;
	/*
	 * a begin within the span has to be ended, too, before the span is over; else it ends what was open
	 */
	uint32_t counts_again;
	/* enum block_reason + 1: what polls in the span wait for; 0: whatever ends them */
	uint32_t told_reason;
	uint32_t padding;
	uint64_t label;
	struct foreign_value keys[FOREIGN_KEY_MAX];
	struct foreign_value parent_keys[FOREIGN_KEY_MAX];
	struct foreign_value tags[FOREIGN_TAG_MAX];
	/* of a tag that is a string: its bytes; FOREIGN_NOTHING: up to its NUL */
	struct foreign_value lengths[FOREIGN_TAG_MAX];
};

_Static_assert(sizeof(struct foreign_value) == 32, "foreign_value");
_Static_assert(sizeof(struct foreign_site) == 432, "foreign_site");

#endif
