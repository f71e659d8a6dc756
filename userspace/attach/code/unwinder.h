/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads program headers and .eh_frame of traced programs' files, which may be
 * anything, in a process of its own without privilege: that process parses, and
 * we believe of an answer no more than that it is well formed. Each question is
 * waited for, as a stack is needed while its thread sleeps; answers are kept by
 * whoever asks. A process that crashes, takes too long or talks nonsense is
 * ended, and from then on nothing is known.
 *
 *	unwinder_new(&unwinder, &settle);              before anything is opened that nobody else may hold
 *	unwinder_open(unwinder, number, fd, &image);   each file once
 *	unwinder_row(unwinder, number, address, &row);
 *	unwinder_free(unwinder);
 */
#ifndef UNWINDER_H
#define UNWINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/code/unwind_table.h"
#include "attach/process/outside_process.h"

#define CODE_SEGMENT_MAX 64 /* further ones are not looked at */

struct code_segment {
	uint64_t address; /* as the file has it */
	uint64_t offset;  /* in the file */
	uint64_t size;    /* in the file */
};

struct code_segments {
	struct code_segment segments[CODE_SEGMENT_MAX];
	uint64_t cnt; /* 0: no ELF file of ours */
};

struct unwinder;

/* Negative errno: of socketpair, pipe, fork. */
int unwinder_new(struct unwinder **unwinder, const struct outside_settle *settle);
void unwinder_free(struct unwinder *unwinder); /* NULL is allowed; ends the process */

/* number: means this file from now on. False: the process has ended. */
bool unwinder_open(struct unwinder *unwinder, uint32_t number, int fd, struct code_segments *segments);

/* As unwind_table_find(); false also if the process has ended. */
bool unwinder_row(struct unwinder *unwinder, uint32_t number, uint64_t address, struct unwind_row *row);

/* The process ended before it was asked to: stacks end early. */
bool unwinder_has_failed(const struct unwinder *unwinder);

/* ---- between the two processes ---- */

struct unwinder_request {
	uint64_t address;
	uint32_t file;
	uint32_t has_fd; /* it comes along: a new file */
};

/* What follows is one of the other two. */
struct unwinder_row_reply {
	struct unwind_row row;
	uint32_t is_known;
};

/* The other process: answers until the socket is closed. context: its outside_settle. */
void unwinder_serve(void *context);

#endif
