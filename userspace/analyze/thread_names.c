/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/thread_names.h"

#include <stdlib.h>
#include <string.h>

#define SET_CNT 8192
#define SET_SIZE 8
#define NAME_MAX_BYTES 64

/*
 * Sets of eight, the one heard of last in front, the last one goes: bounded, and no thread can push out those
 * of other sets.
 */
struct thread_name {
	uint32_t pid;
	uint32_t tid;
	uint8_t length; /* 0: nothing is here */
	char bytes[NAME_MAX_BYTES];
};

struct thread_names {
	struct thread_name sets[SET_CNT][SET_SIZE];
};

struct thread_names *thread_names_new(void)
{
	return calloc(1, sizeof(struct thread_names));
}

void thread_names_free(struct thread_names *names)
{
	free(names);
}

/* Ids are given out one after the other, so their low bits spread. */
static size_t set_of(uint32_t tid)
{
	return tid % SET_CNT;
}

void thread_names_add(struct thread_names *names, const struct txtrace_thread *thread)
{
	struct thread_name *set = names->sets[set_of(thread->tid)], *name = set;
	size_t length = thread->comm.length < NAME_MAX_BYTES ? thread->comm.length : NAME_MAX_BYTES;

	if (length == 0)
		return;
	while (name < set + SET_SIZE - 1 && name->length > 0 &&
	       (name->pid != thread->pid || name->tid != thread->tid))
		name++;
	memmove(set + 1, set, (size_t)(name - set) * sizeof(*set));
	set->pid = thread->pid;
	set->tid = thread->tid;
	set->length = (uint8_t)length;
	memcpy(set->bytes, thread->comm.bytes, length);
}

struct txtrace_string thread_names_get(const struct thread_names *names, uint32_t pid, uint32_t tid)
{
	const struct thread_name *set = names->sets[set_of(tid)];

	for (const struct thread_name *name = set; name < set + SET_SIZE && name->length > 0; name++) {
		if (name->pid == pid && name->tid == tid)
			return (struct txtrace_string){ name->bytes, name->length };
	}
	return (struct txtrace_string){ NULL, 0 };
}
