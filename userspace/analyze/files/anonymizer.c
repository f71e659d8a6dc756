/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/files/anonymizer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/capture_scope.h"
#include "analyze/files/pseudonym.h"
#include "log/format/record_table.h"

struct anonymizer {
	struct pseudonyms *pseudonyms;
	struct text texts[RECORD_STRINGS_MAX]; /* what the strings of the last record became */
};

struct anonymizer *anonymizer_new(const void *salt, size_t length)
{
	struct anonymizer *anonymizer = calloc(1, sizeof(*anonymizer));

	if (!anonymizer)
		return NULL;
	anonymizer->pseudonyms = pseudonyms_new(salt, length);
	if (anonymizer->pseudonyms)
		return anonymizer;
	free(anonymizer);
	return NULL;
}

void anonymizer_free(struct anonymizer *anonymizer)
{
	if (!anonymizer)
		return;
	for (size_t i = 0; i < RECORD_STRINGS_MAX; i++)
		text_release(&anonymizer->texts[i]);
	pseudonyms_free(anonymizer->pseudonyms);
	free(anonymizer);
}

int anonymizer_apply(struct anonymizer *anonymizer, struct txtrace_record *record)
{
	struct record_string strings[RECORD_STRINGS_MAX];
	int cnt = record_strings(record, strings), err = 0;

	if (cnt < 0)
		return -EINVAL;
	for (int i = 0; i < cnt; i++) {
		struct txtrace_string *string = strings[i].string;
		struct text *text = &anonymizer->texts[i];

		if (strings[i].is_public)
			continue;
		text_clear(text);
		if (strings[i].is_tag)
			pseudonym_append_tag(anonymizer->pseudonyms, text, string->bytes, string->length);
		else
			pseudonym_append(anonymizer->pseudonyms, text, string->bytes, string->length);
		*string = (struct txtrace_string){ text_string(text), text->length };
		err = err ? err : text->err;
	}
	return err;
}

static int replace_chars(struct anonymizer *anonymizer, char *chars, size_t size)
{
	struct text *text = &anonymizer->texts[0];

	text_clear(text);
	pseudonym_append(anonymizer->pseudonyms, text, chars, strlen(chars));
	memset(chars, 0, size);
	if (text->length > 0)
		memcpy(chars, text_string(text), text->length);
	return text->err;
}

/*
 * What the capture was told to leave out is left: without it, what is missing would look like a zero. The
 * words for it are ours and not the user's.
 */
static int replace_options(struct anonymizer *anonymizer, struct txtrace_log_info *info)
{
	struct capture_scope scope;
	struct text text = { 0 };
	int err;

	capture_scope_read(&scope, info);
	err = replace_chars(anonymizer, info->options, sizeof(info->options));
	text_append(&text, info->options);
	capture_scope_append(&scope, info->options, &text);
	err = err ? err : text.err;
	snprintf(info->options, sizeof(info->options), "%s", text_string(&text));
	text_release(&text);
	return err;
}

int anonymizer_apply_info(struct anonymizer *anonymizer, struct txtrace_log_info *info)
{
	size_t version = strspn(info->kernel, "0123456789.");
	int err;

	memset(info->kernel + version, 0, sizeof(info->kernel) - version);
	pseudonym_of_id(anonymizer->pseudonyms, info->capture_id);
	pseudonym_of_id(anonymizer->pseudonyms, info->boot_id);
	err = replace_chars(anonymizer, info->host, sizeof(info->host));
	err = err ? err : replace_chars(anonymizer, info->command, sizeof(info->command));
	return err ? err : replace_options(anonymizer, info);
}
