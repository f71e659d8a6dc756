/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the recorder says of itself, on stderr: a sentence for people, or an
 * object a line for machines.
 *
 *	messages_tell(messages, MESSAGE_WARNING, "loss", fields, 1, "%s events were lost", count);
 *
 *	txtrace-bpf: 12 events were lost
 *	{"time":"2026-11-21T18:00:00.123456Z","level":"warning","event":"loss","message":"12 events were
 *	lost","lost":12}
 *
 * The events, and which fields each has, are in docs/service.md.
 */
#ifndef MESSAGES_H
#define MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum message_format {
	MESSAGES_TEXT = 0,
	MESSAGES_JSON = 1,
};

enum message_level {
	MESSAGE_INFO = 0,
	MESSAGE_WARNING = 1,
	MESSAGE_ERROR = 2,
};

struct message_field {
	const char *name;
	const char *text; /* any bytes; NULL: the number counts */
	uint64_t number;
};

struct messages {
	FILE *file;
	enum message_format format;
	bool is_quiet; /* MESSAGE_INFO is not said */
};

/*
 * The sentence is fit for a terminal: what came from outside is escaped in it.
 * What cannot be written is not said.
 */
__attribute__((format(printf, 4, 5))) void messages_say(const struct messages *messages,
							enum message_level level, const char *event,
							const char *format, ...);

/* With fields, for machines only. */
__attribute__((format(printf, 6, 7))) void messages_tell(const struct messages *messages,
							 enum message_level level, const char *event,
							 const struct message_field *fields, size_t field_cnt,
							 const char *format, ...);

#endif
