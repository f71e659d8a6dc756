/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/targets/object_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach/process/fd_name.h"
#include "base/clock.h"
#include "base/id_map.h"

#define OBJECT_MAX 65536        /* descriptors that are remembered; the others stay without names */
#define TIME_SHARE 100          /* one in so many ns is ours */
#define TIME_CREDIT_NS 20000000 /* to begin with: all descriptors are new then */

struct object {
	uint64_t inode;
	uint32_t pid;
	uint32_t tid; /* of who waited for it first */
	uint32_t fd;
	uint8_t reason;
	char name[]; /* "": not known */
};

struct object_names {
	struct id_map objects; /* by (pid, fd) */
	struct object_names_options options;
	uint64_t begin_ns;
	uint64_t spent_ns;
};

struct object_names *object_names_new(const struct object_names_options *options)
{
	struct object_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	id_map_init(&names->objects);
	names->options = *options;
	names->begin_ns = clock_now_ns();
	return names;
}

void object_names_free(struct object_names *names)
{
	struct object *object;

	if (!names)
		return;
	for (size_t i = 0; (object = id_map_next(&names->objects, &i));)
		free(object);
	id_map_release(&names->objects);
	free(names);
}

static int tell(struct object_names *names, const struct object *object, uint64_t time_ns)
{
	struct txtrace_record record = {
		.kind = TXTRACE_RECORD_OBJECT,
		.object = {
			.time_ns = time_ns,
			.object = object->fd,
			.pid = object->pid,
			.tid = object->tid,
			.reason = object->reason,
			.name = { object->name, strlen(object->name) },
		},
	};

	return *object->name ? names->options.sink(names->options.sink_context, &record) : 0;
}

/* A wait for a descriptor, as an event tells it. */
struct sight {
	uint64_t time_ns;
	uint64_t inode;
	uint32_t pid;
	uint32_t tid;
	uint32_t fd; /* of several, the first */
	uint8_t reason;
};

static int add(struct object_names *names, const struct sight *sight, const char *name)
{
	struct object *object = malloc(sizeof(*object) + strlen(name) + 1);

	if (!object)
		return -ENOMEM;
	*object = (struct object){
		.inode = sight->inode,
		.pid = sight->pid,
		.tid = sight->tid,
		.fd = sight->fd,
		.reason = sight->reason,
	};
	strcpy(object->name, name);
	if (id_map_put(&names->objects, object->pid, object->fd, object)) {
		free(object);
		return -ENOMEM;
	}
	return tell(names, object, sight->time_ns);
}

static int look(struct object_names *names, const struct sight *sight, struct object *old)
{
	uint64_t begin_ns = clock_now_ns();
	char name[FD_NAME_SIZE];

	if (names->spent_ns > TIME_CREDIT_NS + (begin_ns - names->begin_ns) / TIME_SHARE)
		return 0;
	if (names->options.read(names->options.read_context, (pid_t)sight->pid, sight->fd, sight->inode,
				name))
		*name = '\0';
	names->spent_ns += clock_now_ns() - begin_ns;
	if (old)
		free(id_map_remove(&names->objects, old->pid, old->fd));
	return add(names, sight, name);
}

/* inode 0: it is none. */
static struct sight sight_of(const struct event *event)
{
	struct sight sight = { .time_ns = event->time_ns, .pid = event->tgid, .tid = event->tid };

	if (event->kind == EVENT_SWITCH && event->sched.left_as == WIRE_LEFT_BLOCKED) {
		sight.inode = event->sched.inode;
		sight.fd = (uint32_t)event->sched.object;
		sight.reason = event->sched.reason;
	} else if (event->kind == EVENT_WAKE && event->wake.has_wait_end) {
		sight.pid = event->wake.wakee_tgid;
		sight.tid = event->wake.wakee_tid;
		sight.inode = event->wake.inode;
		sight.fd = (uint32_t)event->wake.object;
		sight.reason = event->wake.reason;
	}
	return sight;
}

int object_names_see(struct object_names *names, const struct event *event)
{
	struct sight sight = sight_of(event);
	struct object *object;

	if (!sight.inode)
		return 0;
	object = id_map_get(&names->objects, sight.pid, sight.fd);
	if (object ? object->inode == sight.inode : names->objects.cnt >= OBJECT_MAX)
		return 0;
	return look(names, &sight, object);
}

int object_names_tell(struct object_names *names, uint64_t time_ns)
{
	struct object *object;
	int err = 0;

	for (size_t i = 0; !err && (object = id_map_next(&names->objects, &i));)
		err = tell(names, object, time_ns);
	return err;
}
