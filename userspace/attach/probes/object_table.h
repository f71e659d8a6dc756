/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The objects (executables, libraries, plugins) that were looked at, by the
 * numbers of their mappings: those with probes, attached, and those without.
 * For attach.c alone.
 */
#ifndef OBJECT_TABLE_H
#define OBJECT_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "attach/probes/label_files.h"
#include "attach/probes/link_closer.h"
#include "attach/probes/probe_links.h"
#include "attach/process/proc_maps.h"
#include "base/id_map.h"

struct object {
	struct object *next_removed;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	pid_t pid;        /* for which it is attached; 0: for every process */
	uint64_t seen_ns; /* when it was last found mapped */
	uint64_t open_ns; /* when it was looked at, before anything was attached */
	int fd;           /* -1: it has no probes of ours, or they could not be attached */
	dev_t file_dev;   /* of fd, as stat has it: not always the device that the maps have */
	ino_t file_inode;
	struct probe_links *links;
	size_t site_cnt;
	uint32_t label_file; /* number of the file, if its labels are told by their places; else 0 */
	char *path;
};

struct object_table {
	struct link_closer *closer; /* closes the links of what is removed; NULL: they are closed at once */
	struct label_files *label_files; /* is told which files are removed; may be NULL */
	struct id_map objects; /* inode, owner and device -> struct object */
	size_t object_cnt; /* attached now */
	size_t site_cnt;
	size_t link_cnt;
};

void object_table_init(struct object_table *table);
void object_table_release(struct object_table *table); /* all that was in it has to be removed before */

/* The object of that owner, or NULL. */
struct object *object_table_find(const struct object_table *table, const struct proc_mapping *mapping,
				 pid_t pid);

/* A new one, which is not there yet, without probes; NULL: no memory. */
struct object *object_table_add(struct object_table *table, const struct proc_mapping *mapping, pid_t pid,
				uint64_t open_ns);

/*
 * The attached object of the same owner that has the file open already under
 * another number, which its maps had not shown by then; or NULL.
 */
struct object *object_table_same_file(const struct object_table *table, const struct stat *file, pid_t pid);

/* Gives an object the numbers of the mapping. Without memory for that it keeps the old ones. */
void object_table_rename(struct object_table *table, struct object *object,
			 const struct proc_mapping *mapping);

/* The object takes over what was attached for it. */
void object_table_attached(struct object_table *table, struct object *object, int fd, size_t site_cnt);

/* With its probes. */
void object_table_remove(struct object_table *table, struct object *object);

/* Those that are to go, their probes all at once. */
typedef bool (*object_choice)(const void *context, const struct object *object);
void object_table_remove_chosen(struct object_table *table, object_choice is_chosen, const void *context);

#endif
