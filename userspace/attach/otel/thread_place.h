/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a variable of each thread is in a process: from what its file says
 * (attach/elf/elf_tls.h), and from what the process' loader has written where
 * the file's code looks it up.
 */
#ifndef THREAD_PLACE_H
#define THREAD_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/elf/elf_tls.h"
#include "attach/process/proc_maps.h"
#include "txtrace/otel.h"

struct process_reader;

struct thread_place_source {
	struct process_reader *reader;
	pid_t pid;
	const struct proc_mapping *code; /* the file's first mapping that is executable */
	bool is_musl;			 /* the C library */
};

/*
 * 0; -EAGAIN: the loader has not written it yet; -ENOTSUP: nothing says where it
 * is; errors of process_reader_bytes().
 */
int thread_place_find(struct otel_place *place, const struct elf_tls *tls,
		      const struct thread_place_source *source);

/*
 * The same of words that were read; target: those that a descriptor's second
 * word leads to. bias is added to the file's addresses.
 */
int thread_place_of_words(struct otel_place *place, const struct elf_tls *tls, const uint64_t words[2],
			  const uint64_t target[2], uint64_t bias, bool is_musl);

#endif
