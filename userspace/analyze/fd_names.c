/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/fd_names.h"

#include <errno.h>

#define NAME_MAX_BYTES 512

int fd_names_init(struct fd_names *names, size_t max_bytes)
{
	id_map_init(&names->numbers);
	names->max_bytes = max_bytes;
	names->names = string_pool_new();
	return names->names ? 0 : -ENOMEM;
}

void fd_names_release(struct fd_names *names)
{
	id_map_release(&names->numbers);
	string_pool_free(names->names);
}

int fd_names_add(struct fd_names *names, const struct txtrace_object *object)
{
	size_t length = object->name.length < NAME_MAX_BYTES ? object->name.length : NAME_MAX_BYTES;
	size_t bytes = string_pool_bytes(names->names) + names->numbers.cnt * 4 * sizeof(struct id_map_slot);
	uint32_t number;
	int err;

	if (length == 0 || bytes > names->max_bytes) {
		id_map_remove(&names->numbers, object->pid, object->object);
		return 0;
	}
	err = string_pool_add(names->names, object->name.bytes, length, &number);
	return err ? err
		   : id_map_put(&names->numbers, object->pid, object->object,
				(void *)(uintptr_t)(number + 1));
}

uint32_t fd_names_find(const struct fd_names *names, uint32_t pid, uint64_t fd)
{
	return (uint32_t)(uintptr_t)id_map_get(&names->numbers, pid, fd);
}

struct txtrace_string fd_names_get(const struct fd_names *names, uint32_t number)
{
	struct txtrace_string name = { NULL, 0 };

	if (number)
		name.bytes = string_pool_get(names->names, number - 1, &name.length);
	return name;
}
