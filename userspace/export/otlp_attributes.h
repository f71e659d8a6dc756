/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A list of attributes that is being put together. OTLP wants each name once:
 * of attributes of a program the last one counts, and none takes a name of our
 * own. Errors stick in `err` (-ENOMEM). Strings are not copied, but for those
 * made of numbers.
 */
#ifndef OTLP_ATTRIBUTES_H
#define OTLP_ATTRIBUTES_H

#include "export/otlp_encode.h"

#define OTLP_PROGRAM_ATTRIBUTE_MAX 128

struct otlp_list {
	struct otlp_attribute *items;
	size_t cnt, size;
	size_t own_cnt;	      /* the first ones, which are no program's */
	uint32_t dropped_cnt; /* a program's that found no room */
	int err;

	/* private */
	struct text hex;
	char digits[OTLP_PROGRAM_ATTRIBUTE_MAX][24];
};

void otlp_list_release(struct otlp_list *list);
void otlp_list_clear(struct otlp_list *list); /* keeps the room and the error */
struct otlp_attributes otlp_list_get(const struct otlp_list *list);

/* Our own: `name` is a literal. A number stops at INT64_MAX; a count of 0, false, and "" are left out. */
void otlp_list_add_int(struct otlp_list *list, const char *name, uint64_t value);
void otlp_list_add_count(struct otlp_list *list, const char *name, uint64_t value);
void otlp_list_add_flag(struct otlp_list *list, const char *name, bool value);
void otlp_list_add_string(struct otlp_list *list, const char *name, struct txtrace_string value);
/* the same in hexadecimal digits; once in a list */
void otlp_list_add_hex(struct otlp_list *list, const char *name, const void *bytes, size_t length);

/* What follows are a program's. */
void otlp_list_end_own(struct otlp_list *list);
void otlp_list_add(struct otlp_list *list, const struct txtrace_attribute *attribute);

#endif
