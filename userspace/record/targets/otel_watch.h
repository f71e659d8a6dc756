/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which processes publish the contexts of their threads (attach/otel), and
 * where: so that the kernel side reads them (bpf/otel.bpf.c). A process is
 * looked at when it has mapped something; when it has changed what it publishes
 * of itself; and, as that needs no mapping of code, from time to time while it
 * publishes nothing.
 *
 * A process that announces nothing is read, too, if it was named and has the
 * variable.
 */
#ifndef OTEL_WATCH_H
#define OTEL_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/elf/elf_reader.h"
#include "event/event.h"
#include "record/messages/messages.h"
#include "record/targets/target_set.h"

struct otel_watch;
struct process_reader;

struct otel_watch_options {
	struct process_reader *reader; /* these live as long as the watch */
	struct elf_reader *elf_reader;
	const struct target_set *targets;
	const struct messages *messages;
	int processes_fd; /* the map otel_processes */
	volatile uint64_t *generation; /* raised when it has changed */
};

struct otel_watch *otel_watch_new(const struct otel_watch_options *options); /* NULL: no memory */
void otel_watch_free(struct otel_watch *watch);				     /* NULL is allowed */

/* The process has mapped something. */
void otel_watch_look(struct otel_watch *watch, uint32_t pid);

/* About once a second. */
void otel_watch_tick(struct otel_watch *watch, uint64_t now_ns);

/* How many processes have published contexts at any time. */
uint64_t otel_watch_found_cnt(const struct otel_watch *watch);

/* What the labels and names of txtrace/otel.h are called. false: it is none of these. */
bool otel_watch_label(uint64_t address, struct event_text *text);

#endif
