/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a ledger, as they are shown: one table for columns, bars, lists and JSON. */
#ifndef LEDGER_PART_H
#define LEDGER_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "txtrace/log.h"

struct ledger_part {
	const char *title; /* of a column */
	/* in a bar, one column wide: tells the kinds of parts apart where there are no colours */
	const char *glyph;
	const char *style; /* SGR parameters */
	size_t offset;     /* of the ns in struct txtrace_ledger */
	bool is_blocked;
};

/* In the order of struct txtrace_ledger. */
enum {
	LEDGER_PART_DETACHED = 2 + TXTRACE_BLOCK_REASON_COUNT,
	LEDGER_PART_UNKNOWN,
	LEDGER_PART_INTERRUPT,
	LEDGER_PART_STOLEN,
	LEDGER_PART_COUNT,
};

extern const struct ledger_part ledger_parts[LEDGER_PART_COUNT];

uint64_t ledger_part_ns(const struct txtrace_ledger *ledger, size_t part);

/*
 * A bar of `columns` glyphs, as pieces of the next cell of a table. Each part
 * has its share, rounded so that the bar is always full.
 */
void ledger_bar(struct table *table, const struct txtrace_ledger *ledger, size_t columns);

/* What the glyphs of a bar mean, in a line; interrupts and stolen time only where there are any. */
void ledger_print_legend(FILE *file, bool has_interrupts, bool has_stolen);

/*
 * "lock 30.5 % 400 µs, on-CPU 12.0 % 160 µs": the largest first; parts of
 * nothing are left out. Shares are of sum_ns, times are divided by cnt (for a
 * mean). The text begins in column `indent` of a line; lines that would be
 * wider than `columns` are continued there.
 */
void ledger_list(struct text *text, const struct txtrace_ledger *ledger, uint64_t sum_ns, uint64_t cnt,
		 size_t indent, size_t columns);

/*
 * Members of the object that is open: "on_cpu_ns", "runnable_ns", "blocked_ns",
 * "blocked":{reason:ns}, "detached_ns", "unknown_ns"; "interrupt_ns" and
 * "stolen_ns", if there is any.
 */
void ledger_json(struct json *json, const struct txtrace_ledger *ledger);

/*
 * In percent: "on_cpu", "runnable", "blocked", "blocked_by":{reason:percent},
 * "detached", "unknown", and "interrupt" and "stolen" if there is any; null of
 * nothing.
 */
void ledger_json_percent(struct json *json, const struct txtrace_ledger *ledger);

#endif
