/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/kernel_types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/string_pool.h"

struct selection {
	const struct btf *kernel;
	uint32_t *new_ids; /* by the kernel's; 0: not wanted, or void */
	uint32_t cnt;
};

static bool is_asked_by_name(const struct btf_type *type)
{
	return btf_is_composite(type) || btf_is_any_enum(type) || btf_is_typedef(type);
}

/*
 * With what is needed to know its size and where its members are. Structs within structs are no more than a
 * few levels deep.
 */
static void want(struct selection *selection, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(selection->kernel, id), *target;

	if (!id || !type || selection->new_ids[id])
		return;
	selection->new_ids[id] = UINT32_MAX; /* a place holder: copy() gives the ids */
	if (btf_is_composite(type)) {
		for (uint32_t i = 0; i < btf_vlen(type); i++)
			want(selection, btf_members(type)[i].type);
	} else if (btf_is_array(type)) {
		want(selection, btf_array(type)->type);
		want(selection, btf_array(type)->index_type);
	} else if (btf_is_mod(type) || btf_is_typedef(type)) {
		want(selection, type->type);
	} else if (btf_is_ptr(type)) {
		target = btf__type_by_id(selection->kernel, type->type);
		if (target && btf_is_func_proto(target))
			want(selection, type->type);
	}
}

/* To the copies' ids. */
static void translate(const struct selection *selection, struct btf_type *type)
{
	if (btf_is_composite(type)) {
		for (uint32_t i = 0; i < btf_vlen(type); i++)
			btf_members(type)[i].type = selection->new_ids[btf_members(type)[i].type];
	} else if (btf_is_array(type)) {
		btf_array(type)->type = selection->new_ids[btf_array(type)->type];
		btf_array(type)->index_type = selection->new_ids[btf_array(type)->index_type];
	} else if (btf_is_func_proto(type)) {
		for (uint32_t i = 0; i < btf_vlen(type); i++)
			btf_params(type)[i].type = selection->new_ids[btf_params(type)[i].type];
		type->type = selection->new_ids[type->type];
	} else if (btf_is_mod(type) || btf_is_typedef(type) || btf_is_ptr(type)) {
		type->type = selection->new_ids[type->type];
	}
}

static int copy(struct btf *result, struct selection *selection)
{
	uint32_t copied_cnt = 0;

	for (uint32_t id = 1; id < selection->cnt; id++) {
		int new_id = selection->new_ids[id] ? btf__add_type(result, selection->kernel,
								    btf__type_by_id(selection->kernel, id))
						    : 0;

		if (new_id < 0)
			return new_id;
		selection->new_ids[id] = (uint32_t)new_id;
		copied_cnt += new_id > 0;
	}
	for (uint32_t id = 1; id <= copied_cnt; id++)
		translate(selection, (struct btf_type *)btf__type_by_id(result, id)); /* it is ours */
	return 0;
}

static int select_types(struct btf **result, const struct btf *kernel, const struct string_pool *names)
{
	struct selection selection = { .kernel = kernel, .cnt = btf__type_cnt(kernel) };
	int err = 0;

	selection.new_ids = calloc(selection.cnt, sizeof(*selection.new_ids));
	*result = btf__new_empty();
	if (!selection.new_ids || !*result)
		err = -ENOMEM;
	for (uint32_t id = 1; !err && id < selection.cnt; id++) {
		const struct btf_type *type = btf__type_by_id(kernel, id);
		const char *name = is_asked_by_name(type) ? btf__name_by_offset(kernel, type->name_off)
							  : NULL;

		if (name && *name && string_pool_find(names, name, strlen(name)) != STRING_POOL_NONE)
			want(&selection, id);
	}
	if (!err)
		err = copy(*result, &selection);
	free(selection.new_ids);
	if (err) {
		btf__free(*result);
		*result = NULL;
	}
	return err;
}

/* Without what a program adds to tell its versions of one type apart: "task_struct___since_5_13". */
static int add_name(struct string_pool *names, const char *name)
{
	const char *flavor = strstr(name, "___");
	uint32_t number;

	return string_pool_add(names, name, flavor ? (size_t)(flavor - name) : strlen(name), &number);
}

int kernel_types_select(struct btf **result, const struct btf *kernel, const struct btf *programs)
{
	struct string_pool *names = string_pool_new();
	int err = names ? 0 : -ENOMEM;

	*result = NULL;
	for (uint32_t id = 1; !err && id < btf__type_cnt(programs); id++) {
		const struct btf_type *type = btf__type_by_id(programs, id);
		const char *name = NULL;

		if (is_asked_by_name(type))
			name = btf__name_by_offset(programs, type->name_off);
		if (name && *name)
			err = add_name(names, name);
	}
	if (!err)
		err = select_types(result, kernel, names);
	string_pool_free(names);
	return err;
}
