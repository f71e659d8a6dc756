/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/cgroup_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define HIERARCHY_MAX 64

/* Is the word one of the list's, whose words are separated by commas? */
static bool has_word(const char *list, size_t list_length, const char *word, size_t length)
{
	const char *end = list + list_length;

	while (list < end) {
		const char *comma = memchr(list, ',', (size_t)(end - list));
		size_t word_length = (size_t)((comma ? comma : end) - list);

		if (word_length == length && !memcmp(list, word, length))
			return true;
		list += word_length + 1;
	}
	return false;
}

/*
 * The hierarchy with these options of its mount ("rw,cpu,cpuacct", "rw,xattr,name=systemd"), by the text of
 * /proc/self/cgroup ("4:cpu,cpuacct:/a\n…"). -1: none. Each controller is of one hierarchy, so the first of
 * its names decides.
 */
static int cgroup_hierarchy_of_options(const char *mount_options, const char *own_cgroups)
{
	for (const char *line = own_cgroups; line && *line; line = strchr(line, '\n'), line += line != NULL) {
		char *names, *colon;
		long hierarchy = strtol(line, &names, 10);
		size_t length;

		if (*names != ':' || hierarchy <= 0 || hierarchy >= HIERARCHY_MAX)
			continue;
		names++;
		colon = strchr(names, ':');
		if (!colon)
			continue;
		length = strncmp(names, "name=", 5) ? strcspn(names, ",:\n") : (size_t)(colon - names);
		if (length && has_word(mount_options, strcspn(mount_options, "\n"), names, length))
			return (int)hierarchy;
	}
	return -1;
}

/* The options of the file system itself: what stands last in the line of mountinfo that has this device. */
static char *options_of_device(dev_t device)
{
	unsigned int dev_major, dev_minor;
	char *line = NULL, *options = NULL;
	size_t size = 0;
	FILE *file = fopen("/proc/self/mountinfo", "re");

	while (file && !options && getline(&line, &size, file) > 0) {
		char *last = strrchr(line, ' ');

		if (last && sscanf(line, "%*d %*d %u:%u", &dev_major, &dev_minor) == 2 &&
		    makedev(dev_major, dev_minor) == device)
			options = strdup(last + 1);
	}
	free(line);
	if (file)
		fclose(file);
	return options;
}

static int hierarchy_of_device(dev_t device)
{
	char own[4096] = "", *options = options_of_device(device);
	FILE *file = fopen("/proc/self/cgroup", "re");
	int hierarchy = -1;

	if (file) {
		own[fread(own, 1, sizeof(own) - 1, file)] = '\0';
		fclose(file);
	}
	if (options)
		hierarchy = cgroup_hierarchy_of_options(options, own);
	free(options);
	return hierarchy;
}

static int identify(struct cgroup_identity *identity, int fd, const char *path, struct error *error)
{
	struct statfs system;
	struct stat folder;
	int hierarchy = 0;

	if (fstatfs(fd, &system) || fstat(fd, &folder)) {
		int err = -errno;

		error_set(error, "cannot read the cgroup '%s': %s", path, strerror(-err));
		return err;
	}
	if (system.f_type != CGROUP2_SUPER_MAGIC && system.f_type != CGROUP_SUPER_MAGIC) {
		error_set(error,
			  "'%s' is no cgroup: give its folder, below the place where cgroups are mounted "
			  "(see findmnt -t cgroup,cgroup2)",
			  path);
		return -EINVAL;
	}
	if (system.f_type == CGROUP_SUPER_MAGIC)
		hierarchy = hierarchy_of_device(folder.st_dev);
	if (hierarchy < 0) {
		error_set(error,
			  "cannot find the cgroup hierarchy of '%s' (see /proc/self/cgroup and "
			  "/proc/self/mountinfo)",
			  path);
		return -EINVAL;
	}
	*identity = (struct cgroup_identity){ .id = folder.st_ino, .hierarchy = (uint32_t)hierarchy };
	return 0;
}

int cgroup_identity_of_path(struct cgroup_identity *identity, const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err;

	if (fd < 0) {
		err = -errno;
		error_set(error, "there is no cgroup '%s': %s; give its folder, as /sys/fs/cgroup/NAME", path,
			  strerror(-err));
		return err;
	}
	err = identify(identity, fd, path, error);
	close(fd);
	return err;
}
