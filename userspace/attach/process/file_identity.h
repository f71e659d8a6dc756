/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which file a path or a running program is, in the kernel's own numbers: those
 * of the inode and of the file system that a BPF program sees. The device that
 * stat tells is another one on some file systems (btrfs, overlayfs), so it is
 * looked up in mountinfo.
 */
#ifndef FILE_IDENTITY_H
#define FILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct file_identity {
	uint64_t inode;
	uint64_t device; /* major << 20 | minor, as within the kernel */
};

/* 0, or a negative errno: of open; -EINVAL: no regular file; -ENOENT also: its mount is not to be found. */
int file_identity_of_path(struct file_identity *identity, const char *path);

/* Of what a process runs, whatever has become of its name. -ESRCH: the process has ended; -EACCES. */
int file_identity_of_exe(struct file_identity *identity, pid_t pid);

bool file_identity_is_same(const struct file_identity *a, const struct file_identity *b);

#endif
