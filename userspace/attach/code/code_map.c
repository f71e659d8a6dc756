/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/code/code_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/process/proc_status.h"
#include "attach/process/process_reader.h"
#include "base/id_map.h"

struct code_mapping {
	uint64_t begin;
	uint64_t end;
	uint64_t offset;
	struct code_file *file; /* NULL: no room for one more */
};

/* What one exec made. */
struct image {
	struct code_mapping *mappings; /* by address */
	size_t cnt;
	uint64_t number; /* of struct proc_status; 0: none yet */
};

struct process {
	uint32_t tgid;
	uint64_t used_at; /* in turns of the map */
	struct image now;
	struct image next;   /* seen in /proc already; its exec is yet to be told */
	struct image before; /* the last exec */
	uint64_t exec_ns;
	uint64_t look_ns;
};

struct code_map {
	struct process_reader *reader;
	struct unwinder *unwinder;
	struct id_map processes; /* by tgid */
	struct id_map files;     /* by device and inode */
	uint32_t file_cnt;
	bool is_full; /* and one more came */
	uint64_t turn;
};

struct code_map *code_map_new(void)
{
	struct code_map *map = calloc(1, sizeof(*map));

	if (!map)
		return NULL;
	id_map_init(&map->processes);
	id_map_init(&map->files);
	return map;
}

void code_map_set_reader(struct code_map *map, struct process_reader *reader)
{
	map->reader = reader;
}

void code_map_set_unwinder(struct code_map *map, struct unwinder *unwinder)
{
	map->unwinder = unwinder;
}

static void process_free(struct process *process)
{
	free(process->now.mappings);
	free(process->next.mappings);
	free(process->before.mappings);
	free(process);
}

void code_map_free(struct code_map *map)
{
	struct process *process;
	struct code_file *file;

	if (!map)
		return;
	for (size_t i = 0; (process = id_map_next(&map->processes, &i));)
		process_free(process);
	for (size_t i = 0; (file = id_map_next(&map->files, &i));)
		code_file_free(file);
	id_map_release(&map->processes);
	id_map_release(&map->files);
	free(map);
}

/* NULL: it is not known. */
static struct process *known_process(struct code_map *map, uint32_t tgid)
{
	struct process *process = id_map_get(&map->processes, tgid, 0);

	if (process)
		process->used_at = ++map->turn;
	return process;
}

static void drop_oldest(struct code_map *map)
{
	struct process *oldest = NULL, *process;

	for (size_t i = 0; (process = id_map_next(&map->processes, &i));)
		if (!oldest || process->used_at < oldest->used_at)
			oldest = process;
	id_map_remove(&map->processes, oldest->tgid, 0);
	process_free(oldest);
}

/* NULL: no memory. */
static struct process *process_of(struct code_map *map, uint32_t tgid)
{
	struct process *process = known_process(map, tgid);

	if (process)
		return process;
	if (map->processes.cnt >= CODE_MAP_PROCESS_MAX)
		drop_oldest(map);
	process = calloc(1, sizeof(*process));
	if (!process || id_map_put(&map->processes, tgid, 0, process)) {
		free(process);
		return NULL;
	}
	process->tgid = tgid;
	process->used_at = ++map->turn;
	return process;
}

/* NULL: there is no room, or it can't be opened. */
static struct code_file *file_of(struct code_map *map, const struct proc_mapping *mapping, pid_t pid)
{
	uint64_t device = (uint64_t)mapping->dev_major << 32 | mapping->dev_minor;
	struct code_file *file = id_map_get(&map->files, device, mapping->inode);
	int fd;

	if (file)
		return file;
	if (map->file_cnt >= CODE_MAP_FILE_MAX) {
		map->is_full = true;
		return NULL;
	}
	fd = process_reader_open(map->reader, mapping, pid);
	if (fd < 0)
		return NULL;
	file = map->unwinder ? code_file_new_outside(map->unwinder, map->file_cnt, fd, mapping->path)
			     : code_file_new(map->file_cnt, fd, mapping->path);
	if (!file) {
		close(fd);
		return NULL;
	}
	if (id_map_put(&map->files, device, mapping->inode, file)) {
		code_file_free(file);
		return NULL;
	}
	map->file_cnt++;
	return file;
}

static int take_mappings(struct code_map *map, struct image *image, const struct proc_maps *maps)
{
	struct code_mapping *mappings = calloc(maps->cnt < CODE_MAP_MAPPING_MAX ? maps->cnt + 1
										: CODE_MAP_MAPPING_MAX,
					       sizeof(*mappings));

	if (!mappings)
		return -ENOMEM;
	free(image->mappings);
	image->mappings = mappings;
	image->cnt = 0;
	for (size_t i = 0; i < maps->cnt && image->cnt < CODE_MAP_MAPPING_MAX; i++) {
		const struct proc_mapping *mapping = &maps->mappings[i];

		if (mapping->is_executable)
			mappings[image->cnt++] = (struct code_mapping){ mapping->start, mapping->end,
									mapping->offset,
									file_of(map, mapping, maps->pid) };
	}
	return 0;
}

int code_map_look(struct code_map *map, uint32_t tgid, uint64_t now_ns)
{
	struct process *process = process_of(map, tgid);
	struct proc_status status;
	struct proc_maps maps;
	struct image *image;
	int err;

	if (!process)
		return 0;
	process->look_ns = now_ns;
	if (proc_status_read(&status, (pid_t)tgid) || process_reader_maps(map->reader, &maps, (pid_t)tgid))
		return 0;
	image = process->now.number && process->now.number != status.image ? &process->next : &process->now;
	err = maps.cnt > 0 ? take_mappings(map, image, &maps) : 0;
	if (!err && maps.cnt > 0)
		image->number = status.image;
	proc_maps_release(&maps);
	return err;
}

int code_map_fork(struct code_map *map, uint32_t parent_tgid, uint32_t child_tgid)
{
	struct process *parent = known_process(map, parent_tgid),
		       *child = parent ? process_of(map, child_tgid) : NULL;
	struct code_mapping *copy;

	if (!child || child == parent || child->now.number)
		return 0;
	copy = calloc(parent->now.cnt + 1, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	if (parent->now.cnt > 0)
		memcpy(copy, parent->now.mappings, parent->now.cnt * sizeof(*copy));
	free(child->now.mappings);
	child->now = (struct image){ copy, parent->now.cnt, parent->now.number };
	return 0;
}

void code_map_exec(struct code_map *map, uint32_t tgid, uint64_t exec_ns)
{
	struct process *process = known_process(map, tgid);

	if (!process || exec_ns <= process->exec_ns)
		return;
	free(process->before.mappings);
	process->before = process->now;
	process->now = process->next;
	process->next = (struct image){ 0 };
	process->exec_ns = exec_ns;
	process->look_ns = 0;
}

bool code_map_is_full(const struct code_map *map)
{
	return map->is_full;
}

static const struct code_mapping *find_mapping(const struct image *image, uint64_t address)
{
	size_t low = 0, high = image->cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (address >= image->mappings[middle].end)
			low = middle + 1;
		else if (address < image->mappings[middle].begin)
			high = middle;
		else
			return &image->mappings[middle];
	}
	return NULL;
}

struct code_place code_map_find(struct code_map *map, const struct code_moment *moment, uint64_t address,
				bool may_look)
{
	struct process *process = may_look ? process_of(map, moment->tgid) : known_process(map, moment->tgid);
	struct code_place place = { .kind = CODE_UNKNOWN, .address = address };
	const struct code_mapping *mapping;
	const struct image *image;

	if (!process)
		return place;
	image = moment->event_ns < process->exec_ns ? &process->before : &process->now;
	mapping = find_mapping(image, address);
	if (!mapping && may_look && image == &process->now &&
	    (!process->look_ns || moment->now_ns - process->look_ns >= CODE_MAP_LOOK_NS)) {
		code_map_look(map, moment->tgid, moment->now_ns);
		mapping = find_mapping(image, address);
	}
	if (mapping && mapping->file &&
	    code_file_address(mapping->file, mapping->offset + (address - mapping->begin), &place.address)) {
		place.kind = CODE_FILE;
		place.file = mapping->file;
	} else if (!mapping && image->number) {
		place.kind = CODE_NO_FILE;
	}
	return place;
}
