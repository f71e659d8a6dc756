/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/container_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ID_DIGITS 64u
#define UID_LENGTH 36u
#define STATIC_UID_DIGITS 32u
#define TEXT_MAX_BYTES 16384 /* a line for each hierarchy; a path is at most 4096 bytes */

struct part {
	const char *bytes;
	size_t length;
};

static bool is_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static size_t digits_at(const char *bytes, size_t length)
{
	size_t cnt = 0;

	while (cnt < length && is_digit(bytes[cnt]))
		cnt++;
	return cnt;
}

static bool ends_with(const struct part *part, const char *end)
{
	size_t length = strlen(end);

	return part->length >= length && memcmp(part->bytes + part->length - length, end, length) == 0;
}

/* systemd's names end so. */
static void drop_suffix(struct part *part, const char *suffix)
{
	if (ends_with(part, suffix))
		part->length -= strlen(suffix);
}

/*
 * ID, docker-ID.scope, cri-containerd-ID.scope, crio-ID.scope, libpod-ID.scope,
 * SLICE:cri-containerd:ID. What watches a container (crio-conmon-ID.scope) is
 * not in it.
 */
static bool take_container(struct part part, char *container)
{
	const char *id;
	struct part before;

	drop_suffix(&part, ".scope");
	if (part.length < ID_DIGITS)
		return false;
	id = part.bytes + part.length - ID_DIGITS;
	before = (struct part){ part.bytes, part.length - ID_DIGITS };
	if (digits_at(id, ID_DIGITS) != ID_DIGITS ||
	    (before.length && !ends_with(&before, "-") && !ends_with(&before, ":")) ||
	    ends_with(&before, "conmon-"))
		return false;
	memcpy(container, id, ID_DIGITS);
	container[ID_DIGITS] = '\0';
	return true;
}

/* 8-4-4-4-12 digits; systemd has no dashes in the parts of its names, so there they are underscores. */
static bool take_uid(const char *bytes, size_t length, char *pod)
{
	if (length == STATIC_UID_DIGITS && digits_at(bytes, length) == length) {
		memcpy(pod, bytes, length);
		pod[length] = '\0';
		return true;
	}
	if (length != UID_LENGTH)
		return false;
	for (size_t i = 0; i < length; i++) {
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (is_dash ? bytes[i] != '-' && bytes[i] != '_' : !is_digit(bytes[i]))
			return false;
		pod[i] = is_dash ? '-' : bytes[i];
	}
	pod[length] = '\0';
	return true;
}

/* podUID, kubepods-burstable-podUID.slice; a container may follow behind a colon. */
static void take_pod(struct part part, char *pod)
{
	const char *colon = memchr(part.bytes, ':', part.length);
	char uid[UID_LENGTH + 1];

	if (colon)
		part.length = (size_t)(colon - part.bytes);
	drop_suffix(&part, ".slice");
	for (size_t i = 0; i + 3 < part.length; i++)
		if ((i == 0 || part.bytes[i - 1] == '-') && memcmp(part.bytes + i, "pod", 3) == 0 &&
		    take_uid(part.bytes + i + 3, part.length - i - 3, uid))
			strcpy(pod, uid);
}

static void parse_path(struct container_identity *identity, const char *path, size_t length)
{
	while (length) {
		const char *slash = memchr(path, '/', length);
		size_t step = slash ? (size_t)(slash - path) : length;
		struct part part = { path, step };

		take_container(part, identity->container);
		take_pod(part, identity->pod);
		step += slash != NULL;
		path += step;
		length -= step;
	}
}

/* HIERARCHY:CONTROLLERS:PATH; NULL: it is none. */
static const char *path_of(const char *line, size_t length)
{
	const char *first = memchr(line, ':', length), *second;

	second = first ? memchr(first + 1, ':', length - (size_t)(first + 1 - line)) : NULL;
	return second ? second + 1 : NULL;
}

void container_identity_parse(struct container_identity *identity, const char *text, size_t length)
{
	*identity = (struct container_identity){ .container = "" };
	while (length && !identity->container[0]) {
		const char *end = memchr(text, '\n', length);
		size_t step = end ? (size_t)(end - text) : length;
		const char *path = path_of(text, step);

		if (path)
			parse_path(identity, path, step - (size_t)(path - text));
		step += end != NULL;
		text += step;
		length -= step;
	}
}

int container_identity_read(struct container_identity *identity, pid_t pid)
{
	char text[TEXT_MAX_BYTES];
	size_t length = 0;
	ssize_t got = 0;
	int fd;

	*identity = (struct container_identity){ .container = "" };
	snprintf(text, sizeof(text), "/proc/%d/cgroup", pid);
	fd = open(text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (length < sizeof(text) && (got = read(fd, text + length, sizeof(text) - length)) > 0)
		length += (size_t)got;
	got = got < 0 ? -errno : 0;
	close(fd);
	if (!got)
		container_identity_parse(identity, text, length);
	return (int)got;
}
