/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/program_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/process/proc_status.h"
#include "attach/process/process_reader.h"
#include "base/id_map.h"

#define CHUNK_BYTES 16384

_Static_assert(PROGRAM_LABEL_BYTES_MAX == PROCESS_STRING_MAX, "a label is as long as what is read of it");

/* A file that is mapped somewhere, open once. */
struct mapped_file {
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	int fd; /* -1: free */
	uint32_t ref_cnt;
};

struct saved_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint32_t file_idx;
	bool is_writable;
};

struct label {
	const char *bytes;
	char *room; /* of one that is copied, for PROGRAM_LABEL_BYTES_MAX; else NULL */
	uint16_t length;
	bool is_truncated;
	bool is_unreadable;
};

/* The label itself, and its slots in a map that is a quarter full when it has just grown. */
#define LABEL_BYTES (sizeof(struct label) + 4 * sizeof(struct id_map_slot))

struct chunk {
	struct chunk *next;
	size_t used;
	char bytes[CHUNK_BYTES];
};

struct image {
	struct image *newer;
	uint64_t number; /* 0: nothing was noted of it yet */
	uint64_t noted_ns;
	struct saved_mapping *mappings; /* sorted, do not overlap */
	size_t mapping_cnt;
	size_t mapping_capacity;
	struct id_map labels; /* address, 0 -> struct label */
	struct chunk *chunks;
	uint32_t look_cnt;
};

struct program {
	uint32_t tgid;
	struct image *oldest; /* the current one */
};

struct program_memory {
	struct process_reader *reader;
	struct id_map programs; /* tgid, 0 -> struct program */
	struct mapped_file files[PROGRAM_FILE_CNT_MAX];
	size_t bytes; /* of strings and tables */
	struct program_memory_stats stats;
};

struct program_memory *program_memory_new(struct process_reader *reader)
{
	struct program_memory *memory = calloc(1, sizeof(*memory));

	if (!memory)
		return NULL;
	memory->reader = reader;
	id_map_init(&memory->programs);
	for (size_t i = 0; i < PROGRAM_FILE_CNT_MAX; i++)
		memory->files[i].fd = -1;
	return memory;
}

/* Of the memory that is counted: changes the count, unless that would go beyond the limit. */
static bool account(struct program_memory *memory, size_t add, size_t release)
{
	if (add > release && memory->bytes + (add - release) > PROGRAM_MEMORY_BYTES_MAX)
		return false;
	memory->bytes += add - release;
	return true;
}

/* Room for `length` bytes that stay where they are; NULL: none, or the limit is met. */
static char *image_bytes(struct program_memory *memory, struct image *image, size_t length)
{
	struct chunk *chunk = image->chunks;

	if (!chunk || sizeof(chunk->bytes) - chunk->used < length) {
		if (!account(memory, sizeof(*chunk), 0))
			return NULL;
		chunk = malloc(sizeof(*chunk));
		if (!chunk) {
			account(memory, 0, sizeof(*chunk));
			return NULL;
		}
		chunk->used = 0;
		chunk->next = image->chunks;
		image->chunks = chunk;
	}
	chunk->used += length;
	return chunk->bytes + chunk->used - length;
}

/* ---- files ---- */

static int file_find(const struct program_memory *memory, const struct proc_mapping *mapping)
{
	for (int i = 0; i < PROGRAM_FILE_CNT_MAX; i++) {
		const struct mapped_file *file = &memory->files[i];

		if (file->fd >= 0 && file->inode == mapping->inode && file->dev_major == mapping->dev_major &&
		    file->dev_minor == mapping->dev_minor)
			return i;
	}
	return -ENOENT;
}

/* The index of the mapped file, made if it is new; a negative errno. */
static int file_take(struct program_memory *memory, const struct proc_mapping *mapping, int fd)
{
	int idx = file_find(memory, mapping);

	if (idx >= 0) {
		memory->files[idx].ref_cnt++;
		return idx;
	}
	for (idx = 0; idx < PROGRAM_FILE_CNT_MAX && memory->files[idx].fd >= 0; idx++)
		;
	if (idx == PROGRAM_FILE_CNT_MAX)
		return -ENOSPC;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	memory->files[idx] = (struct mapped_file){
		.inode = mapping->inode,
		.dev_major = mapping->dev_major,
		.dev_minor = mapping->dev_minor,
		.fd = fd,
		.ref_cnt = 1,
	};
	return idx;
}

static void file_drop(struct program_memory *memory, uint32_t idx)
{
	struct mapped_file *file = &memory->files[idx];

	if (--file->ref_cnt > 0)
		return;
	close(file->fd);
	file->fd = -1;
}

/* ---- images ---- */

static void image_free(struct program_memory *memory, struct image *image)
{
	struct chunk *chunk;
	struct label *label;

	for (size_t i = 0; i < image->mapping_cnt; i++)
		file_drop(memory, image->mappings[i].file_idx);
	for (size_t i = 0; (label = id_map_next(&image->labels, &i));)
		free(label);
	while ((chunk = image->chunks)) {
		image->chunks = chunk->next;
		account(memory, 0, sizeof(*chunk));
		free(chunk);
	}
	account(memory, 0,
		image->mapping_capacity * sizeof(*image->mappings) + image->labels.cnt * LABEL_BYTES +
			sizeof(*image));
	free(image->mappings);
	id_map_release(&image->labels);
	free(image);
}

static struct image *image_new(struct program_memory *memory)
{
	struct image *image;

	if (!account(memory, sizeof(*image), 0))
		return NULL;
	image = calloc(1, sizeof(*image));
	if (image)
		id_map_init(&image->labels);
	else
		account(memory, 0, sizeof(*image));
	return image;
}

/* The first mapping that ends behind the address. */
static size_t mapping_idx(const struct image *image, uint64_t address)
{
	size_t low = 0, high = image->mapping_cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (address >= image->mappings[middle].end)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct saved_mapping *mapping_find(const struct image *image, uint64_t address)
{
	size_t idx = mapping_idx(image, address);

	return idx < image->mapping_cnt && image->mappings[idx].start <= address ? &image->mappings[idx]
										 : NULL;
}

static bool mappings_grow(struct program_memory *memory, struct image *image)
{
	size_t capacity = image->mapping_capacity ? image->mapping_capacity * 2 : 8;
	size_t size = sizeof(*image->mappings);
	struct saved_mapping *grown;

	if (image->mapping_cnt < image->mapping_capacity)
		return true;
	if (capacity > PROGRAM_MAPPING_CNT_MAX ||
	    !account(memory, capacity * size, image->mapping_capacity * size))
		return false;
	grown = reallocarray(image->mappings, capacity, size);
	if (!grown) {
		account(memory, image->mapping_capacity * size, capacity * size);
		return false;
	}
	image->mappings = grown;
	image->mapping_capacity = capacity;
	return true;
}

static bool is_noted(const struct program_memory *memory, const struct image *image,
		     const struct proc_mapping *mapping)
{
	const struct saved_mapping *saved = mapping_find(image, mapping->start);

	return saved && saved->start == mapping->start && saved->end == mapping->end &&
	       saved->offset == mapping->offset && saved->is_writable == mapping->is_writable &&
	       (int)saved->file_idx == file_find(memory, mapping);
}

/* What was mapped there before is no longer. */
static int mapping_insert(struct program_memory *memory, struct image *image,
			  const struct proc_mapping *mapping, int fd)
{
	size_t first = mapping_idx(image, mapping->start), behind = first;
	int file_idx;

	if (is_noted(memory, image, mapping))
		return 0;
	if (!mappings_grow(memory, image))
		return -ENOSPC;
	file_idx = file_take(memory, mapping, fd);
	if (file_idx < 0)
		return file_idx;
	while (behind < image->mapping_cnt && image->mappings[behind].start < mapping->end)
		file_drop(memory, image->mappings[behind++].file_idx);
	memmove(&image->mappings[first + 1], &image->mappings[behind],
		(image->mapping_cnt - behind) * sizeof(*image->mappings));
	image->mapping_cnt = image->mapping_cnt + 1 - (behind - first);
	image->mappings[first] = (struct saved_mapping){
		.start = mapping->start,
		.end = mapping->end,
		.offset = mapping->offset,
		.file_idx = (uint32_t)file_idx,
		.is_writable = mapping->is_writable,
	};
	return 0;
}

/* ---- programs ---- */

/* NULL: it is not known. */
static struct program *program_find(const struct program_memory *memory, uint32_t tgid)
{
	return id_map_get(&memory->programs, tgid, 0);
}

static struct program *program_new(struct program_memory *memory, uint32_t tgid)
{
	struct program *program;

	if (!account(memory, sizeof(*program), 0))
		return NULL;
	program = calloc(1, sizeof(*program));
	if (program && !id_map_put(&memory->programs, tgid, 0, program)) {
		program->tgid = tgid;
		return program;
	}
	free(program);
	account(memory, 0, sizeof(*program));
	return NULL;
}

/* The program, made if it is new, with at least one image; NULL: no memory, or the limit is met. */
static struct program *program_get(struct program_memory *memory, uint32_t tgid)
{
	struct program *program = program_find(memory, tgid);

	if (!program)
		program = program_new(memory, tgid);
	if (program && !program->oldest)
		program->oldest = image_new(memory);
	return program && program->oldest ? program : NULL;
}

/*
 * The image of that number, made if it is new: the newest then. The first that is noted of a program is what
 * was there all along.
 */
static struct image *program_image(struct program_memory *memory, struct program *program, uint64_t number)
{
	struct image *image = program->oldest;

	while (image->number != number && image->newer)
		image = image->newer;
	if (image->number != number && image->number != 0) {
		image->newer = image_new(memory);
		image = image->newer;
	}
	if (image)
		image->number = number;
	return image;
}

int program_memory_note_mapping(struct program_memory *memory, uint32_t tgid, uint64_t image_number,
				uint64_t now_ns, const struct proc_mapping *mapping, int fd)
{
	struct program *program = program_get(memory, tgid);
	struct image *image = program ? program_image(memory, program, image_number) : NULL;

	if (!image)
		return -ENOMEM;
	image->noted_ns = now_ns;
	return mapping->is_readable ? mapping_insert(memory, image, mapping, fd) : 0;
}

/* A copy of what is known of the parent's memory. */
static int copy_image(struct program_memory *memory, struct image *image, const struct image *from,
		      uint64_t fork_ns)
{
	if (!account(memory, from->mapping_cnt * sizeof(*from->mappings), 0))
		return -ENOMEM;
	image->mappings = reallocarray(NULL, from->mapping_cnt, sizeof(*from->mappings));
	if (!image->mappings) {
		account(memory, 0, from->mapping_cnt * sizeof(*from->mappings));
		return -ENOMEM;
	}
	memcpy(image->mappings, from->mappings, from->mapping_cnt * sizeof(*from->mappings));
	image->mapping_cnt = image->mapping_capacity = from->mapping_cnt;
	image->number = from->number;
	/* whenever the parent was looked at: what the child has exec'd since is newer */
	image->noted_ns = fork_ns;
	for (size_t i = 0; i < image->mapping_cnt; i++)
		memory->files[image->mappings[i].file_idx].ref_cnt++;
	return 0;
}

int program_memory_note_fork(struct program_memory *memory, uint32_t parent_tgid, uint32_t child_tgid,
			     uint64_t fork_ns)
{
	const struct program *parent = program_find(memory, parent_tgid);
	const struct image *from = parent ? parent->oldest : NULL;
	struct program *child;
	struct image *image;
	int err;

	program_memory_forget(memory, child_tgid, fork_ns);
	if (!from || from->mapping_cnt == 0)
		return 0;
	child = program_get(memory, child_tgid);
	if (!child)
		return -ENOMEM;
	if (child->oldest && child->oldest->number == from->number && child->oldest->mapping_cnt)
		return 0;
	image = child->oldest && !child->oldest->mapping_cnt ? child->oldest : image_new(memory);
	err = image ? copy_image(memory, image, from, fork_ns) : -ENOMEM;
	if (image && image != child->oldest) {
		if (err) {
			image_free(memory, image);
			return err;
		}
		image->newer = child->oldest;
		child->oldest = image;
	}
	return err;
}

void program_memory_invalidate(struct program_memory *memory, uint32_t tgid, uint64_t exec_ns)
{
	struct program *program = program_find(memory, tgid);

	while (program && program->oldest && program->oldest->noted_ns < exec_ns) {
		struct image *image = program->oldest;

		program->oldest = image->newer;
		image_free(memory, image);
	}
}

void program_memory_forget(struct program_memory *memory, uint32_t tgid, uint64_t end_ns)
{
	struct program *program = program_find(memory, tgid);

	if (!program)
		return;
	program_memory_invalidate(memory, tgid, end_ns);
	if (program->oldest)
		return;
	free(id_map_remove(&memory->programs, tgid, 0));
	account(memory, 0, sizeof(*program));
}

void program_memory_free(struct program_memory *memory)
{
	struct program *program;

	if (!memory)
		return;
	for (size_t i = 0; (program = id_map_next(&memory->programs, &i));) {
		program_memory_invalidate(memory, program->tgid, UINT64_MAX);
		free(program);
	}
	id_map_release(&memory->programs);
	free(memory);
}

/* ---- labels ---- */

static int read_mapped(const struct program_memory *memory, const struct saved_mapping *mapping,
		       uint64_t address, struct process_string *string)
{
	return process_string_from_file(string, memory->files[mapping->file_idx].fd,
					mapping->offset + (address - mapping->start), mapping->end - address);
}

/*
 * The mapping that holds the address. If nobody noted it (a plugin that was loaded again elsewhere): looks
 * now, if the program is still the same.
 */
static const struct saved_mapping *mapping_get(struct program_memory *memory, uint32_t tgid,
					       struct image *image, uint64_t address)
{
	const struct saved_mapping *known = mapping_find(image, address);
	const struct proc_mapping *mapping;
	struct proc_status status;
	struct proc_maps maps;
	int fd;

	if (known || image->newer || tgid & PROGRAM_IS_FILE || image->look_cnt >= PROGRAM_LOOK_CNT_MAX)
		return known;
	image->look_cnt++;
	if (process_reader_maps(memory->reader, &maps, (pid_t)tgid))
		return NULL;
	mapping = proc_maps_find(&maps, address);
	if (mapping && mapping->is_readable && proc_status_read(&status, (pid_t)tgid) == 0 &&
	    (image->number == 0 || image->number == status.image)) {
		fd = process_reader_open(memory->reader, mapping, maps.pid);
		if (fd >= 0) {
			mapping_insert(memory, image, mapping, fd);
			close(fd);
		}
	}
	proc_maps_release(&maps);
	return mapping_find(image, address);
}

static int read_label(struct program_memory *memory, uint32_t tgid, struct image *image, uint64_t address,
		      struct process_string *string)
{
	const struct saved_mapping *mapping = mapping_get(memory, tgid, image, address);
	int err = -EFAULT;

	if (mapping && !mapping->is_writable)
		err = read_mapped(memory, mapping, address, string);
	if (err && !image->newer && !(tgid & PROGRAM_IS_FILE))
		err = process_reader_string(memory->reader, string, (pid_t)tgid, address);
	if (err && mapping && mapping->is_writable)
		err = read_mapped(memory, mapping, address, string);
	return err;
}

static void label_fill(struct label *label, const struct process_string *string, char *bytes)
{
	memcpy(bytes, string->bytes, string->length);
	label->bytes = bytes;
	label->length = (uint16_t)string->length;
	label->is_truncated = string->is_truncated;
	label->is_unreadable = false;
}

static void label_text(const struct label *label, struct event_text *out)
{
	*out = (struct event_text){ .bytes = "" };
	out->is_unreadable = label->is_unreadable;
	if (label->is_unreadable)
		return;
	out->bytes = label->bytes;
	out->length = label->length;
	out->is_truncated = label->is_truncated;
}

/* A label that is not in the table yet, unreadable so far. NULL: the limit is met, or no memory. */
static struct label *label_make(struct program_memory *memory, struct image *image, uint64_t address)
{
	bool has_room = image->labels.cnt < PROGRAM_LABEL_CNT_MAX && account(memory, LABEL_BYTES, 0);
	struct label *label = has_room ? calloc(1, sizeof(*label)) : NULL;

	memory->stats.label_cnt++;
	if (label && !id_map_put(&image->labels, address, 0, label)) {
		*label = (struct label){ .bytes = "", .is_unreadable = true };
		return label;
	}
	free(label);
	account(memory, 0, has_room ? LABEL_BYTES : 0);
	memory->stats.refused_cnt++;
	memory->stats.unreadable_cnt++;
	return NULL;
}

/* Also if it cannot be read: it is not tried again. */
static int label_add(struct program_memory *memory, uint32_t tgid, struct image *image, uint64_t address,
		     struct event_text *out)
{
	struct process_string string = { 0 };
	struct label *label = label_make(memory, image, address);
	char *bytes;

	if (!label)
		return image->labels.cnt >= PROGRAM_LABEL_CNT_MAX ? 0 : -ENOMEM;
	if (read_label(memory, tgid, image, address, &string) == 0) {
		bytes = image_bytes(memory, image, string.length);
		memory->stats.refused_cnt += !bytes;
		if (bytes)
			label_fill(label, &string, bytes);
	}
	memory->stats.unreadable_cnt += label->is_unreadable;
	label_text(label, out);
	return 0;
}

/* Counts a string of a program for which there is no memory. */
static int refuse(struct program_memory *memory)
{
	memory->stats.label_cnt++;
	memory->stats.unreadable_cnt++;
	memory->stats.refused_cnt++;
	return -ENOMEM;
}

int program_memory_label(struct program_memory *memory, uint32_t tgid, uint64_t address,
			 struct event_text *out)
{
	const struct label *label;
	struct program *program;

	*out = (struct event_text){ .bytes = "" };
	if (!address)
		return 0;
	out->is_unreadable = true;
	program = program_get(memory, tgid);
	if (!program)
		return refuse(memory);
	label = id_map_get(&program->oldest->labels, address, 0);
	if (!label)
		return label_add(memory, tgid, program->oldest, address, out);
	label_text(label, out);
	return 0;
}

/* What was copied; of what could not be, the literal. False: it is unreadable. */
static bool copied_string(struct program_memory *memory, uint32_t tgid, struct image *image,
			  uint64_t address, const struct event_text *text, struct process_string *string)
{
	const struct saved_mapping *mapping;

	if (text->is_unreadable) {
		mapping = mapping_get(memory, tgid, image, address);
		return mapping && !mapping->is_writable &&
		       read_mapped(memory, mapping, address, string) == 0;
	}
	string->is_truncated = text->is_truncated || text->length > PROGRAM_LABEL_BYTES_MAX;
	string->length = text->length > PROGRAM_LABEL_BYTES_MAX ? PROGRAM_LABEL_BYTES_MAX : text->length;
	memcpy(string->bytes, text->bytes, string->length);
	return true;
}

int program_memory_note_copy(struct program_memory *memory, uint32_t tgid, uint64_t address,
			     const struct event_text *text)
{
	struct program *program = program_get(memory, tgid);
	struct process_string string = { 0 };
	struct label *label;

	if (!program)
		return refuse(memory);
	label = id_map_get(&program->oldest->labels, address, 0);
	if (!label)
		label = label_make(memory, program->oldest, address);
	if (!label)
		return -ENOMEM;
	label->is_unreadable = true;
	if (!label->room)
		label->room = image_bytes(memory, program->oldest, PROGRAM_LABEL_BYTES_MAX);
	memory->stats.refused_cnt += !label->room;
	if (label->room && copied_string(memory, tgid, program->oldest, address, text, &string))
		label_fill(label, &string, label->room);
	memory->stats.unreadable_cnt += label->is_unreadable;
	return label->room ? 0 : -ENOMEM;
}

int program_memory_literal(struct program_memory *memory, uint32_t tgid, uint64_t address,
			   struct event_text *out)
{
	struct program *program = address ? program_get(memory, tgid) : NULL;
	const struct saved_mapping *mapping = program ? mapping_get(memory, tgid, program->oldest, address)
						      : NULL;

	*out = (struct event_text){ .bytes = "", .is_unreadable = true };
	return mapping && !mapping->is_writable ? program_memory_label(memory, tgid, address, out) : 0;
}

void program_memory_stats(const struct program_memory *memory, struct program_memory_stats *stats)
{
	*stats = memory->stats;
}
