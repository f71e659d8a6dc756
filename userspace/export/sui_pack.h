/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A batch of Sui's transaction trace, from its events to its bytes (BCS).
 *
 *	struct sui_pack *pack = sui_pack_new(begin_ns);
 *
 *	err = sui_pack_add(pack, &event);
 *	err = sui_pack_write(pack, out, &cut_cnt);
 *	sui_pack_free(pack);
 */
#ifndef SUI_PACK_H
#define SUI_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "log/format/sui_marks.h"

struct sui_pack_event {
	uint64_t time_ns; /* since the epoch */
	uint8_t type;	  /* as in the file */
	uint8_t digest[SUI_DIGEST_BYTES];
};

struct sui_pack {
	uint64_t begin_ns; /* the absolute time */
	/* the records as words, as in sui_marks.h; NULL: those that Sui's writer makes of the events */
	char *words;
	struct sui_pack_event *events; /* in the order of time */
	size_t cnt, size;

	/* the caller's: of a batch of an import */
	uint64_t number;
	uint64_t event_cnt; /* that it shall get; and has got, of which some may have been left out */
	uint64_t seen_cnt;
};

struct sui_pack *sui_pack_new(uint64_t begin_ns); /* NULL: no memory */
void sui_pack_free(struct sui_pack *pack);	  /* NULL is allowed */

int sui_pack_add(struct sui_pack *pack, const struct sui_pack_event *event); /* 0 or -ENOMEM */

/*
 * Writes the length and the payload. Words that do not fit the events are not
 * followed. *cut_cnt grows by the times that are no whole µs and had to be: each
 * is early by less than 1 µs. 0 or a negative errno.
 */
int sui_pack_write(const struct sui_pack *pack, FILE *out, uint64_t *cut_cnt);

#endif
