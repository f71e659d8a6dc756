/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What goes to a terminal: no line is wider than it, and what is longer than it
 * goes through a pager, as with git.
 *
 *	struct terminal_output *terminal = terminal_output_new(fd, columns, rows, pager);
 *	FILE *file = terminal_output_file(terminal);
 *
 *	fprintf(file, ...);
 *	status = terminal_output_close(terminal);      the rest is written, and the pager waited for
 *
 * A line that is too wide goes on in the next one, a little to the right,
 * behind a blank if there is one; sequences that set colours take no room. With
 * a pager, output is held until it is known to be longer than the screen; then
 * the pager is started.
 */
#ifndef TERMINAL_OUTPUT_H
#define TERMINAL_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

struct terminal_output;

/* pager: a shell command, copied; NULL: none. NULL: no memory. */
struct terminal_output *terminal_output_new(int fd, size_t columns, size_t rows, const char *pager);
FILE *terminal_output_file(const struct terminal_output *terminal);

/* Before the first output: lines stay as they are. What programs read must not be folded. */
void terminal_output_keep_lines(struct terminal_output *terminal);

/* Before the first output: without a pager, and each line at once. */
void terminal_output_stream(struct terminal_output *terminal);

/*
 * The pager to use: TXTRACE_PAGER, PAGER, or less if it is installed; NULL:
 * none. What is empty, or "cat", is none.
 */
const char *terminal_output_choose_pager(void);

int terminal_output_close(struct terminal_output *terminal); /* NULL is allowed. 0, or the error of a write */

#endif
