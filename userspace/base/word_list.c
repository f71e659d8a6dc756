/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/word_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char shell_bytes[] = "$`;|&<>()*?[#~{!\n";
static const char quoted_shell_bytes[] = "$`"; /* in "…" */
static const char escapable[] = "\"\\$`";      /* by a backslash in "…" */

struct splitter {
	const char *next;
	char *to;
	struct error *error;
};

static int refuse(struct splitter *splitter, char byte)
{
	if (byte == '\n')
		error_set(splitter->error, "has several lines; quote the line's end, or say sh -c '…'");
	else
		error_set(splitter->error,
			  "has a '%c' in it, which a shell would know what to do with; quote it, or say sh "
			  "-c '…'",
			  byte);
	return -EINVAL;
}

static int take_quoted(struct splitter *splitter)
{
	char quote = *splitter->next++;

	for (; *splitter->next && *splitter->next != quote; splitter->next++) {
		if (quote == '"' && strchr(quoted_shell_bytes, *splitter->next))
			return refuse(splitter, *splitter->next);
		if (quote == '"' && *splitter->next == '\\' && splitter->next[1] &&
		    strchr(escapable, splitter->next[1]))
			splitter->next++;
		*splitter->to++ = *splitter->next;
	}
	if (!*splitter->next) {
		error_set(splitter->error, "has a %c that is not closed", quote);
		return -EINVAL;
	}
	splitter->next++;
	return 0;
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

/* NAME=… before the command would be a variable. */
static bool is_assignment(const char *word, size_t length)
{
	const char *equal = memchr(word, '=', length);

	return equal && equal > word &&
	       strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") >=
		       (size_t)(equal - word);
}

static int take_word(struct splitter *splitter)
{
	int err = 0;

	while (!err && *splitter->next && !is_blank(*splitter->next)) {
		char byte = *splitter->next;

		if (byte == '\'' || byte == '"') {
			err = take_quoted(splitter);
		} else if (byte == '\\' && !splitter->next[1]) {
			error_set(splitter->error, "ends with a backslash");
			err = -EINVAL;
		} else if (byte == '\\') {
			*splitter->to++ = splitter->next[1];
			splitter->next += 2;
		} else if (strchr(shell_bytes, byte)) {
			err = refuse(splitter, byte);
		} else {
			*splitter->to++ = byte;
			splitter->next++;
		}
	}
	*splitter->to++ = '\0';
	return err;
}

static int split(struct word_list *words, struct splitter *splitter)
{
	int err = 0;

	for (;;) {
		const char *begin;

		splitter->next += strspn(splitter->next, " \t");
		if (!*splitter->next || err)
			break;
		begin = splitter->next;
		words->argv[words->cnt++] = splitter->to;
		err = take_word(splitter);
		if (!err && words->cnt == 1 && is_assignment(begin, (size_t)(splitter->next - begin))) {
			error_set(splitter->error,
				  "begins with a variable of a shell; say env NAME=… COMMAND");
			err = -EINVAL;
		}
	}
	if (!err && (words->cnt == 0 || !words->argv[0][0])) {
		error_set(splitter->error, "has no command in it");
		err = -EINVAL;
	}
	return err;
}

int word_list_split(struct word_list *words, const char *text, struct error *error)
{
	size_t length = strlen(text);
	struct splitter splitter;
	int err;

	/* A word takes a byte and the blank behind it at least. */
	*words = (struct word_list){ .argv = calloc(length / 2 + 2, sizeof(char *)),
				     .bytes = malloc(length + 2) };
	if (!words->argv || !words->bytes) {
		word_list_release(words);
		error_set(error, "is too long: there is not enough memory");
		return -ENOMEM;
	}
	splitter = (struct splitter){ text, words->bytes, error };
	err = split(words, &splitter);
	if (err)
		word_list_release(words);
	return err;
}

void word_list_release(struct word_list *words)
{
	free(words->argv);
	free(words->bytes);
	*words = (struct word_list){ 0 };
}
