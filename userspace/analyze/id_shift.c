/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/id_shift.h"

#include <errno.h>

#include "log/format/record_table.h"

/* False: the number is none of Linux'. */
static bool move_number(uint32_t *number, uint32_t range, uint32_t range_size)
{
	if (*number >= range_size)
		return false;
	*number += range * range_size;
	return true;
}

static bool move_field(const struct id_shift *by, const struct record_field *field,
		       struct txtrace_record *record)
{
	void *at = (char *)record + field->offset;

	switch ((enum record_type)field->type) {
	case RECORD_TIME:
		*(uint64_t *)at += by->time_ns;
		return true;
	case RECORD_PID:
	case RECORD_TID:
		return by->is_alone || move_number(at, by->pid_range, ID_SHIFT_PIDS);
	case RECORD_CPU:
		return by->is_alone || *(uint32_t *)at == TXTRACE_CPU_UNKNOWN ||
		       move_number(at, by->cpu_range, ID_SHIFT_CPUS);
	default:
		return true;
	}
}

int id_shift_apply(const struct id_shift *shift, struct txtrace_record *record)
{
	const struct record_kind *kind = record_kind_of(record);
	int err = 0;

	for (unsigned int i = 0; i < kind->field_cnt; i++) {
		const struct record_field *field = &kind->fields[i];

		/* 0 stands for what there is not. */
		if (field->rules & (RECORD_NULL_0 | RECORD_NOBODY_0) && record_number(field, record) == 0)
			continue;
		if (!move_field(shift, field, record))
			err = -ERANGE;
	}
	return err;
}
