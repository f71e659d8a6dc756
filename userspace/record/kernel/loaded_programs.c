/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/kernel/loaded_programs.h"

#include <errno.h>

/* The two take about as long, if all probes of txtrace.h have their programs. */
static int number_of(const struct bpf_program *program)
{
	return bpf_program__type(program) == BPF_PROG_TYPE_KPROBE ? LOADED_PROGRAMS_PROBES
								  : LOADED_PROGRAMS_TRACING;
}

/* Opened from the same file, both have the same programs, and maps, in the same order. */
static int choose_programs(const struct loaded_programs_part *part, struct bpf_object *object)
{
	const struct bpf_object *source = part->programs->source.object;
	struct bpf_program *program = NULL, *planned = NULL;
	int err = 0;

	for (int i = 0; !err && (program = bpf_object__next_program(object, program)); i++) {
		planned = bpf_object__next_program(source, planned);
		bpf_program__set_autoload(program, part->programs->is_planned[i] &&
							   number_of(planned) == part->number);
		err = bpf_program__set_expected_attach_type(program,
							    bpf_program__expected_attach_type(planned));
	}
	return err;
}

static int share_maps(const struct loaded_programs_part *part, struct bpf_object *object)
{
	struct bpf_map *map = NULL, *shared = NULL;
	int err = 0;

	while (!err && (map = bpf_object__next_map(object, map))) {
		shared = bpf_object__next_map(part->programs->source.object, shared);
		err = bpf_map__autocreate(shared) ? bpf_map__reuse_fd(map, bpf_map__fd(shared))
						  : bpf_map__set_autocreate(map, false);
	}
	return err;
}

static void *load_part(void *context)
{
	struct loaded_programs_part *part = context;
	const struct loaded_programs_source *source = &part->programs->source;
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = source->types_path);

	part->object = bpf_object__open_mem(source->elf, source->elf_bytes, &options);
	part->err = part->object ? choose_programs(part, part->object) : -errno;
	if (!part->err)
		part->err = share_maps(part, part->object);
	if (!part->err)
		part->err = bpf_object__load(part->object);
	return NULL;
}

int loaded_programs_plan(struct loaded_programs *programs, struct bpf_object *object)
{
	struct bpf_program *program = NULL;

	for (int i = 0; (program = bpf_object__next_program(object, program)); i++) {
		if (i == LOADED_PROGRAMS_MAX)
			return -E2BIG;
		programs->is_planned[i] = bpf_program__autoload(program);
		bpf_program__set_autoload(program, false);
	}
	return 0;
}

void loaded_programs_begin(struct loaded_programs *programs, const struct loaded_programs_source *source)
{
	programs->source = *source;
	for (int i = 0; i < LOADED_PROGRAMS_PARTS; i++) {
		struct loaded_programs_part *part = &programs->parts[i];

		*part = (struct loaded_programs_part){ .programs = programs, .number = i };
		part->has_thread = !pthread_create(&part->thread, NULL, load_part, part);
		if (!part->has_thread)
			load_part(part);
	}
}

int loaded_programs_wait(struct loaded_programs *programs)
{
	int err = 0;

	for (int i = 0; i < LOADED_PROGRAMS_PARTS; i++) {
		struct loaded_programs_part *part = &programs->parts[i];

		if (part->has_thread)
			pthread_join(part->thread, NULL);
		part->has_thread = false;
		if (!err)
			err = part->err;
	}
	return err;
}

struct bpf_program *loaded_programs_find(const struct loaded_programs *programs, const char *name)
{
	for (int i = 0; i < LOADED_PROGRAMS_PARTS; i++) {
		const struct bpf_object *object = programs->parts[i].object;
		struct bpf_program *program = object ? bpf_object__find_program_by_name(object, name) : NULL;

		if (program && bpf_program__autoload(program))
			return program;
	}
	return NULL;
}

void loaded_programs_release(struct loaded_programs *programs)
{
	loaded_programs_wait(programs);
	for (int i = 0; i < LOADED_PROGRAMS_PARTS; i++)
		bpf_object__close(programs->parts[i].object);
	*programs = (struct loaded_programs){ 0 };
}
