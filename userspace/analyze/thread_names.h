/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each thread is called, as the thread records tell. A name is 64 bytes at
 * most; the threads that were heard of last are known, 65,536 of them.
 */
#ifndef THREAD_NAMES_H
#define THREAD_NAMES_H

#include <stdint.h>

#include "txtrace/log.h"

struct thread_names;

struct thread_names *thread_names_new(void); /* NULL: no memory */
void thread_names_free(struct thread_names *names);

void thread_names_add(struct thread_names *names, const struct txtrace_thread *thread);

/* Empty if it is not known. Valid until the next add. */
struct txtrace_string thread_names_get(const struct thread_names *names, uint32_t pid, uint32_t tid);

#endif
