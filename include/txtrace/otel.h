/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The contexts that OpenTelemetry's tracers publish for each thread (OTEP
 * 4947): what the recorder tells bpf/otel.bpf.c, and what that sends. Like
 * txtrace/event.h it lives between the two sides of one build only.
 *
 * A thread that has the same context at one look after the other, at the ends
 * of its stays on a CPU, is in a span with the label OTEL_LABEL and these
 * attributes:
 *
 *	traceparent      of the context, as W3C writes it
 *	otel.before_ns   CPU time before its begin, since the thread was last
 *	                 seen in another context: how much of it is the
 *	                 context's is not known
 *	otel.after_ns    CPU time before its end, since it was last seen in this
 *	                 one; likewise, and it is part of the span's
 */
#ifndef TXTRACE_OTEL_H
#define TXTRACE_OTEL_H

#ifndef __VMLINUX_H__
#include <stdint.h>
#endif

#define OTEL_PLACE_MAX 4 /* modules of one process that have the variable */
#define OTEL_PROCESS_MAX 4096
#define OTEL_THREAD_MAX 65536 /* that are or were in a context */

/* Where the variable of a module is, for each thread. */
struct otel_place {
	int64_t offset;	     /* from the thread pointer; or in the module's block */
	uint64_t module;     /* its number; 0: the block is not looked up */
	int32_t list;	     /* from the thread pointer: where the address of the list of blocks is */
	uint8_t entry_bytes; /* of that list */
	uint8_t has_count;   /* 16 bytes before the list is how many entries it has */
	uint8_t is_nodejs;   /* it is a struct otel_nodejs, else the address of the record */
	uint8_t padding;
};

/*
 * One thread of Node.js has many contexts by turns: from here it is found which
 * one it is in. Of the schema nodejs_v1_dev, as dd-trace publishes it.
 */
struct otel_nodejs {
	uint64_t frame; /* where the address of V8's present AsyncContextFrame is, a map; 0: nowhere */
	uint64_t key;	/* where the address is that is the key in that map */
	int32_t hash;	/* of the key */
	uint8_t record; /* where in the value of the key the address of the record is */
	uint8_t padding[3];
	uint64_t undefined; /* the address that stands for none */
};

struct otel_process {
	struct otel_place places[OTEL_PLACE_MAX];
	uint64_t place_cnt;
};

/* What they are called, as addresses: see FOREIGN_LABEL_BASE. */
#define OTEL_LABEL 0xfffff10000000000ull
#define OTEL_NAME_TRACEPARENT 0xfffff10000000001ull
#define OTEL_NAME_BEFORE 0xfffff10000000002ull
#define OTEL_NAME_AFTER 0xfffff10000000003ull

_Static_assert(sizeof(struct otel_place) == 24, "otel_place");
_Static_assert(sizeof(struct otel_nodejs) == 32, "otel_nodejs");

#endif
