/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/anonymizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/pseudonym.h"

#define RECORD_STRINGS_MAX 3

struct anonymizer {
	struct pseudonyms *pseudonyms;
	struct text texts[RECORD_STRINGS_MAX]; /* what the strings of the last record became */
	size_t text_cnt;
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

typedef void (*append_fn)(struct pseudonyms *pseudonyms, struct text *text, const char *bytes, size_t length);

static void replace_by(struct anonymizer *anonymizer, struct txtrace_string *string, append_fn append)
{
	struct text *text = &anonymizer->texts[anonymizer->text_cnt++];

	text_clear(text);
	append(anonymizer->pseudonyms, text, string->bytes, string->length);
	*string = (struct txtrace_string){ text_string(text), text->length };
}

static void replace(struct anonymizer *anonymizer, struct txtrace_string *string)
{
	replace_by(anonymizer, string, pseudonym_append);
}

/* False: a kind that is not known here, and may have strings. */
static bool replace_all(struct anonymizer *anonymizer, struct txtrace_record *record)
{
	switch (record->kind) {
	case TXTRACE_RECORD_SPAN:
		replace(anonymizer, &record->span.label);
		replace_by(anonymizer, &record->span.tag, pseudonym_append_tag);
		replace(anonymizer, &record->span.key);
		break;
	case TXTRACE_RECORD_WAKE:
		replace(anonymizer, &record->wake.waker_comm);
		break;
	case TXTRACE_RECORD_THREAD:
		replace(anonymizer, &record->thread.comm);
		break;
	case TXTRACE_RECORD_ATTRIBUTE:
		replace(anonymizer, &record->attribute.name);
		replace(anonymizer, &record->attribute.string);
		break;
	case TXTRACE_RECORD_INSTANT:
		replace(anonymizer, &record->instant.name);
		break;
	case TXTRACE_RECORD_COUNTER:
		replace(anonymizer, &record->counter.name);
		break;
	case TXTRACE_RECORD_LINK:
		replace(anonymizer, &record->link.name);
		break;
	case TXTRACE_RECORD_OPEN_SPAN:
		replace(anonymizer, &record->open_span.label);
		replace(anonymizer, &record->open_span.key);
		break;
	case TXTRACE_RECORD_RUN: /* these have none */
	case TXTRACE_RECORD_LOSS:
	case TXTRACE_RECORD_SUMMARY:
		break;
	default:
		return false;
	}
	return true;
}

int anonymizer_apply(struct anonymizer *anonymizer, struct txtrace_record *record)
{
	int err = 0;

	anonymizer->text_cnt = 0;
	if (!replace_all(anonymizer, record))
		return -EINVAL;
	for (size_t i = 0; i < anonymizer->text_cnt; i++)
		err = err ? err : anonymizer->texts[i].err;
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

int anonymizer_apply_info(struct anonymizer *anonymizer, struct txtrace_log_info *info)
{
	size_t version = strspn(info->kernel, "0123456789.");
	int err;

	memset(info->kernel + version, 0, sizeof(info->kernel) - version);
	pseudonym_of_id(anonymizer->pseudonyms, info->capture_id);
	pseudonym_of_id(anonymizer->pseudonyms, info->boot_id);
	err = replace_chars(anonymizer, info->host, sizeof(info->host));
	err = err ? err : replace_chars(anonymizer, info->command, sizeof(info->command));
	return err ? err : replace_chars(anonymizer, info->options, sizeof(info->options));
}
