/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/otlp_attributes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void otlp_list_release(struct otlp_list *list)
{
	free(list->items);
	text_release(&list->hex);
}

void otlp_list_clear(struct otlp_list *list)
{
	list->cnt = list->own_cnt = 0;
	list->dropped_cnt = 0;
	text_clear(&list->hex);
}

struct otlp_attributes otlp_list_get(const struct otlp_list *list)
{
	return (struct otlp_attributes){ list->items, list->cnt, list->dropped_cnt };
}

/* A new one at the end; NULL: no memory. */
static struct otlp_attribute *append(struct otlp_list *list, struct txtrace_string name, enum otlp_type type)
{
	struct otlp_attribute *item;
	struct otlp_attribute *grown = array_grow(list->items, &list->size, list->cnt, sizeof(*grown));

	if (!grown) {
		list->err = -ENOMEM;
		return NULL;
	}
	list->items = grown;
	item = &list->items[list->cnt++];
	*item = (struct otlp_attribute){ .name = name, .type = type };
	return item;
}

static struct otlp_attribute *append_own(struct otlp_list *list, const char *name, enum otlp_type type)
{
	struct otlp_attribute *item = append(list, (struct txtrace_string){ name, strlen(name) }, type);

	if (item)
		item->is_own = true;
	return item;
}

void otlp_list_add_int(struct otlp_list *list, const char *name, uint64_t value)
{
	struct otlp_attribute *item = append_own(list, name, OTLP_INT);

	if (item)
		item->value = value < INT64_MAX ? value : INT64_MAX;
}

void otlp_list_add_count(struct otlp_list *list, const char *name, uint64_t value)
{
	if (value > 0)
		otlp_list_add_int(list, name, value);
}

void otlp_list_add_flag(struct otlp_list *list, const char *name, bool value)
{
	struct otlp_attribute *item = value ? append_own(list, name, OTLP_BOOL) : NULL;

	if (item)
		item->value = 1;
}

void otlp_list_add_string(struct otlp_list *list, const char *name, struct txtrace_string value)
{
	struct otlp_attribute *item = value.length > 0 ? append_own(list, name, OTLP_STRING) : NULL;

	if (item)
		item->string = value;
}

void otlp_list_add_hex(struct otlp_list *list, const char *name, const void *bytes, size_t length)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < length; i++)
		text_append_format(&list->hex, "%02x", byte[i]);
	if (list->hex.err)
		list->err = list->hex.err;
	otlp_list_add_string(list, name,
			     (struct txtrace_string){ text_string(&list->hex), list->hex.length });
}

/* ---- a program's ---- */

void otlp_list_end_own(struct otlp_list *list)
{
	list->own_cnt = list->cnt;
}

static size_t find(const struct otlp_list *list, struct txtrace_string name)
{
	size_t i = 0;

	while (i < list->cnt && (list->items[i].name.length != name.length ||
				 memcmp(list->items[i].name.bytes, name.bytes, name.length)))
		i++;
	return i;
}

/* What no int64 holds is text. */
static void set_value(struct otlp_list *list, size_t at, const struct txtrace_attribute *attribute)
{
	struct otlp_attribute *item = &list->items[at];
	char *digits = list->digits[at - list->own_cnt];
	const char *format = NULL;

	item->value = attribute->value;
	switch (attribute->type) {
	case TXTRACE_ATTRIBUTE_BOOL:
		item->type = OTLP_BOOL;
		break;
	case TXTRACE_ATTRIBUTE_DOUBLE:
		item->type = OTLP_DOUBLE;
		break;
	case TXTRACE_ATTRIBUTE_STRING:
		item->type = OTLP_STRING;
		item->string = attribute->string;
		break;
	case TXTRACE_ATTRIBUTE_BYTES:
		item->type = OTLP_BYTES;
		item->string = attribute->string;
		break;
	case TXTRACE_ATTRIBUTE_POINTER:
		format = "0x%" PRIx64;
		break;
	case TXTRACE_ATTRIBUTE_UINT:
		format = attribute->value > INT64_MAX ? "%" PRIu64 : NULL;
		/* fallthrough */
	default:
		item->type = OTLP_INT;
		break;
	}
	if (format) {
		item->type = OTLP_STRING;
		item->string.bytes = digits;
		item->string.length = (size_t)snprintf(digits, sizeof(list->digits[0]), format,
						       attribute->value);
	}
}

void otlp_list_add(struct otlp_list *list, const struct txtrace_attribute *attribute)
{
	size_t at = find(list, attribute->name);

	if (at < list->own_cnt || attribute->name.length == 0 ||
	    (at == list->cnt && at - list->own_cnt >= OTLP_PROGRAM_ATTRIBUTE_MAX)) {
		list->dropped_cnt++;
		return;
	}
	if (at < list->cnt || append(list, attribute->name, OTLP_INT))
		set_value(list, at, attribute);
}
