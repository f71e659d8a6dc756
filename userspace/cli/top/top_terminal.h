/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The terminal of `txtrace top`: whole pages of text, and keys. By ncurses, so
 * any terminal will do. Where the locale has no UTF-8, letters stand for what
 * bars are made of.
 */
#ifndef TOP_TERMINAL_H
#define TOP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

struct top_terminal;

enum top_key {
	TOP_KEY_NONE = 0, /* none came in time */
	TOP_KEY_RESIZE = 256,
	TOP_KEY_UP,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_ENTER,
	TOP_KEY_ESCAPE,
	TOP_KEY_BACKSPACE,
	TOP_KEY_GONE, /* there is no terminal any more */
};

/* NULL: this is no terminal that ncurses knows (TERM), or there is no memory. Takes it until the close. */
struct top_terminal *top_terminal_open(void);
void top_terminal_close(struct top_terminal *terminal); /* NULL is allowed */

size_t top_terminal_columns(const struct top_terminal *terminal);
size_t top_terminal_lines(const struct top_terminal *terminal);
bool top_terminal_has_colours(const struct top_terminal *terminal);

/*
 * Shows the lines of the text from number `first` on; what is too wide or too
 * long is cut off. The text is fit for a terminal; of escape sequences, those
 * that set colours are understood. The last line of the screen is the status.
 */
void top_terminal_show(struct top_terminal *terminal, const char *text, size_t first, const char *status);

/* A character, or one of enum top_key; waits for so many ms. */
int top_terminal_key(struct top_terminal *terminal, int wait_ms);

#endif
