/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits for sockets of many kinds, 5 ms each, one after the other, until it is killed. Before, it says what
 * they are, as getsockname() and getpeername() have it: one line "DESCRIPTOR NAME" for each, in which what
 * cannot be printed is \xHH, and at last "ready". With --crowd it waits for one alone of as many: the one
 * that /proc/self/net/udp has last. Kinds that this machine does not have are left out, and said on stderr.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "truth.h"

#define WAIT_US 5000
#define SIDE_SIZE 512
#define LINE_SIZE 512
#define WAITED_MAX 32

static int waited[WAITED_MAX];
static unsigned int waited_cnt;

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
		struct sockaddr_un path;
	};
	socklen_t length;
};

/* ---- what a socket is called ---- */

static void print_path(const struct address *address, char text[SIDE_SIZE])
{
	size_t bytes = address->length - offsetof(struct sockaddr_un, sun_path);
	const char *path = address->path.sun_path;

	*text = '\0';
	if (address->length <= offsetof(struct sockaddr_un, sun_path))
		return;
	if (*path)
		bytes = strnlen(path, bytes);
	for (size_t i = 0; i < bytes; i++) {
		unsigned char byte = (unsigned char)(path[i] ? path[i] : '@');

		snprintf(text + strlen(text), SIDE_SIZE - strlen(text), isprint(byte) ? "%c" : "\\x%02x",
			 byte);
	}
}

static void print_side(const struct address *address, char text[SIDE_SIZE])
{
	char plain[INET6_ADDRSTRLEN];

	if (address->any.sa_family == AF_UNIX)
		print_path(address, text);
	else if (address->any.sa_family == AF_INET)
		snprintf(text, SIDE_SIZE, "%s:%u",
			 inet_ntop(AF_INET, &address->four.sin_addr, plain, sizeof(plain)),
			 ntohs(address->four.sin_port));
	else
		snprintf(text, SIDE_SIZE, "[%s]:%u",
			 inet_ntop(AF_INET6, &address->six.sin6_addr, plain, sizeof(plain)),
			 ntohs(address->six.sin6_port));
}

static void tell(int fd, const char *kind)
{
	struct address local = { .length = sizeof(local.path) }, remote = { .length = sizeof(remote.path) };
	char text[SIDE_SIZE] = "";

	printf("%d %s", fd, kind);
	must(!getsockname(fd, &local.any, &local.length), "a socket has no name");
	print_side(&local, text);
	if (*text)
		printf(" %s", text);
	if (!getpeername(fd, &remote.any, &remote.length)) {
		print_side(&remote, text);
		if (*text)
			printf(" > %s", text);
	}
	printf("\n");
}

/* ---- waits ---- */

static void wait_for(int fd)
{
	struct timeval limit = { .tv_usec = WAIT_US };
	int is_listening = 0;
	socklen_t length = sizeof(is_listening);
	char byte;

	must(!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), "cannot limit a wait");
	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &length))
		is_listening = 0;
	if (is_listening) {
		TXTRACE_SPAN("wait for a socket");
		must(accept(fd, NULL, NULL) < 0 && errno == EAGAIN, "a wait did not end by its limit");
	} else {
		TXTRACE_SPAN("wait for a socket");
		must(recv(fd, &byte, 1, 0) < 0 && errno == EAGAIN, "a wait did not end by its limit");
	}
}

static void add(int fd)
{
	must(waited_cnt < WAITED_MAX, "too many sockets");
	waited[waited_cnt++] = fd;
}

static void add_and_tell(int fd, const char *kind)
{
	add(fd);
	tell(fd, kind);
}

/* ---- sockets ---- */

static struct address loopback(int family)
{
	struct address address = { .length = family == AF_INET ? sizeof(address.four) : sizeof(address.six) };

	if (family == AF_INET)
		address.four = (struct sockaddr_in){ .sin_family = AF_INET,
						     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	else
		address.six = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };
	return address;
}

static struct address unix_address(const char *name, size_t bytes)
{
	struct address address = { .path.sun_family = AF_UNIX,
				   .length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes) };

	memcpy(address.path.sun_path, name, bytes);
	return address;
}

static bool is_there(int family)
{
	struct address address = loopback(family);
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool is = fd >= 0 && !bind(fd, &address.any, address.length);

	if (!is)
		fprintf(stderr, "family %d is left out: %s\n", family, strerror(errno));
	if (fd >= 0)
		close(fd);
	return is;
}

static int bound(int type, const struct address *address)
{
	int fd = socket(address->any.sa_family, type | SOCK_CLOEXEC, 0);

	must(fd >= 0 && !bind(fd, &address->any, address->length), "cannot bind a socket");
	return fd;
}

static int connected(int family, int type, const struct address *address)
{
	int fd = socket(family, type | SOCK_CLOEXEC, 0);

	must(fd >= 0 && !connect(fd, &address->any, address->length), "cannot connect a socket");
	return fd;
}

/* Three: who listens, who is accepted, who connects to `remote`, or, NULL, to where it listens. */
static void stream(const char *kind, const struct address *address, const struct address *remote,
		   int client_family)
{
	int listener = bound(SOCK_STREAM, address), client, server;
	struct address name = { .length = sizeof(name.path) };

	must(!listen(listener, 4) && !getsockname(listener, &name.any, &name.length), "cannot listen");
	add_and_tell(listener, kind);
	if (remote) {
		in_port_t port = name.four.sin_port;

		name = *remote;
		name.six.sin6_port = port;
	}
	client = connected(client_family, SOCK_STREAM, &name);
	server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	must(server >= 0, "cannot accept");
	add_and_tell(server, kind);
	add_and_tell(client, kind);
}

static void internet(int family)
{
	struct address address = loopback(family), name = { .length = sizeof(name.path) };
	int fd;

	if (!is_there(family))
		return;
	stream("tcp", &address, NULL, family);
	fd = bound(SOCK_DGRAM, &address);
	add_and_tell(fd, "udp");
	must(!getsockname(fd, &name.any, &name.length), "a socket has no name");
	add_and_tell(connected(family, SOCK_DGRAM, &name), "udp");
}

/* A socket of IPv6 that talks IPv4. */
static void mapped(void)
{
	struct address address = loopback(AF_INET), six = loopback(AF_INET6);

	if (!is_there(AF_INET6))
		return;
	six.six.sin6_addr = (struct in6_addr){ .s6_addr = {
						       [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 } };
	stream("tcp", &address, &six, AF_INET6);
}

static void local(const char *folder)
{
	static const char abstract[] = "\0txtrace\0\n\x1b[31m\xff > x";
	struct address address = unix_address(abstract, sizeof(abstract) - 1);
	char path[sizeof(address.path.sun_path)];
	int pair[2], length;

	stream("unix", &address, NULL, AF_UNIX);
	length = snprintf(path, sizeof(path), "%s/plain.sock", folder);
	address = unix_address(path, (size_t)length);
	stream("unix", &address, NULL, AF_UNIX);
	length = snprintf(path, sizeof(path), "%s/a\nb", folder);
	/* as long as it may be: no zero at its end */
	memset(path + length, 'l', sizeof(path) - (size_t)length);
	address = unix_address(path, sizeof(path));
	add_and_tell(bound(SOCK_DGRAM, &address), "unix");
	must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), "cannot make a pair");
	add_and_tell(pair[0], "unix");
}

/* What has no address that we know, or no name. */
static void others(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0) {
		fprintf(stderr, "netlink is left out: %s\n", strerror(errno));
		return;
	}
	add(fd);
	printf("%d netlink\n", fd);
}

/* ---- a crowd ---- */

static uint64_t inode_of(int fd)
{
	struct stat status;

	must(!fstat(fd, &status), "cannot look at a socket");
	return status.st_ino;
}

/* The last line of the table. */
static uint64_t last_inode(void)
{
	FILE *table = fopen("/proc/self/net/udp", "re");
	char line[LINE_SIZE];
	uint64_t inode = 0;

	must(table, "cannot read the table");
	while (fgets(line, sizeof(line), table))
		sscanf(line, " %*d: %*s %*s %*x %*s %*s %*s %*u %*d %lu", &inode);
	fclose(table);
	return inode;
}

static void crowd(uint64_t cnt)
{
	struct address address = loopback(AF_INET);
	uint64_t *inodes = calloc(cnt, sizeof(*inodes)), last;
	int *fds = calloc(cnt, sizeof(*fds)), found = -1;

	must(inodes && fds, "no memory");
	for (uint64_t i = 0; i < cnt; i++) {
		fds[i] = bound(SOCK_DGRAM, &address);
		inodes[i] = inode_of(fds[i]);
	}
	last = last_inode();
	for (uint64_t i = 0; i < cnt; i++)
		if (inodes[i] == last)
			found = fds[i];
	must(found >= 0, "the last one of the table is none of ours");
	add_and_tell(found, "udp");
}

/* ---- */

static void enter_network(void)
{
	struct ifreq loopback_flags = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd;

	must(!unshare(CLONE_NEWNET), "cannot make a network namespace");
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	must(fd >= 0 && !ioctl(fd, SIOCSIFFLAGS, &loopback_flags), "cannot start the loopback interface");
	close(fd);
}

static void open_all(const char *folder)
{
	internet(AF_INET);
	internet(AF_INET6);
	mapped();
	if (folder)
		local(folder);
	others();
}

int main(int argc, char **argv)
{
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	uint64_t crowd_cnt = 0, has_network = 0;
	const char *folder = NULL;
	const struct option_spec table[] = {
		TRUTH_WAIT_SPEC(&options),
		{ .name = "crowd", .help = "so many more sockets", .count = &crowd_cnt, .max = 25000 },
		{ .name = "network",
		  .help = "1: in a network namespace of its own",
		  .count = &has_network,
		  .max = 1 },
		{ .name = "folder", .help = "where paths are", .text = &folder },
	};
	struct rlimit limit;

	options_parse(table, sizeof(table) / sizeof(table[0]), "sockets: waits for sockets of many kinds",
		      argc, argv);
	if (has_network)
		enter_network();
	limit = (struct rlimit){ crowd_cnt + 100, crowd_cnt + 100 };
	must(!crowd_cnt || !setrlimit(RLIMIT_NOFILE, &limit), "cannot have so many descriptors");
	if (crowd_cnt)
		crowd(crowd_cnt);
	else
		open_all(folder);
	printf("ready\n");
	fflush(stdout);
	truth_start(&options);
	for (;;)
		for (unsigned int i = 0; i < waited_cnt; i++)
			wait_for(waited[i]);
}
