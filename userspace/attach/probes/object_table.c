/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/object_table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

void object_table_init(struct object_table *table)
{
	id_map_init(&table->objects);
}

void object_table_release(struct object_table *table)
{
	id_map_release(&table->objects);
}

/* The kernel's number of a device has 12 bits and 20. */
static uint64_t owner_and_device(pid_t pid, uint32_t dev_major, uint32_t dev_minor)
{
	return (uint64_t)(uint32_t)pid << 32 | dev_major << 20 | dev_minor;
}

struct object *object_table_find(const struct object_table *table, const struct proc_mapping *mapping,
				 pid_t pid)
{
	return id_map_get(&table->objects, mapping->inode,
			  owner_and_device(pid, mapping->dev_major, mapping->dev_minor));
}

struct object *object_table_add(struct object_table *table, const struct proc_mapping *mapping, pid_t pid,
				uint64_t open_ns)
{
	struct object *object = calloc(1, sizeof(*object));
	char *path = strdup(mapping->path);

	if (!object || !path ||
	    id_map_put(&table->objects, mapping->inode,
		       owner_and_device(pid, mapping->dev_major, mapping->dev_minor), object)) {
		free(object);
		free(path);
		return NULL;
	}
	object->inode = mapping->inode;
	object->dev_major = mapping->dev_major;
	object->dev_minor = mapping->dev_minor;
	object->pid = pid;
	object->open_ns = open_ns;
	object->path = path;
	object->fd = -1;
	return object;
}

struct object *object_table_same_file(const struct object_table *table, const struct stat *file, pid_t pid)
{
	struct object *object;

	for (size_t i = 0; (object = id_map_next(&table->objects, &i));)
		if (object->fd >= 0 && object->file_inode == file->st_ino &&
		    object->file_dev == file->st_dev && object->pid == pid)
			return object;
	return NULL;
}

static void take_out(struct object_table *table, const struct object *object)
{
	id_map_remove(&table->objects, object->inode,
		      owner_and_device(object->pid, object->dev_major, object->dev_minor));
}

void object_table_rename(struct object_table *table, struct object *object,
			 const struct proc_mapping *mapping)
{
	if (id_map_put(&table->objects, mapping->inode,
		       owner_and_device(object->pid, mapping->dev_major, mapping->dev_minor), object))
		return;
	take_out(table, object);
	object->inode = mapping->inode;
	object->dev_major = mapping->dev_major;
	object->dev_minor = mapping->dev_minor;
}

void object_table_attached(struct object_table *table, struct object *object, int fd, size_t site_cnt)
{
	object->fd = fd;
	object->site_cnt = site_cnt;
	table->object_cnt++;
	table->site_cnt += site_cnt;
	table->link_cnt += probe_links_cnt(object->links);
}

/*
 * Takes the object out of the table, and frees it but for its links, which are the caller's to close; NULL:
 * it has none.
 */
static struct probe_links *object_take(struct object_table *table, struct object *object)
{
	struct probe_links *links = object->links;

	take_out(table, object);
	if (links) {
		table->object_cnt--;
		table->site_cnt -= object->site_cnt;
		table->link_cnt -= probe_links_cnt(links);
	}
	label_files_retire(table->label_files, object->label_file, clock_now_ns());
	if (object->fd >= 0)
		close(object->fd);
	free(object->path);
	free(object);
	return links;
}

static void close_links(const struct object_table *table, struct probe_links **links, size_t cnt)
{
	if (table->closer)
		link_closer_take(table->closer, links, cnt);
	else
		probe_links_close_several(links, cnt);
}

void object_table_remove(struct object_table *table, struct object *object)
{
	struct probe_links *links = object_take(table, object);

	if (links)
		close_links(table, &links, 1);
}

void object_table_remove_chosen(struct object_table *table, object_choice is_chosen, const void *context)
{
	struct probe_links **links = calloc(table->object_cnt + 1, sizeof(*links));
	struct object *object, *removed = NULL;
	size_t cnt = 0;

	for (size_t i = 0; (object = id_map_next(&table->objects, &i));) {
		if (!is_chosen(context, object))
			continue;
		object->next_removed = removed;
		removed = object;
	}
	while ((object = removed)) {
		struct probe_links *taken;

		removed = object->next_removed;
		taken = object_take(table, object);
		if (taken && links)
			links[cnt++] = taken;
		else if (taken)
			close_links(table, &taken, 1);
	}
	if (links)
		close_links(table, links, cnt);
	free(links);
}
