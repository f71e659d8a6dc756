/* SPDX-License-Identifier: BSD-2-Clause */
/* A selection of the kernel's types, against types that were made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <bpf/btf.h>

#include "attach/probes/kernel_types.h"

/*
 *	typedef unsigned int number;
 *	struct inner { number depth; };
 *	struct other { int x; };
 *	struct task { struct inner inner; struct other *other; struct inner *first; int places[3]; };
 *	typedef void (*btf_trace_switch)(void *, struct task *);
 *	union unasked { struct other other; };
 */
static struct btf *make_kernel(void)
{
	struct btf *kernel = btf__new_empty();
	int integer, number, inner, other, to_other, to_inner, places, function, to_function, pointer;

	assert_non_null(kernel);
	integer = btf__add_int(kernel, "int", 4, BTF_INT_SIGNED);
	number = btf__add_typedef(kernel, "number", integer);
	other = btf__add_struct(kernel, "other", 4);
	btf__add_field(kernel, "x", integer, 0, 0);
	inner = btf__add_struct(kernel, "inner", 4);
	btf__add_field(kernel, "depth", number, 0, 0);
	to_other = btf__add_ptr(kernel, other);
	to_inner = btf__add_ptr(kernel, inner);
	places = btf__add_array(kernel, integer, integer, 3);
	btf__add_struct(kernel, "task", 40);
	btf__add_field(kernel, "inner", inner, 0, 0);
	btf__add_field(kernel, "other", to_other, 64, 0);
	btf__add_field(kernel, "first", to_inner, 128, 0);
	btf__add_field(kernel, "places", places, 192, 0);
	pointer = btf__add_ptr(kernel, 0);
	function = btf__add_func_proto(kernel, 0);
	btf__add_func_param(kernel, "context", pointer);
	btf__add_func_param(kernel, "task", to_other);
	to_function = btf__add_ptr(kernel, function);
	btf__add_typedef(kernel, "btf_trace_switch", to_function);
	btf__add_union(kernel, "unasked", 4);
	assert_true(btf__add_field(kernel, "other", other, 0, 0) == 0);
	return kernel;
}

/* The BTF of programs that read structs of these names. */
static struct btf *make_programs(const char *const *names, size_t cnt)
{
	struct btf *programs = btf__new_empty();

	assert_non_null(programs);
	for (size_t i = 0; i < cnt; i++)
		assert_true(btf__add_struct(programs, names[i], 4) > 0);
	return programs;
}

static const struct btf_type *type_of(const struct btf *btf, const char *name, uint32_t kind)
{
	int id = btf__find_by_name_kind(btf, name, kind);

	return id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
}

static void what_is_asked_for_is_whole(void **state)
{
	static const char *const names[] = { "task", "btf_trace_switch", "not_there" };
	struct btf *kernel = make_kernel(), *programs = make_programs(names, 3), *types;
	const struct btf_type *task, *inner, *trace, *pointer;

	(void)state;
	assert_int_equal(kernel_types_select(&types, kernel, programs), 0);
	btf__free(programs);
	btf__free(kernel);
	task = type_of(types, "task", BTF_KIND_STRUCT);
	assert_non_null(task);
	assert_int_equal(task->size, 40);
	assert_int_equal(btf_vlen(task), 4);
	assert_string_equal(btf__name_by_offset(types, btf_members(task)[3].name_off), "places");
	assert_int_equal(btf_member_bit_offset(task, 3), 192);
	assert_int_equal(btf__resolve_size(types, btf_members(task)[3].type), 12);
	inner = btf__type_by_id(types, btf_members(task)[0].type);
	assert_string_equal(btf__name_by_offset(types, inner->name_off), "inner");
	assert_int_equal(btf__resolve_size(types, btf_members(inner)[0].type), 4);
	assert_non_null(type_of(types, "number", BTF_KIND_TYPEDEF)); /* the type of inner's member */
	trace = type_of(types, "btf_trace_switch", BTF_KIND_TYPEDEF);
	assert_non_null(trace);
	pointer = btf__type_by_id(types, trace->type);
	assert_true(btf_is_ptr(pointer));
	assert_int_equal(btf_vlen(btf__type_by_id(types, pointer->type)), 2);
	btf__free(types);
}

static void nothing_else_is_copied(void **state)
{
	static const char *const names[] = { "task" };
	struct btf *kernel = make_kernel(), *programs = make_programs(names, 1), *types;
	const struct btf_type *task;

	(void)state;
	assert_int_equal(kernel_types_select(&types, kernel, programs), 0);
	btf__free(programs);
	btf__free(kernel);
	assert_null(type_of(types, "other", BTF_KIND_STRUCT));
	assert_null(type_of(types, "unasked", BTF_KIND_UNION));
	assert_null(type_of(types, "btf_trace_switch", BTF_KIND_TYPEDEF));
	task = type_of(types, "task", BTF_KIND_STRUCT);
	assert_int_equal(btf__type_by_id(types, btf_members(task)[1].type)->type, 0); /* void * */
	btf__free(types);
}

static void a_flavor_asks_for_the_type_without_it(void **state)
{
	static const char *const names[] = { "inner___before_6_1" };
	struct btf *kernel = make_kernel(), *programs = make_programs(names, 1), *types;

	(void)state;
	btf__add_int(programs, "task", 4, 0); /* no relocation asks for an integer */
	assert_int_equal(kernel_types_select(&types, kernel, programs), 0);
	assert_non_null(type_of(types, "inner", BTF_KIND_STRUCT));
	assert_null(type_of(types, "task", BTF_KIND_STRUCT));
	btf__free(types);
	btf__free(programs);
	btf__free(kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_asked_for_is_whole),
		cmocka_unit_test(nothing_else_is_copied),
		cmocka_unit_test(a_flavor_asks_for_the_type_without_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
