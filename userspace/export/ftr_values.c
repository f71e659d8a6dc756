/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/track_names.h"
#include "export/ftr_export.h"

#include "base/array.h"

static int add_value(struct ftr *ftr, const struct ftr_value *value)
{
	struct ftr_value *values = array_grow(ftr->values, &ftr->value_size, ftr->value_cnt, sizeof(*values));

	if (!values)
		return -ENOMEM;
	ftr->values = values;
	ftr->values[ftr->value_cnt++] = *value;
	return 0;
}

/* What we say ourselves. */
int ftr_add_number(struct ftr *ftr, enum ftr_class class, enum ftr_type type, const char *name,
		   uint64_t number)
{
	struct ftr_value value = { .class = class, .type = type, .value = number, .name = ftr_text_of(name) };

	return add_value(ftr, &value);
}

int ftr_add_text(struct ftr *ftr, enum ftr_class class, const char *name, struct txtrace_string text)
{
	struct ftr_value value = {
		.class = class, .type = FTR_STRING, .name = ftr_text_of(name), .string = text
	};

	return add_value(ftr, &value);
}

static const struct {
	const char *name;
	struct ftr_declared declared;
} own_values[] = {
	{ "tag", { FTR_BEGIN, FTR_STRING } },		{ "key", { FTR_BEGIN, FTR_STRING } },
	{ "name", { FTR_BEGIN, FTR_STRING } },		{ "value", { FTR_BEGIN, FTR_INTEGER } },
	{ "cpu_ns", { FTR_END, FTR_UNSIGNED } },	{ "runnable_ns", { FTR_END, FTR_UNSIGNED } },
	{ "detached_ns", { FTR_END, FTR_UNSIGNED } },	{ "unknown_ns", { FTR_END, FTR_UNSIGNED } },
	{ "interrupt_ns", { FTR_END, FTR_UNSIGNED } },	{ "stolen_ns", { FTR_END, FTR_UNSIGNED } },
	{ "stolen_max_ns", { FTR_END, FTR_UNSIGNED } }, { "lower_bound", { FTR_END, FTR_BOOLEAN } },
	{ "unfinished", { FTR_END, FTR_BOOLEAN } },
};

static const char *const blocked_names[TXTRACE_BLOCK_REASON_COUNT] = {
	[TXTRACE_BLOCK_LOCK] = "blocked.lock_ns",
	[TXTRACE_BLOCK_DISK] = "blocked.disk_ns",
	[TXTRACE_BLOCK_NETWORK] = "blocked.network_ns",
	[TXTRACE_BLOCK_SLEEP] = "blocked.sleep_ns",
	[TXTRACE_BLOCK_PAGE_FAULT] = "blocked.page_fault_ns",
	[TXTRACE_BLOCK_PIPE] = "blocked.pipe_ns",
	[TXTRACE_BLOCK_WAIT] = "blocked.wait_ns",
	[TXTRACE_BLOCK_STOPPED] = "blocked.stopped_ns",
	[TXTRACE_BLOCK_OTHER] = "blocked.other_ns",
	[TXTRACE_BLOCK_THROTTLED] = "blocked.throttled_ns",
	[TXTRACE_BLOCK_POLL] = "blocked.poll_ns",
};

int ftr_declare_own(struct ftr *ftr)
{
	struct ftr_declared *declared;
	bool is_new;

	for (size_t i = 0; i < sizeof(own_values) / sizeof(*own_values); i++) {
		declared = key_map_add(&ftr->types, own_values[i].name, strlen(own_values[i].name), &is_new);
		if (!declared)
			return -ENOMEM;
		*declared = own_values[i].declared;
	}
	for (size_t i = 0; i < TXTRACE_BLOCK_REASON_COUNT; i++) {
		declared = key_map_add(&ftr->types, blocked_names[i], strlen(blocked_names[i]), &is_new);
		if (!declared)
			return -ENOMEM;
		*declared = (struct ftr_declared){ FTR_END, FTR_UNSIGNED };
	}
	return 0;
}

static enum ftr_type type_of(unsigned int type)
{
	switch (type) {
	case TXTRACE_ATTRIBUTE_BOOL:
		return FTR_BOOLEAN;
	case TXTRACE_ATTRIBUTE_INT:
		return FTR_INTEGER;
	case TXTRACE_ATTRIBUTE_UINT:
		return FTR_UNSIGNED;
	case TXTRACE_ATTRIBUTE_DOUBLE:
		return FTR_FLOATING_POINT_NUMBER;
	case TXTRACE_ATTRIBUTE_POINTER:
		return FTR_POINTER;
	default:
		return FTR_STRING;
	}
}

/* Whether a value of the log can be of this type of the format. */
static bool fits(unsigned int type, enum ftr_type as)
{
	switch (as) {
	case FTR_ENUMERATION:
	case FTR_BIT_VECTOR:
	case FTR_LOGIC_VECTOR:
		return type == TXTRACE_ATTRIBUTE_STRING;
	case FTR_FIXED_POINT_INTEGER:
	case FTR_UNSIGNED_FIXED_POINT_INTEGER:
		return type == TXTRACE_ATTRIBUTE_DOUBLE;
	case FTR_TIME:
		return type == TXTRACE_ATTRIBUTE_UINT || type == TXTRACE_ATTRIBUTE_DOUBLE;
	default:
		return type_of(type) == as;
	}
}

/* ns, back to the units of the import. */
static uint64_t time_value(struct ftr *ftr, const struct txtrace_attribute *attribute)
{
	double scale = pow(10, (double)(-9 - ftr->exponent)), real;
	uint64_t value, unit = 1;

	if (attribute->type == TXTRACE_ATTRIBUTE_DOUBLE) {
		memcpy(&real, &attribute->value, sizeof(real));
		real = round(real * scale);
		return real >= 0 && real < 18446744073709549568.0 ? (uint64_t)real : UINT64_MAX;
	}
	for (int64_t i = ftr->exponent; i < -9; i++)
		unit = unit > UINT64_MAX / 10 ? UINT64_MAX : unit * 10;
	if (unit > 1)
		return __builtin_mul_overflow(attribute->value, unit, &value) ? UINT64_MAX : value;
	for (int64_t i = -9; i < ftr->exponent; i++)
		unit = unit > UINT64_MAX / 10 ? UINT64_MAX : unit * 10;
	ftr->lost_cnt[FTR_LOST_TIME] += attribute->value % unit != 0;
	return attribute->value / unit;
}

/* Of a native log: one class and one type for each name, as viewers have it. */
static int rename_value(struct ftr *ftr, struct ftr_value *value)
{
	static const char *const type_names[FTR_TYPE_CNT] = {
		[FTR_BOOLEAN] = "bool",	   [FTR_INTEGER] = "int",
		[FTR_UNSIGNED] = "uint",   [FTR_FLOATING_POINT_NUMBER] = "double",
		[FTR_POINTER] = "pointer", [FTR_STRING] = "string",
	};
	struct ftr_declared *declared;
	bool is_new = false;
	struct text name = { 0 };
	uint32_t number;
	int err;

	declared = key_map_add(&ftr->types, value->name.bytes, value->name.length, &is_new);
	if (!declared)
		return -ENOMEM;
	if (is_new)
		*declared = (struct ftr_declared){ value->class, value->type };
	if (declared->class == value->class && declared->type == value->type)
		return 0;
	ftr->lost_cnt[FTR_LOST_CLASS]++;
	text_append_bytes(&name, value->name.bytes, value->name.length);
	text_append_format(&name, ".%s", type_names[value->type]);
	err = name.err ? name.err : string_pool_add(ftr->names, name.bytes, name.length, &number);
	text_release(&name);
	if (!err)
		value->name.bytes = string_pool_get(ftr->names, number, &value->name.length);
	return err;
}

/* The class and the type that hold when it comes stand in what is held of it, where its thread was. */
uint32_t ftr_held_as(struct ftr *ftr, const struct txtrace_attribute *attribute)
{
	const struct ftr_declared *declared = NULL;

	if (ftr->is_ftr)
		declared = key_map_find(&ftr->types, attribute->name.bytes, attribute->name.length);
	if (declared && fits(attribute->type, declared->type))
		return declared->class * FTR_TYPE_CNT + declared->type;
	return FTR_DURING * FTR_TYPE_CNT + type_of(attribute->type);
}

static int add_attribute(struct ftr *ftr, const struct txtrace_attribute *attribute)
{
	struct ftr_value value = { .class = (uint8_t)(attribute->tid / FTR_TYPE_CNT),
				   .type = (uint8_t)(attribute->tid % FTR_TYPE_CNT),
				   .value = attribute->value,
				   .name = attribute->name,
				   .string = attribute->string };
	int err = 0;

	if (value.type == FTR_TIME)
		value.value = time_value(ftr, attribute);
	if (!ftr->is_ftr)
		err = rename_value(ftr, &value);
	return err ? err : add_value(ftr, &value);
}

int ftr_add_attributes(struct ftr *ftr, const struct span_mark *mark, struct ftr_row *row)
{
	const struct marked_attribute *marked = mark ? mark->attributes : NULL;
	int err = 0;

	for (; !err && marked; marked = marked->next) {
		const struct txtrace_attribute *attribute = &marked->attribute;

		if (attribute->type == FTR_EVENT || track_is_given(attribute))
			continue;
		if (ftr->is_ftr && ftr_is_text(attribute->name, FTR_PS) &&
		    attribute->value / FTR_PS_PER_NS < FTR_PS_PER_NS) {
			row->begin_ps += attribute->value / FTR_PS_PER_NS;
			row->end_ps += attribute->value % FTR_PS_PER_NS;
			continue;
		}
		err = add_attribute(ftr, attribute);
	}
	return err;
}

int ftr_add_key(struct ftr *ftr, struct txtrace_string key)
{
	text_clear(&ftr->key);
	for (size_t i = 0; i < key.length; i++)
		text_append_format(&ftr->key, "%02x", (unsigned char)key.bytes[i]);
	return ftr->key.err ? ftr->key.err
			    : ftr_add_text(ftr, FTR_BEGIN, "key",
					   (struct txtrace_string){ ftr->key.bytes, ftr->key.length });
}

/* Nothing if all of the time is unknown: then nobody has measured it. */
int ftr_add_ledger(struct ftr *ftr, const struct txtrace_span *span)
{
	const struct txtrace_ledger *ledger = &span->ledger;
	int err;

	if (ledger->unknown_ns == txtrace_ledger_sum_ns(ledger))
		return 0;
	err = ftr_add_number(ftr, FTR_END, FTR_UNSIGNED, "cpu_ns", ledger->on_cpu_ns);
	if (!err && ledger->runnable_ns > 0)
		err = ftr_add_number(ftr, FTR_END, FTR_UNSIGNED, "runnable_ns", ledger->runnable_ns);
	for (unsigned int i = 0; !err && i < TXTRACE_BLOCK_REASON_COUNT; i++) {
		if (ledger->blocked_ns[i] > 0)
			err = ftr_add_number(ftr, FTR_END, FTR_UNSIGNED, blocked_names[i],
					     ledger->blocked_ns[i]);
	}
	if (!err && ledger->detached_ns > 0)
		err = ftr_add_number(ftr, FTR_END, FTR_UNSIGNED, "detached_ns", ledger->detached_ns);
	if (!err && ledger->unknown_ns > 0)
		err = ftr_add_number(ftr, FTR_END, FTR_UNSIGNED, "unknown_ns", ledger->unknown_ns);
	if (!err && ledger->interrupt_ns > 0)
		err = ftr_add_number(ftr, FTR_END, FTR_UNSIGNED, "interrupt_ns", ledger->interrupt_ns);
	if (!err && ledger->stolen_ns > 0)
		err = ftr_add_number(ftr, FTR_END, FTR_UNSIGNED, "stolen_ns", ledger->stolen_ns);
	if (!err && span->stolen_max_ns > 0)
		err = ftr_add_number(ftr, FTR_END, FTR_UNSIGNED, "stolen_max_ns", span->stolen_max_ns);
	return err;
}

int ftr_add_flags(struct ftr *ftr, const struct txtrace_span *span)
{
	int err = 0;

	if (span->flags & TXTRACE_SPAN_LOWER_BOUND)
		err = ftr_add_number(ftr, FTR_END, FTR_BOOLEAN, "lower_bound", 1);
	if (!err && span->flags & TXTRACE_SPAN_UNFINISHED)
		err = ftr_add_number(ftr, FTR_END, FTR_BOOLEAN, "unfinished", 1);
	return err;
}
