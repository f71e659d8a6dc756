/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans of programs that were never changed: from what the user asked for to
 * probes in each object that is mapped.
 *
 *	foreign_plan_new(&plan, &options, &error);                   the specifications, parsed and checked
 *	                                                             against each other
 *	foreign_plan_connect(plan, sites_map_fd, programs);
 *	foreign_plan_attach(plan, &object, &links, &error);          for each object: the attach does that
 *	foreign_plan_label(plan, address, &label);                    labels of events
 *	foreign_plan_next_warning(plan)                               what could not be done, and what will be
 *	                                                              costly
 *
 * How the return of a function is seen: by a hook on its return address
 * (uretprobe) where no exception can come by, for an exception that meets a
 * hook ends the program, and where nothing moves the stack (Go); else by probes
 * on its ways out, if its code is understood; else not at all, with a warning.
 */
#ifndef FOREIGN_PLAN_H
#define FOREIGN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/elf/elf_notes.h"
#include "attach/probes/probe_links.h"
#include "base/error.h"
#include "event/event.h"

#define FOREIGN_FUNCTION_LIMIT 500 /* the default */

enum foreign_returns {
	FOREIGN_RETURNS_AUTO = 0,
	FOREIGN_RETURNS_EXITS = 1,
	FOREIGN_RETURNS_HOOK = 2, /* the user says that no exception passes */
};

/* In the order of attaching: what ends a span before what begins one. Several have the same BPF program. */
enum foreign_program {
	FOREIGN_PROGRAM_END,
	FOREIGN_PROGRAM_END_RETURN,
	FOREIGN_PROGRAM_LEAVE,
	FOREIGN_PROGRAM_RETURN,
	FOREIGN_PROGRAM_ENTER,
	FOREIGN_PROGRAM_CALL,
	FOREIGN_PROGRAM_BEGIN,
	FOREIGN_PROGRAM_BEGIN_RETURN,
	FOREIGN_PROGRAM_CNT,
};

/* Of its BPF program for this kernel. */
const char *foreign_program_name(enum foreign_program program, const struct kernel_features *features);
bool foreign_program_is_return(enum foreign_program program);

struct process_reader;
struct foreign_plan;

struct foreign_plan_options {
	const char *const *spans; /* as in --span */
	size_t span_cnt;
	const char *const *funcs; /* as in --func */
	size_t func_cnt;
	enum foreign_returns returns;
	size_t function_limit; /* of one pattern in one file; 0: FOREIGN_FUNCTION_LIMIT */
};

/* 0; -EINVAL and a sentence; -ENOMEM. */
int foreign_plan_new(struct foreign_plan **plan, const struct foreign_plan_options *options,
		     struct error *error);
void foreign_plan_free(struct foreign_plan *plan); /* NULL is allowed */

/* The map of struct foreign_site, and the programs, FOREIGN_PROGRAM_CNT of them, as they were loaded. */
void foreign_plan_connect(struct foreign_plan *plan, int sites_fd, const struct probe_spot_program *programs);

struct elf_reader;

struct foreign_object {
	const struct kernel_features *features;
	struct elf_reader *elf_reader; /* NULL: the file is read in this process, for tests */
	const char *path; /* the name under which it is mapped */
	int fd;
	const struct elf_notes *notes; /* its USDT probes */
	pid_t pid;                     /* 0: every process */
	struct process_reader *reader; /* reads what it has mapped; NULL: we do */
	struct link_opener *opener;    /* as in struct probe_links_options */
};

/* How many probes were added to *links (which may be NULL), or a negative errno and a sentence. */
int foreign_plan_attach(struct foreign_plan *plan, const struct foreign_object *object,
			struct probe_links **links, struct error *error);

/* The text of a label that is one of the plan's; false: it is not. */
bool foreign_plan_label(const struct foreign_plan *plan, uint64_t address, struct event_text *label);

/* One sentence after the other, NULL behind the last; valid until the plan is freed. */
const char *foreign_plan_next_warning(struct foreign_plan *plan);

/*
 * The labels of the spans (or functions) that were found in the program, one by
 * one; "" where idx was not found; NULL behind the last.
 */
const char *foreign_plan_asked(const struct foreign_plan *plan, bool is_span, size_t idx);

/*
 * How many of the functions and spans that have probes so far have one that the
 * kernel single-steps. *example: the label of one of them, or NULL; the plan's.
 */
size_t foreign_plan_stepped(const struct foreign_plan *plan, const char **example);

/*
 * Warns of each begin and end of a span and each function that no object had so
 * far. Returns how many spans and functions have probes.
 */
size_t foreign_plan_judge(struct foreign_plan *plan);

#endif
