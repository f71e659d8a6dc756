/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs of a BPF object, loaded by two threads: nearly all of a
 * recorder's start is the kernel's verifier, which works on one program for
 * each thread. libbpf loads the programs of an object one after the other, so
 * each thread opens the object for itself, with its part of the programs and
 * the maps of the first.
 *
 *	loaded_programs_plan(programs, object);    what `object` loads from here on has other ways
 *	bpf_object__load(object);
 *	loaded_programs_begin(programs, &source);
 *	…                                          there is time for other work
 *	loaded_programs_wait(programs);
 *	loaded_programs_find(programs, "on_exec");
 *	loaded_programs_release(programs);
 */
#ifndef LOADED_PROGRAMS_H
#define LOADED_PROGRAMS_H

#include <bpf/libbpf.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { LOADED_PROGRAMS_MAX = 128 };
enum { LOADED_PROGRAMS_TRACING, LOADED_PROGRAMS_PROBES, LOADED_PROGRAMS_PARTS };

struct loaded_programs_source {		 /* all of it lives until loaded_programs_wait() */
	const struct bpf_object *object; /* loaded: its maps */
	const void *elf;		 /* that it was opened from */
	size_t elf_bytes;
	const char *types_path; /* as bpf_object_open_opts has it; may be NULL */
};

struct loaded_programs;

struct loaded_programs_part {
	struct loaded_programs *programs;
	int number;
	struct bpf_object *object;
	pthread_t thread;
	bool has_thread;
	int err;
};

struct loaded_programs { /* starts zeroed, and stays where it is */
	bool is_planned[LOADED_PROGRAMS_MAX];
	struct loaded_programs_source source;
	struct loaded_programs_part parts[LOADED_PROGRAMS_PARTS];
};

/* The programs that `object` would load: now it loads none. 0, or -E2BIG: it has too many. */
int loaded_programs_plan(struct loaded_programs *programs, struct bpf_object *object);

/* Those that were planned, with the types of attachment that `source->object` has for them. */
void loaded_programs_begin(struct loaded_programs *programs, const struct loaded_programs_source *source);

/* 0 or a negative errno; in any case nothing is under way. */
int loaded_programs_wait(struct loaded_programs *programs);

/* NULL: there is none of this name, or it was not planned. */
struct bpf_program *loaded_programs_find(const struct loaded_programs *programs, const char *name);

/* Waits, too. */
void loaded_programs_release(struct loaded_programs *programs);

#endif
