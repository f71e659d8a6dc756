/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/neighbours_json.h"

static void member_name(struct json *json, const char *name, const struct txtrace_string *string,
			bool is_there)
{
	if (is_there)
		json_member_string(json, name, string->bytes, string->length);
	else
		json_member_null(json, name);
}

static void neighbour_json(struct json *json, const struct neighbour *cell)
{
	static const char *const kinds[] = {
		[NEIGHBOUR_TASK] = "task",
		[NEIGHBOUR_IDLE] = "idle",
		[NEIGHBOUR_OTHERS] = "others",
		[NEIGHBOUR_HYPERVISOR] = "hypervisor",
	};

	json_object_begin(json);
	json_member_text(json, "kind", kinds[cell->kind]);
	if (cell->kind == NEIGHBOUR_TASK) {
		json_member_u64(json, "pid", cell->pid);
		json_member_u64(json, "tid", cell->tid);
		member_name(json, "name", &cell->name, cell->name.length > 0);
		member_name(json, "label", &cell->label, cell->is_in_span);
	}
	json_member_u64(json, "ns", cell->ns);
	json_member_u64(json, "pieces", cell->cnt);
	json_object_end(json);
}

void neighbours_row_json(struct json *json, const struct neighbours_row *row, unsigned int by)
{
	json_object_begin(json);
	json_member_bool(json, "others", row->is_rest);
	if (by == NEIGHBOURS_BY_LABEL) {
		member_name(json, "label", &row->label, !row->is_rest);
	} else {
		json_member_u64(json, "pid", row->pid);
		json_member_u64(json, "tid", row->tid);
		member_name(json, "name", &row->name, row->name.length > 0);
	}
	json_member_u64(json, by == NEIGHBOURS_BY_LABEL ? "spans" : "waits", row->cnt);
	json_member_u64(json, "runnable_ns", row->runnable_ns);
	json_member_u64(json, "unknown_ns", row->unknown_ns);
	json_name(json, "neighbours");
	json_array_begin(json);
	for (size_t i = 0; i < row->cell_cnt; i++)
		neighbour_json(json, &row->cells[i]);
	json_array_end(json);
	json_object_end(json);
}
