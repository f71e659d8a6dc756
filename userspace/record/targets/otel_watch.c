/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/targets/otel_watch.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/elf/elf_segments.h"
#include "attach/otel/process_context.h"
#include "attach/otel/thread_place.h"
#include "attach/process/process_reader.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/id_map.h"
#include "txtrace/otel.h"

#define AGAIN_NS 1000000000u	  /* a process that publishes nothing is looked at after that; */
#define AGAIN_MAX_NS 64000000000u /* after twice the time, and so on, up to that */

#define KNOWN_NS 5000000000u /* a file that nobody had mapped for so long is read again */

/* A file that was read. Once nobody has mapped it, its number may be another one's. */
struct object {
	uint64_t seen_ns;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	struct elf_tls tls;
};

struct process {
	uint32_t pid;
	uint64_t start_ns;     /* of the one that has the pid */
	uint64_t context;      /* the address of what it publishes of itself; 0: nothing */
	uint64_t published_ns; /* its state that was read */
	uint64_t wait_ns;      /* until it is looked at again, which is at: */
	uint64_t next_ns;
	char service[PROCESS_CONTEXT_TEXT_MAX]; /* as it calls itself; empty: it does not */
	bool is_read;				/* the kernel side reads it */
	bool is_incomplete;			/* its loader had not written all, when it was looked at */
	bool has_found;				/* it was said that it does */
	bool has_warned;			/* or why not */
};

struct otel_watch {
	struct otel_watch_options options;
	struct id_map processes; /* pid, 0 -> struct process */
	struct object *objects;
	size_t object_cnt;
	size_t object_room;
	uint64_t found_cnt;
};

struct otel_watch *otel_watch_new(const struct otel_watch_options *options)
{
	struct otel_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->options = *options;
	id_map_init(&watch->processes);
	return watch;
}

void otel_watch_free(struct otel_watch *watch)
{
	struct process *process;

	if (!watch)
		return;
	for (size_t i = 0; (process = id_map_next(&watch->processes, &i));)
		free(process);
	id_map_release(&watch->processes);
	free(watch->objects);
	free(watch);
}

/* ---- files ---- */

static struct object *object_find(struct otel_watch *watch, const struct proc_mapping *mapping)
{
	for (size_t i = 0; i < watch->object_cnt; i++) {
		struct object *object = &watch->objects[i];

		if (object->inode == mapping->inode && object->dev_major == mapping->dev_major &&
		    object->dev_minor == mapping->dev_minor)
			return object;
	}
	return NULL;
}

/* Most files have no variables of threads: they need not be read any further. */
static bool has_thread_variables(int fd)
{
	struct elf_segments segments;
	bool has_any = false;

	if (elf_segments_read(&segments, fd))
		return false;
	for (size_t i = 0; i < segments.cnt; i++)
		has_any |= segments.list[i].p_type == PT_TLS;
	elf_segments_release(&segments);
	return has_any;
}

/* A file that cannot be read has no variable. */
static void read_object(struct otel_watch *watch, struct object *object, const struct proc_mapping *mapping,
			pid_t pid)
{
	int fd = process_reader_open(watch->options.reader, mapping, pid);

	object->tls = (struct elf_tls){ .way = ELF_TLS_NONE };
	if (fd < 0)
		return;
	if (has_thread_variables(fd) && elf_reader_context(watch->options.elf_reader, &object->tls, fd))
		object->tls = (struct elf_tls){ .way = ELF_TLS_NONE };
	close(fd);
}

/* NULL: no memory. */
static struct object *object_add(struct otel_watch *watch, const struct proc_mapping *mapping)
{
	struct object *grown = array_grow(watch->objects, &watch->object_room, watch->object_cnt,
					  sizeof(*grown));

	if (!grown)
		return NULL;
	watch->objects = grown;
	grown += watch->object_cnt++;
	*grown = (struct object){ .inode = mapping->inode,
				  .dev_major = mapping->dev_major,
				  .dev_minor = mapping->dev_minor };
	return grown;
}

/* NULL: no memory. */
static const struct object *object_get(struct otel_watch *watch, const struct proc_mapping *mapping,
				       pid_t pid)
{
	struct object *object = object_find(watch, mapping);
	uint64_t now_ns = clock_now_ns();

	if (!object)
		object = object_add(watch, mapping);
	if (!object)
		return NULL;
	if (now_ns - object->seen_ns > KNOWN_NS)
		read_object(watch, object, mapping, pid);
	object->seen_ns = now_ns;
	return object;
}

/* ---- one process ---- */

struct look {
	struct otel_watch *watch;
	struct thread_place_source source;
	pid_t maps_pid;
	struct otel_process found;
	bool is_incomplete;	   /* a place may be known later */
	bool has_unknown;	   /* a variable is there, and nothing says where */
	bool has_more;		   /* and there was no room for its place */
	enum thread_schema schema; /* of the variables that are wanted; NONE: any */
};

/* By what it is called: libc.so.6, or libc-2.31.so before 2.34. */
static bool is_of_glibc(const struct proc_maps *maps)
{
	static const char *const names[] = { "/libc.so.6", "/libc-2." };

	for (size_t i = 0; i < maps->cnt; i++) {
		const char *name = strrchr(maps->mappings[i].path, '/');

		for (size_t n = 0; name && n < sizeof(names) / sizeof(names[0]); n++)
			if (strncmp(name, names[n], strlen(names[n])) == 0)
				return true;
	}
	return false;
}

static int look_at_object(void *context, const struct proc_mapping *mapping)
{
	struct look *look = context;
	const struct object *object = object_get(look->watch, mapping, look->maps_pid);
	int err;

	if (!object)
		return -ENOMEM;
	if (object->tls.way == ELF_TLS_NONE ||
	    (look->schema && (look->schema == THREAD_SCHEMA_NODEJS) != object->tls.is_nodejs))
		return 0;
	look->has_more = look->found.place_cnt == OTEL_PLACE_MAX;
	if (look->has_more)
		return 0;
	look->source.code = mapping;
	err = thread_place_find(&look->found.places[look->found.place_cnt], &object->tls, &look->source);
	look->found.place_cnt += !err;
	look->is_incomplete |= err == -EAGAIN;
	look->has_unknown |= err == -ENOTSUP;
	return 0;
}

/* What the process says of itself. Returns whether its threads are to be looked at, and how. */
static bool wants_threads(struct otel_watch *watch, struct process *process, const struct proc_maps *maps,
			  const struct traced_process *target, enum thread_schema *schema)
{
	struct process_context context;
	bool is_named = target->reasons & (TARGET_NAMED | TARGET_CHILD);
	int err;

	process->context = maps->otel_context;
	process->published_ns = 0;
	if (!process->context)
		return is_named;
	err = process_context_read(&context, watch->options.reader, maps->pid, process->context);
	if (err == -EAGAIN) /* the next tick sees that it is another one */
		return process->is_read;
	if (!err) {
		process->published_ns = context.published_ns;
		memcpy(process->service, context.service, sizeof(process->service));
		*schema = context.schema;
		if (context.schema != THREAD_SCHEMA_OTHER)
			return context.schema != THREAD_SCHEMA_NONE || is_named;
	}
	if (!process->has_warned && err)
		messages_say(watch->options.messages, MESSAGE_WARNING, "otel",
			     "process %u publishes a context that cannot be read: %s", process->pid,
			     err == -ENOTSUP  ? "its version is not known"
			     : err == -EPROTO ? "it is damaged"
					      : process_reader_explain(err));
	else if (!process->has_warned)
		messages_say(
			watch->options.messages, MESSAGE_WARNING, "otel",
			"process %u publishes the contexts of its threads as '%s', which txtrace does "
			"not read; it reads tlsdesc_v1_dev, tlsdesc_v1, tls_v1, nodejs_v1_dev and nodejs_v1",
			process->pid, context.schema_name);
	process->has_warned = true;
	return false;
}

static void stop_reading(const struct otel_watch *watch, struct process *process)
{
	if (process->is_read) {
		bpf_map_delete_elem(watch->options.processes_fd, &process->pid);
		++*watch->options.generation;
	}
	process->is_read = false;
}

static void begin_reading(struct otel_watch *watch, struct process *process, const struct otel_process *found)
{
	if (bpf_map_update_elem(watch->options.processes_fd, &process->pid, found, BPF_ANY)) {
		if (!process->has_warned)
			messages_say(
				watch->options.messages, MESSAGE_WARNING, "otel",
				"the contexts of process %u are not read: more than %u processes publish "
				"some",
				process->pid, OTEL_PROCESS_MAX);
		process->has_warned = true;
		return;
	}
	++*watch->options.generation;
	process->is_read = true;
	if (process->has_found)
		return;
	process->has_found = true;
	watch->found_cnt++;
	messages_say(watch->options.messages, MESSAGE_INFO, "otel",
		     *process->service ? "process %u publishes the contexts of its threads, as service '%s'"
				       : "process %u publishes the contexts of its threads",
		     process->pid, process->service);
}

/* Once for a process. */
static void warn_of_places(const struct otel_watch *watch, struct process *process, const struct look *look)
{
	if (process->has_warned)
		return;
	if (look->has_unknown && !look->found.place_cnt) {
		process->has_warned = true;
		messages_say(watch->options.messages, MESSAGE_WARNING, "otel",
			     "process %u publishes the contexts of its threads, and txtrace cannot find "
			     "where: no relocation names the variable of its library",
			     process->pid);
	} else if (look->has_more) {
		process->has_warned = true;
		messages_say(watch->options.messages, MESSAGE_WARNING, "otel",
			     "more than %u libraries of process %u have the variable of its threads' "
			     "contexts; the others are not read",
			     OTEL_PLACE_MAX, process->pid);
	}
}

static void look_at(struct otel_watch *watch, struct process *process, const struct traced_process *target)
{
	struct look look = { .watch = watch };
	struct proc_maps maps;

	if (process_reader_maps(watch->options.reader, &maps, (pid_t)process->pid))
		return;
	look.source = (struct thread_place_source){ .reader = watch->options.reader,
						    .pid = maps.pid,
						    .is_musl = !is_of_glibc(&maps) };
	look.maps_pid = maps.pid;
	if (wants_threads(watch, process, &maps, target, &look.schema))
		proc_maps_each_object(&maps, look_at_object, &look);
	if (look.found.place_cnt)
		begin_reading(watch, process, &look.found);
	else
		stop_reading(watch, process);
	process->is_incomplete = look.is_incomplete;
	warn_of_places(watch, process, &look);
	proc_maps_release(&maps);
}

/* Made if it is not there; one that had the pid before is forgotten. NULL: no memory. */
static struct process *process_get(struct otel_watch *watch, const struct traced_process *target)
{
	struct process *process = id_map_get(&watch->processes, target->pid, 0);

	if (!process) {
		process = calloc(1, sizeof(*process));
		if (process && id_map_put(&watch->processes, target->pid, 0, process)) {
			free(process);
			return NULL;
		}
		if (!process)
			return NULL;
	} else if (process->start_ns == target->start_ns) {
		return process;
	}
	*process = (struct process){ .pid = target->pid, .start_ns = target->start_ns };
	return process;
}

void otel_watch_look(struct otel_watch *watch, uint32_t pid)
{
	const struct traced_process *target = target_set_get(watch->options.targets, pid);
	struct process *process = target ? process_get(watch, target) : NULL;

	if (!process)
		return;
	process->wait_ns = AGAIN_NS;
	process->next_ns = clock_now_ns() + AGAIN_NS;
	look_at(watch, process, target);
}

/* ---- from time to time ---- */

struct tick {
	struct otel_watch *watch;
	uint64_t now_ns;
};

static bool has_changed(const struct otel_watch *watch, const struct process *process)
{
	uint64_t published_ns;

	return process->context && (process_context_published(&published_ns, watch->options.reader,
							      (pid_t)process->pid, process->context) ||
				    published_ns != process->published_ns);
}

static void tick_target(void *context, const struct traced_process *target)
{
	const struct tick *tick = context;
	struct process *process = process_get(tick->watch, target);

	if (!process)
		return;
	if (!process->is_incomplete &&
	    (process->context ? !has_changed(tick->watch, process) : tick->now_ns < process->next_ns))
		return;
	process->wait_ns = process->wait_ns ? process->wait_ns * 2 : AGAIN_NS;
	if (process->wait_ns > AGAIN_MAX_NS)
		process->wait_ns = AGAIN_MAX_NS;
	look_at(tick->watch, process, target);
	process->next_ns = tick->now_ns + process->wait_ns;
}

/* Those that have ended; the kernel side would take another one with that number for it. */
static void forget_ended(struct otel_watch *watch)
{
	struct process *process;
	bool is_done = false;

	while (!is_done) {
		is_done = true;
		for (size_t i = 0; (process = id_map_next(&watch->processes, &i));) {
			if (target_set_get(watch->options.targets, process->pid))
				continue;
			stop_reading(watch, process);
			free(id_map_remove(&watch->processes, process->pid, 0));
			is_done = false;
			break;
		}
	}
}

void otel_watch_tick(struct otel_watch *watch, uint64_t now_ns)
{
	struct tick tick = { watch, now_ns };

	if (!watch)
		return;
	target_set_each(watch->options.targets, tick_target, &tick);
	forget_ended(watch);
}

uint64_t otel_watch_found_cnt(const struct otel_watch *watch)
{
	return watch ? watch->found_cnt : 0;
}

bool otel_watch_label(uint64_t address, struct event_text *text)
{
	static const char *const names[] = { "otel", "traceparent", "otel.before_ns", "otel.after_ns" };
	uint64_t idx = address - OTEL_LABEL;

	if (idx >= sizeof(names) / sizeof(names[0]))
		return false;
	*text = (struct event_text){ .bytes = names[idx], .length = (uint32_t)strlen(names[idx]) };
	return true;
}
