/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/messages/messages.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"

static const char *const levels[] = {
	[MESSAGE_INFO] = "info",
	[MESSAGE_WARNING] = "warning",
	[MESSAGE_ERROR] = "error",
};

/* RFC 3339, in UTC. */
static void append_time(struct json *json)
{
	struct timespec now;
	char text[64];
	struct tm utc;
	size_t length;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	length = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text + length, sizeof(text) - length, ".%06ldZ", now.tv_nsec / 1000);
	json_member_text(json, "time", text);
}

static void say_json(FILE *file, enum message_level level, const char *event,
		     const struct message_field *fields, size_t field_cnt, const char *sentence)
{
	struct json json;

	json_init_memory(&json);
	json_object_begin(&json);
	append_time(&json);
	json_member_text(&json, "level", levels[level]);
	json_member_text(&json, "event", event);
	json_member_text(&json, "message", sentence);
	for (size_t i = 0; i < field_cnt; i++) {
		if (fields[i].text)
			json_member_text(&json, fields[i].name, fields[i].text);
		else
			json_member_u64(&json, fields[i].name, fields[i].number);
	}
	json_object_end(&json);
	json_newline(&json);
	/* in one piece: others may write to the same terminal or pipe */
	fwrite(json.bytes, 1, json.length, file);
	fflush(file);
	json_release(&json);
}

static void say(const struct messages *messages, enum message_level level, const char *event,
		const struct message_field *fields, size_t field_cnt, const char *format, va_list arguments)
{
	char *sentence;

	if (level == MESSAGE_INFO && messages->is_quiet)
		return;
	if (vasprintf(&sentence, format, arguments) < 0)
		return;
	if (messages->format == MESSAGES_JSON)
		say_json(messages->file, level, event, fields, field_cnt, sentence);
	else
		fprintf(messages->file, "txtrace-bpf: %s\n", sentence);
	free(sentence);
}

void messages_say(const struct messages *messages, enum message_level level, const char *event,
		  const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(messages, level, event, NULL, 0, format, arguments);
	va_end(arguments);
}

void messages_tell(const struct messages *messages, enum message_level level, const char *event,
		   const struct message_field *fields, size_t field_cnt, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(messages, level, event, fields, field_cnt, format, arguments);
	va_end(arguments);
}
