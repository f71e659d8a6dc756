/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/file_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The kernel's number of a device. */
static uint64_t file_identity_device(uint32_t dev_major, uint32_t dev_minor)
{
	return (uint64_t)dev_major << 20 | dev_minor;
}

static int mount_of(int fd, int *mount_id)
{
	char path[64], line[256];
	int err = -ENOENT;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (err && fgets(line, sizeof(line), file))
		if (sscanf(line, "mnt_id: %d", mount_id) == 1)
			err = 0;
	fclose(file);
	return err;
}

/*
 * "36 35 98:0 /mnt1 /mnt2 rw,noatime …": the third is the file system's device. Lines are as long as paths
 * are.
 */
static int device_of_mount(pid_t pid, int mount_id, uint64_t *device)
{
	unsigned int dev_major, dev_minor;
	char path[64], *line = NULL;
	size_t size = 0;
	int id, err = -ENOENT;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (err && getline(&line, &size, file) > 0) {
		if (sscanf(line, "%d %*d %u:%u", &id, &dev_major, &dev_minor) != 3 || id != mount_id)
			continue;
		*device = file_identity_device(dev_major, dev_minor);
		err = 0;
	}
	free(line);
	fclose(file);
	return err;
}

/* pid: in whose mount namespace the file was opened. A mount that is gone from it leaves what stat says. */
static int identify(struct file_identity *identity, int fd, pid_t pid)
{
	struct stat file;
	int mount_id;

	if (fstat(fd, &file) < 0)
		return -errno;
	if (!S_ISREG(file.st_mode))
		return -EINVAL;
	identity->inode = file.st_ino;
	identity->device = file_identity_device(major(file.st_dev), minor(file.st_dev));
	if (!mount_of(fd, &mount_id))
		device_of_mount(pid, mount_id, &identity->device);
	return 0;
}

int file_identity_of_path(struct file_identity *identity, const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	int err = fd < 0 ? -errno : identify(identity, fd, getpid());

	if (fd >= 0)
		close(fd);
	return err;
}

int file_identity_of_exe(struct file_identity *identity, pid_t pid)
{
	char path[64];
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	err = identify(identity, fd, pid);
	close(fd);
	return err;
}

bool file_identity_is_same(const struct file_identity *a, const struct file_identity *b)
{
	return a->inode == b->inode && a->device == b->device;
}
