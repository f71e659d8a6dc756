/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command written in one string, divided into its words as a shell would: at
 * blanks, but not in '…' and "…" or behind a backslash. Nothing is expanded:
 * what a shell would do more about ($, `, ;, |, &, <, >, (, ), *, ?, [, #, ~,
 * {, !, a line's end, NAME=… before a command) is refused unless it is quoted,
 * and $ and ` also in "…". No shell is run.
 *
 *	struct word_list words;
 *
 *	if (word_list_split(&words, "./server --name 'a b'", &error))
 *		complain(error.text);
 *	use(words.argv);                 "./server", "--name", "a b", NULL
 *	word_list_release(&words);
 */
#ifndef WORD_LIST_H
#define WORD_LIST_H

#include <stddef.h>

#include "base/error.h"

struct word_list {
	char **argv; /* ends with NULL; points into bytes */
	size_t cnt;
	char *bytes;
};

/*
 * -EINVAL and a phrase that says what is wrong with the text ("has no words in
 * it"); -ENOMEM likewise. Nothing is left then.
 */
int word_list_split(struct word_list *words, const char *text, struct error *error);
void word_list_release(struct word_list *words); /* all zero is allowed */

#endif
