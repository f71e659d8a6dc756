/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that a process has mapped: /proc/PID/maps, and how to open each of
 * them by what is mapped rather than by name, so that deleted and replaced
 * files and those of other mount namespaces are found.
 */
#ifndef PROC_MAPS_H
#define PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROC_MAPS_BYTES_MAX (64u << 20) /* of the text; what is behind is ignored */

struct proc_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* in the file */
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	bool is_readable;
	bool is_writable;
	bool is_executable;
	bool is_shared;
	bool is_deleted;  /* the path ends with " (deleted)", which has been cut off */
	/* in the process' mount namespace; any bytes may be in it; belongs to the struct proc_maps */
	const char *path;
};

/* File-backed mappings alone, in the order of their addresses. */
struct proc_maps {
	struct proc_mapping *mappings;
	size_t cnt;
	uint64_t otel_context; /* where memory lies that is named OTEL_CTX; 0: nowhere */
	/* through which it was read: the process, or one of its threads if the first one has ended already */
	pid_t pid;
	char *text;
};

/*
 * 0, -ESRCH (gone), -EACCES, -ENOMEM, errors of read. A kernel thread has no
 * mappings. After an error there is nothing to release.
 */
int proc_maps_read(struct proc_maps *maps, pid_t pid);

/*
 * The same with the text from elsewhere. The text of one thread or process,
 * terminated and allocated; -ESRCH, other errors. proc_maps_text() reads it
 * here; what it takes as its context does not matter.
 */
typedef int (*proc_maps_source)(void *context, pid_t pid, char **text);
int proc_maps_read_from(struct proc_maps *maps, pid_t pid, proc_maps_source source, void *context);
int proc_maps_text(void *context, pid_t pid, char **text);

/* The same from the text of such a file; lines that are none are skipped. */
int proc_maps_parse(struct proc_maps *maps, const char *text, size_t length);

void proc_maps_release(struct proc_maps *maps);

/* The mapping that holds the address, or NULL. */
const struct proc_mapping *proc_maps_find(const struct proc_maps *maps, uint64_t address);

/* Memory that the process has made to share, of so many bytes, and not a file. */
bool proc_mapping_is_memory(const struct proc_mapping *mapping, uint64_t bytes);

/*
 * Calls visit once for each file that has an executable mapping, with the first
 * of those. A non-zero return stops and is the result.
 */
typedef int (*proc_object_visit)(void *context, const struct proc_mapping *mapping);
int proc_maps_each_object(const struct proc_maps *maps, proc_object_visit visit, void *context);

/*
 * Opens the mapped file for reading (pid: that of the struct proc_maps): by
 * /proc/PID/map_files, which needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE;
 * else by its path in the process' root, or in ours, if the file there has the
 * same inode number. Returns an fd (close-on-exec). -ESTALE: the path leads to
 * another file now; -EINVAL: not a regular file; other errors of open.
 */
int proc_mapping_open(const struct proc_mapping *mapping, pid_t pid);

#endif
