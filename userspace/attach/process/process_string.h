/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A NUL-terminated string out of a process' memory, or out of a file that is
 * mapped there: bounded, and without disturbing the process.
 */
#ifndef PROCESS_STRING_H
#define PROCESS_STRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESS_STRING_MAX 256
#define PROCESS_STRING_PAGE_MAX 4096 /* of a larger page no more is taken */

struct process_string {
	uint32_t length;
	bool is_truncated; /* it goes on, or cannot be read, behind these bytes */
	char bytes[PROCESS_STRING_MAX + 1]; /* one for the NUL while reading */
};

/*
 * From memory, and only from pages that the process has touched: to read
 * another one could make the kernel wait for the process. 0; -EFAULT: nothing
 * can be read there; -ESRCH: the process has ended; -EPERM.
 */
int process_string_from_memory(struct process_string *string, pid_t pid, uint64_t address);

/*
 * What follows in the same page, which was touched when a string was read
 * there: how many bytes, or a negative errno.
 */
ssize_t process_string_rest_of_page(char bytes[PROCESS_STRING_PAGE_MAX], pid_t pid, uint64_t address);

/* So many bytes, of any number of pages, all of them touched. 0, or as above. */
int process_bytes_from_memory(void *bytes, size_t size, pid_t pid, uint64_t address);

/* The string at the begin of these bytes; false: it goes on behind them. */
bool process_string_from_bytes(struct process_string *string, const char *bytes, size_t length);

/*
 * From a file; at most room bytes are the mapping's. Behind the end of the file
 * there are zeros, as in memory. 0 or a negative errno.
 */
int process_string_from_file(struct process_string *string, int fd, uint64_t offset, uint64_t room);

#endif
