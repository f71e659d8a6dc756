/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes of an export to OTLP: each is a resource, and has the spans of
 * the message that is being put together. Memory follows the processes that
 * live; one that has ended goes when its spans are written.
 */
#ifndef OTLP_PROCESSES_H
#define OTLP_PROCESSES_H

#include "base/key_map.h"
#include "base/text.h"
#include "export/otlp_attributes.h"
#include "txtrace/log.h"

struct otlp_process {
	struct otlp_process *next; /* in the order in which they came */
	uint32_t pid;
	uint32_t inner_pid; /* in its own PID namespace; 0: not known */
	bool has_ended;
	struct text service; /* service.name */
	struct text exe;
	struct text command;
	struct text container;
	struct text pod;
	struct text spans;
};

struct otlp_processes {
	struct key_map by_pid;
	struct otlp_process *first, **end;
};

void otlp_processes_init(struct otlp_processes *processes);
void otlp_processes_release(struct otlp_processes *processes);

/* 0 or -ENOMEM */
int otlp_processes_add(struct otlp_processes *processes, const struct txtrace_process *process);
struct otlp_process *otlp_processes_get(struct otlp_processes *processes, uint32_t pid); /* NULL: no memory */
void otlp_processes_clear_spans(struct otlp_processes *processes); /* they are written */

/* Attributes of the resource. */
void otlp_process_list(const struct otlp_process *process, struct otlp_list *list);

#endif
