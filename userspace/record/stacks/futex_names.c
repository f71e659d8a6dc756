/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/stacks/futex_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_map.h"
#include "base/text.h"

#define FRAMES_MAX 24
#define NAME_MAX 256

struct futex {
	uint64_t address;
	uint32_t pid;
	uint32_t tid;
	uint32_t frames[FRAMES_MAX];
	size_t frame_cnt; /* 0: it has its name, or will have none */
	char *name;       /* NULL: none */
	struct futex *next; /* that waits */
};

struct futex_names {
	const struct frame_table *frames;
	struct id_map futexes; /* by (pid, address) */
	struct futex *first, **end; /* that wait for their names */
};

struct futex_names *futex_names_new(const struct frame_table *frames)
{
	struct futex_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->frames = frames;
	names->end = &names->first;
	id_map_init(&names->futexes);
	return names;
}

void futex_names_free(struct futex_names *names)
{
	struct futex *futex;

	if (!names)
		return;
	for (size_t i = 0; (futex = id_map_next(&names->futexes, &i));) {
		free(futex->name);
		free(futex);
	}
	id_map_release(&names->futexes);
	free(names);
}

int futex_names_add(struct futex_names *names, const struct wire_stack *stack, const uint32_t *frames,
		    size_t cnt)
{
	uint64_t address = stack->object;
	struct futex *futex = id_map_get(&names->futexes, stack->header.tgid, address);

	if (cnt == 0 || futex || names->futexes.cnt >= CODE_STACK_FUTEX_MAX)
		return 0;
	futex = calloc(1, sizeof(*futex));
	if (!futex || id_map_put(&names->futexes, stack->header.tgid, address, futex)) {
		free(futex);
		return -ENOMEM;
	}
	futex->address = address;
	futex->pid = stack->header.tgid;
	futex->tid = stack->header.tid;
	futex->frame_cnt = cnt < FRAMES_MAX ? cnt : FRAMES_MAX;
	memcpy(futex->frames, frames, futex->frame_cnt * sizeof(*frames));
	*names->end = futex;
	names->end = &futex->next;
	return 0;
}

void futex_names_forget(struct futex_names *names, uint32_t tgid)
{
	struct futex *gone = NULL, *futex, **link = &names->first;

	while ((futex = *link)) {
		if (futex->pid == tgid)
			*link = futex->next;
		else
			link = &futex->next;
	}
	names->end = link;
	for (size_t i = 0; (futex = id_map_next(&names->futexes, &i));) {
		if (futex->pid != tgid)
			continue;
		futex->next = gone;
		gone = futex;
	}
	while ((futex = gone)) {
		gone = futex->next;
		id_map_remove(&names->futexes, futex->pid, futex->address);
		free(futex->name);
		free(futex);
	}
}

/*
 * They wait on behalf of who called them, also where they are part of the program: linked statically, or
 * inlined.
 */
static bool is_waiting_room(const char *name, size_t length)
{
	static const char *const beginnings[] = {
		"pthread_",  "__pthread_", "___pthread_", "__lll_", "lll_",	  "futex",
		"__futex",   "__GI_",	   "__new_sem_",  "sem_",   "__old_sem_", "syscall",
		"__gthread", "__cond_",	   "__clone",	  "std::",  "void std::", "bool std::",
	};

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		if (length >= strlen(beginnings[i]) &&
		    memcmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	}
	return false;
}

/* Of a frame's functions the innermost that is nobody's waiting room; length 0: all of them are. */
static struct txtrace_string pick_function(const struct frame_name *name)
{
	const char *end = name->names + name->length;

	while (end > name->names) {
		const char *newline = memrchr(name->names, '\n', (size_t)(end - name->names));
		const char *begin = newline ? newline + 1 : name->names;

		if (!is_waiting_room(begin, (size_t)(end - begin)))
			return (struct txtrace_string){ begin, (size_t)(end - begin) };
		end = newline ? newline : begin;
		if (!newline)
			break;
	}
	return (struct txtrace_string){ NULL, 0 };
}

/* "transfer+0x31", "transfer bank.c:120", or "libfoo.so+0x1234". */
static void make_name(const struct futex_names *names, struct futex *futex)
{
	struct text text = { 0 };

	for (size_t i = 0; i < futex->frame_cnt && !text.length; i++) {
		struct frame_name frame = frame_table_name(names->frames, futex->frames[i]);
		struct txtrace_string function = pick_function(&frame);

		if (frame.is_libc || function.length == 0 || *frame.names == '[')
			continue;
		text_append_bytes(&text, function.bytes,
				  function.length < NAME_MAX ? function.length : NAME_MAX);
		if (*frame.source && function.bytes + function.length == frame.names + frame.length)
			text_append_format(&text, " %s:%" PRIu32, frame.source, frame.line);
		else if (function.bytes == frame.names)
			text_append_format(&text, "+0x%" PRIx64, frame.offset);
	}
	if (!text.err && text.length > 0)
		futex->name = strndup(text_string(&text), text.length);
	text_release(&text);
}

static int tell(const struct futex *futex, uint64_t time_ns, code_stack_sink sink, void *context)
{
	struct txtrace_record record = {
		.kind = TXTRACE_RECORD_OBJECT,
		.object = { .time_ns = time_ns,
			    .object = futex->address,
			    .pid = futex->pid,
			    .tid = futex->tid,
			    .reason = TXTRACE_BLOCK_LOCK },
	};

	if (!futex->name)
		return 0;
	record.object.name = (struct txtrace_string){ futex->name, strlen(futex->name) };
	return sink(context, &record);
}

static bool is_ready(const struct futex_names *names, const struct futex *futex)
{
	for (size_t i = 0; i < futex->frame_cnt; i++) {
		if (!frame_table_is_resolved(names->frames, futex->frames[i]))
			return false;
	}
	return true;
}

int futex_names_tick(struct futex_names *names, uint64_t time_ns, bool is_last, code_stack_sink sink,
		     void *context)
{
	struct futex *futex;
	int err = 0;

	while (!err && (futex = names->first) && (is_last || is_ready(names, futex))) {
		names->first = futex->next;
		if (!names->first)
			names->end = &names->first;
		make_name(names, futex);
		futex->frame_cnt = 0;
		err = tell(futex, time_ns, sink, context);
	}
	return err;
}

int futex_names_tell(struct futex_names *names, uint64_t time_ns, code_stack_sink sink, void *context)
{
	struct futex *futex;
	int err = 0;

	for (size_t i = 0; !err && (futex = id_map_next(&names->futexes, &i));)
		err = tell(futex, time_ns, sink, context);
	return err;
}
