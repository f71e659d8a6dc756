/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/container_names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_map.h"
#include "base/string_pool.h"
#include "base/text.h"

struct container_names {
	struct string_pool *places; /* CONTAINER/POD */
	struct id_map by_pid;	    /* 0, pid -> the number of its place, as a pointer: number_of() */
	struct text place;
};

struct container_names *container_names_new(void)
{
	struct container_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	id_map_init(&names->by_pid);
	names->places = string_pool_new();
	if (names->places)
		return names;
	container_names_free(names);
	return NULL;
}

void container_names_free(struct container_names *names)
{
	if (!names)
		return;
	id_map_release(&names->by_pid);
	string_pool_free(names->places);
	text_release(&names->place);
	free(names);
}

void container_names_begin_capture(struct container_names *names)
{
	id_map_release(&names->by_pid);
	id_map_init(&names->by_pid);
}

static void *value_of(uint32_t number)
{
	return (void *)((uintptr_t)number + 1);
}

static uint32_t number_of(const void *value)
{
	return (uint32_t)((uintptr_t)value - 1);
}

/* STRING_POOL_NONE: there are too many. 0 or -ENOMEM. */
static int find_place(struct container_names *names, const struct txtrace_process *process, uint32_t *number)
{
	struct text *place = &names->place;

	text_clear(place);
	text_append_bytes(place, process->container.bytes, process->container.length);
	text_append(place, "/");
	text_append_bytes(place, process->pod.bytes, process->pod.length);
	if (place->err)
		return place->err;
	*number = string_pool_find(names->places, text_string(place), place->length);
	if (*number != STRING_POOL_NONE || string_pool_count(names->places) >= CONTAINERS_MAX)
		return 0;
	return string_pool_add(names->places, text_string(place), place->length, number);
}

int container_names_add(struct container_names *names, const struct txtrace_process *process)
{
	uint32_t number = STRING_POOL_NONE;
	int err;

	if (process->is_exit)
		return 0;
	if (process->container.length || process->pod.length) {
		err = find_place(names, process, &number);
		if (err)
			return err;
	}
	if (number != STRING_POOL_NONE)
		return id_map_put(&names->by_pid, 0, process->pid, value_of(number));
	id_map_remove(&names->by_pid, 0, process->pid);
	return 0;
}

/* Of the place: what is before the slash, or behind it. No id has one. */
static struct txtrace_string part_of(const struct container_names *names, uint32_t pid, bool is_pod)
{
	const void *value = id_map_get(&names->by_pid, 0, pid);
	const char *place, *slash;
	size_t length, first;

	if (!value)
		return (struct txtrace_string){ NULL, 0 };
	place = string_pool_get(names->places, number_of(value), &length);
	slash = memchr(place, '/', length);
	first = slash ? (size_t)(slash - place) : length;
	if (!is_pod)
		return (struct txtrace_string){ place, first };
	return slash ? (struct txtrace_string){ slash + 1, length - first - 1 }
		     : (struct txtrace_string){ NULL, 0 };
}

struct txtrace_string container_names_container(const struct container_names *names, uint32_t pid)
{
	return part_of(names, pid, false);
}

struct txtrace_string container_names_pod(const struct container_names *names, uint32_t pid)
{
	return part_of(names, pid, true);
}
