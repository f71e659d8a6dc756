/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets of a Perfetto trace, one at a time: begun, filled, written. Names
 * that come again are sent once and then by number, as the format provides;
 * strings become valid UTF-8 without control characters (these show as U+2400 …
 * U+2421).
 *
 * Errors stick: after the first one every call does nothing; packet_write()
 * tells it.
 */
#ifndef PERFETTO_PACKET_H
#define PERFETTO_PACKET_H

#include <stdio.h>

#include "export/picture.h"
#include "perfetto.pb-c.h"

enum intern_kind {
	INTERN_CATEGORY = 0,
	INTERN_EVENT_NAME = 1,
	INTERN_ARG_NAME = 2,
	INTERN_KERNEL_SYMBOL = 3,
	INTERN_KIND_COUNT = 4,
};

struct packet_writer;

struct packet_writer *packet_writer_new(FILE *out); /* NULL: no memory */
void packet_writer_free(struct packet_writer *writer);

/*
 * A new packet; its fields may be set directly. What these return is the
 * writer's, and good until the next packet is begun.
 */
Perfetto__TracePacket *packet_begin(struct packet_writer *writer, uint64_t time_ns);

/* A new packet that describes a track. */
Perfetto__TrackDescriptor *packet_track(struct packet_writer *writer);

/* Makes the packet that was begun a track event. */
Perfetto__TrackEvent *packet_event(struct packet_writer *writer, Perfetto__TrackEvent__Type type,
				   uint64_t track);

/* A string for a field of the packet; never NULL. is_truncated: … goes behind it. */
char *packet_text(struct packet_writer *writer, struct txtrace_string string, bool is_truncated);

void packet_category(struct packet_writer *writer, const char *category);
void packet_name(struct packet_writer *writer, struct txtrace_string name);
void packet_args(struct packet_writer *writer, const struct picture_arg *args, size_t cnt);

/* The number of a kernel symbol with this name, for a field of the packet. */
uint64_t packet_kernel_symbol(struct packet_writer *writer, const char *name);

/* Writes it. 0 or the first error. */
int packet_write(struct packet_writer *writer);

#endif
