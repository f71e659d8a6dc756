/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/object_table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

struct object **object_table_slot(struct object_table *table, const struct proc_mapping *mapping, pid_t pid)
{
	uint64_t hash = (mapping->inode ^ (uint64_t)pid << 32 ^ mapping->dev_minor) * 0x9e3779b97f4a7c15ull;
	struct object **slot = &table->buckets[hash >> 52 & (OBJECT_BUCKET_CNT - 1)];

	while (*slot && !((*slot)->inode == mapping->inode && (*slot)->dev_major == mapping->dev_major &&
			  (*slot)->dev_minor == mapping->dev_minor && (*slot)->pid == pid))
		slot = &(*slot)->next;
	return slot;
}

struct object *object_table_add(struct object **slot, const struct proc_mapping *mapping, pid_t pid,
				uint64_t open_ns)
{
	struct object *object = calloc(1, sizeof(*object));
	char *path = strdup(mapping->path);

	if (!object || !path) {
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
	object->next = *slot;
	*slot = object;
	return object;
}

struct object **object_table_same_file(struct object_table *table, const struct stat *file, pid_t pid)
{
	for (size_t i = 0; i < OBJECT_BUCKET_CNT; i++)
		for (struct object **slot = &table->buckets[i]; *slot; slot = &(*slot)->next)
			if ((*slot)->fd >= 0 && (*slot)->file_inode == file->st_ino &&
			    (*slot)->file_dev == file->st_dev && (*slot)->pid == pid)
				return slot;
	return NULL;
}

void object_table_rename(struct object_table *table, struct object **slot, const struct proc_mapping *mapping)
{
	struct object *object = *slot;

	*slot = object->next;
	object->inode = mapping->inode;
	object->dev_major = mapping->dev_major;
	object->dev_minor = mapping->dev_minor;
	slot = object_table_slot(table, mapping, object->pid);
	object->next = *slot;
	*slot = object;
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
static struct probe_links *object_take(struct object_table *table, struct object **slot)
{
	struct object *object = *slot;
	struct probe_links *links = object->links;

	*slot = object->next;
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

void object_table_remove(struct object_table *table, struct object **slot)
{
	struct probe_links *links = object_take(table, slot);

	if (links)
		close_links(table, &links, 1);
}

void object_table_remove_chosen(struct object_table *table, object_choice is_chosen, const void *context)
{
	struct probe_links **links = calloc(table->object_cnt + 1, sizeof(*links));
	size_t cnt = 0;

	for (size_t i = 0; i < OBJECT_BUCKET_CNT; i++) {
		struct object **slot = &table->buckets[i];

		while (*slot) {
			struct probe_links *taken;

			if (!is_chosen(context, *slot)) {
				slot = &(*slot)->next;
				continue;
			}
			taken = object_take(table, slot);
			if (taken && links)
				links[cnt++] = taken;
			else if (taken)
				close_links(table, &taken, 1);
		}
	}
	if (links)
		close_links(table, links, cnt);
	free(links);
}
