/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/fd_name.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/process/socket_name.h"

/* A host with more sockets than fit in here has them named "socket". */
#define TABLE_BYTES_MAX (1u << 20)

static const char *const tables[] = { "tcp", "tcp6", "unix", "udp", "udp6" };

/* ---- sockets, by the tables of /proc ---- */

/* "0100007F:1F90": four bytes in the host's order; IPv6: four of these. */
static bool parse_address(const char *text, char *address, size_t size)
{
	size_t digits = strspn(text, "0123456789ABCDEF"), words = digits / 8;
	char plain[INET6_ADDRSTRLEN];
	uint32_t bytes[4];
	unsigned int port;

	if ((digits != 8 && digits != 32) || text[digits] != ':' ||
	    sscanf(text + digits + 1, "%4X", &port) != 1)
		return false;
	for (size_t i = 0; i < words; i++)
		if (sscanf(text + 8 * i, "%8" SCNx32, &bytes[i]) != 1)
			return false;
	if (!inet_ntop(words == 1 ? AF_INET : AF_INET6, bytes, plain, sizeof(plain)))
		return false;
	snprintf(address, size, words == 1 ? "%s:%u" : "[%s]:%u", plain, port);
	return true;
}

/* sl local remote state queues timer retransmits uid timeout inode … */
static bool is_internet_socket(const char *line, const char *table, uint64_t inode, char *name)
{
	char local_text[64], remote_text[64], local[80], remote[80];
	uint64_t found;

	if (sscanf(line, " %*d: %63s %63s %*x %*s %*s %*s %*u %*d %" SCNu64, local_text, remote_text,
		   &found) != 3 ||
	    found != inode || !parse_address(local_text, local, sizeof(local)) ||
	    !parse_address(remote_text, remote, sizeof(remote)))
		return false;
	if (strcmp(remote + strlen(remote) - 2, ":0") == 0)
		snprintf(name, FD_NAME_SIZE, "%.3s %s", table, local);
	else
		snprintf(name, FD_NAME_SIZE, "%.3s %s > %s", table, local, remote);
	return true;
}

/* num: refs protocol flags type state inode [path] */
static bool is_unix_socket(const char *line, uint64_t inode, char *name)
{
	uint64_t found;
	int end = 0;

	if (sscanf(line, "%*x: %*x %*x %*x %*x %*x %" SCNu64 "%n", &found, &end) != 1 || found != inode)
		return false;
	line += end;
	snprintf(name, FD_NAME_SIZE, "unix%.*s", (int)strcspn(line, "\n"), line);
	return true;
}

int fd_name_of_socket(const char *table, const char *text, uint64_t inode, char name[FD_NAME_SIZE])
{
	bool is_unix = strcmp(table, "unix") == 0;

	for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
		char one[1024];

		snprintf(one, sizeof(one), "%.*s", (int)strcspn(line + 1, "\n"), line + 1);
		if (is_unix ? is_unix_socket(one, inode, name) : is_internet_socket(one, table, inode, name))
			return 0;
	}
	return -ENOENT;
}

/* All that fits, terminated. To be freed. */
static char *read_table(pid_t pid, const char *table)
{
	char path[64], *text = malloc(TABLE_BYTES_MAX + 1);
	size_t length = 0;
	ssize_t got = 1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", pid, table);
	fd = text ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	while (fd >= 0 && got > 0 && length < TABLE_BYTES_MAX) {
		got = read(fd, text + length, TABLE_BYTES_MAX - length);
		length += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	if (text)
		text[length] = '\0';
	return text;
}

static void name_socket_by_table(pid_t pid, uint64_t inode, char name[FD_NAME_SIZE])
{
	int err = -ENOENT;

	for (size_t i = 0; err && i < sizeof(tables) / sizeof(tables[0]); i++) {
		char *text = read_table(pid, tables[i]);

		if (text)
			err = fd_name_of_socket(tables[i], text, inode, name);
		free(text);
	}
	if (err)
		snprintf(name, FD_NAME_SIZE, "socket");
}

/* ---- sockets ---- */

static void name_socket(const struct socket_source *sockets, pid_t pid, uint32_t fd, uint64_t inode,
			char name[FD_NAME_SIZE])
{
	struct wire_socket socket;
	int err = sockets ? sockets->look(sockets->context, pid, fd, inode, &socket) : -EOPNOTSUPP;

	if (!err)
		socket_name(&socket, name);
	else if (err == -ESRCH)
		snprintf(name, FD_NAME_SIZE, "socket"); /* no longer: it is about to be said */
	else
		name_socket_by_table(pid, inode, name);
}

/* ---- descriptors ---- */

int fd_name_inode(const char *text, const char *link, uint64_t *inode)
{
	const char *at = strstr(text, "\nino:");
	struct statx status;

	if (at)
		return sscanf(at + 5, "%" SCNu64, inode) == 1 ? 0 : -EBADMSG;
	if (statx(AT_FDCWD, link, AT_STATX_DONT_SYNC, STATX_INO, &status) < 0) /* waits for no server */
		return -errno;
	*inode = status.stx_ino;
	return 0;
}

/* The inode of the file that the descriptor is of at this moment. */
static int read_inode(pid_t pid, uint32_t fd, uint64_t *inode)
{
	char path[64], text[1024];
	ssize_t length;
	int file, err = 0;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%u", pid, fd);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return -errno;
	length = read(file, text, sizeof(text) - 1);
	if (length < 0)
		err = -errno;
	close(file);
	if (err)
		return err;
	text[length] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/fd/%u", pid, fd);
	return fd_name_inode(text, path, inode);
}

static int check_inode(pid_t pid, uint32_t fd, uint64_t inode)
{
	uint64_t found;
	int err = read_inode(pid, fd, &found);

	if (err)
		return err;
	return found == inode ? 0 : -ESTALE;
}

/* "anon_inode:[eventfd]", "anon_inode:inotify" */
static void strip_anonymous(char *name)
{
	static const char prefix[] = "anon_inode:";
	size_t length = strlen(name);

	if (strncmp(name, prefix, sizeof(prefix) - 1))
		return;
	memmove(name, name + sizeof(prefix) - 1, length - sizeof(prefix) + 2);
	length = strlen(name);
	if (length > 2 && name[0] == '[' && name[length - 1] == ']') {
		name[length - 1] = '\0';
		memmove(name, name + 1, length - 1);
	}
	if (strcmp(name, "eventpoll") == 0)
		strcpy(name, "epoll");
}

int fd_name_read(const struct socket_source *sockets, pid_t pid, uint32_t fd, uint64_t inode,
		 char name[FD_NAME_SIZE])
{
	int err = check_inode(pid, fd, inode);
	char path[64];
	ssize_t length;

	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/%d/fd/%u", pid, fd);
	length = readlink(path, name, FD_NAME_SIZE - 1);
	if (length < 0)
		return -errno;
	name[length] = '\0';
	if (strncmp(name, "socket:[", 8) == 0)
		name_socket(sockets, pid, fd, inode, name);
	strip_anonymous(name);
	return check_inode(pid, fd, inode);
}
