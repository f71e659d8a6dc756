/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions that a JIT compiler has made, as it tells them in
 * /tmp/perf-PID.map: lines of address, size (both hexadecimal) and name. The
 * program writes that file, so it may be anything; what is no such line is
 * skipped, and what was told last is right.
 */
#ifndef PERF_MAP_H
#define PERF_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PERF_MAP_BYTES_MAX (16u << 20) /* what is behind is ignored */
#define PERF_MAP_CNT_MAX (1u << 18)
#define PERF_MAP_NAME_MAX 512

struct perf_map_entry {
	uint64_t begin;
	uint64_t end;
	uint32_t order; /* of its line */
	uint32_t name_length;
	const char *name; /* of the struct perf_map; any bytes, not terminated */
};

struct perf_map {
	struct perf_map_entry *entries; /* by begin; they do not overlap */
	size_t cnt;
	char *text;
};

/* Takes the bytes over, also when it fails. 0 or -ENOMEM; then it is empty. */
int perf_map_parse(struct perf_map *map, char *text, size_t length);

/*
 * Of a process, in its own root, mount and pid namespace: the file must be a
 * regular one, and belong to the user of the process, or to root and be
 * readable by everybody. pid: as we see it. -ENOENT: there is none; -ELOOP: a
 * symbolic link is on the way; -EPERM: somebody else's, or no file; -ENOMEM;
 * errors of open and read.
 */
int perf_map_read(struct perf_map *map, pid_t pid);

/* The bytes alone, allocated. Likewise. */
int perf_map_text(pid_t pid, char **text, size_t *length);

void perf_map_release(struct perf_map *map);

/* NULL: in none. */
const struct perf_map_entry *perf_map_find(const struct perf_map *map, uint64_t address);

#endif
