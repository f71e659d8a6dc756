/* SPDX-License-Identifier: BSD-2-Clause */
/* What sockets are called, by what the kernel says of them, which may be anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/process/socket_name.h"

#define SIDE(port_, bytes) { .port = (port_), .name_bytes = sizeof(bytes) - 1, .name = bytes }
#define LOCAL "\x0a\0\0\x01"
#define REMOTE "\x0a\0\0\x02"
#define LOCAL6 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01"
#define MAPPED "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\x01"

static const struct {
	struct wire_socket socket;
	const char *name;
} stories[] = {
	{ { AF_INET, SOCK_STREAM, IPPROTO_TCP, 1, SIDE(80, LOCAL), SIDE(51234, REMOTE) },
	  "tcp 10.0.0.1:80 > 10.0.0.2:51234" },
	{ { AF_INET, SOCK_STREAM, IPPROTO_TCP, 10, SIDE(80, LOCAL), SIDE(0, "\0\0\0\0") },
	  "tcp 10.0.0.1:80" },
	{ { AF_INET, SOCK_DGRAM, IPPROTO_UDP, 7, SIDE(53, LOCAL), SIDE(0, "\0\0\0\0") }, "udp 10.0.0.1:53" },
	{ { AF_INET, SOCK_STREAM, 262, 10, SIDE(80, LOCAL), SIDE(0, "\0\0\0\0") }, "mptcp 10.0.0.1:80" },
	{ { AF_INET, SOCK_RAW, IPPROTO_TCP, 7, SIDE(6, LOCAL), SIDE(0, "\0\0\0\0") }, "raw 10.0.0.1:6" },
	{ { AF_INET, SOCK_DGRAM, IPPROTO_ICMP, 7, SIDE(9, LOCAL), SIDE(0, "\0\0\0\0") }, "ip 10.0.0.1:9" },
	{ { AF_INET6, SOCK_STREAM, IPPROTO_TCP, 10, SIDE(80, LOCAL6), SIDE(0, LOCAL6) }, "tcp [::1]:80" },
	{ { AF_INET6, SOCK_STREAM, IPPROTO_TCP, 1, SIDE(80, MAPPED), SIDE(8080, MAPPED) },
	  "tcp [::ffff:127.0.0.1]:80 > [::ffff:127.0.0.1]:8080" },
	{ { AF_INET6, SOCK_STREAM, IPPROTO_TCP, 1, SIDE(80, ""), SIDE(8080, "") }, "tcp" },
	{ { AF_INET6, SOCK_STREAM, IPPROTO_TCP, 1, SIDE(80, LOCAL), SIDE(8080, LOCAL) }, "tcp" },
	{ { AF_UNIX, SOCK_STREAM, 0, 1, SIDE(0, ""), SIDE(0, "") }, "unix" },
	{ { AF_UNIX, SOCK_STREAM, 0, 1, SIDE(0, "/run/a b\0"), SIDE(0, "") }, "unix /run/a b" },
	{ { AF_UNIX, SOCK_STREAM, 0, 1, SIDE(0, ""), SIDE(0, "/run/a b") }, "unix > /run/a b" },
	{ { AF_UNIX, SOCK_DGRAM, 0, 1, SIDE(0, "/a"), SIDE(0, "\0b") }, "unix /a > @b" },
	{ { AF_UNIX, SOCK_STREAM, 0, 1, SIDE(0, "\0a\0\0b\n"), SIDE(0, "") }, "unix @a@@b\n" },
	{ { AF_UNIX, SOCK_STREAM, 0, 1, SIDE(0, "/a\0/b"), SIDE(0, "") }, "unix /a" },
	{ { AF_NETLINK, SOCK_RAW, 0, 7, SIDE(0, ""), SIDE(0, "") }, "netlink" },
	{ { 255, SOCK_RAW, 0, 7, SIDE(0, ""), SIDE(0, "") }, "socket" },
};

static void sockets_have_names(void **state)
{
	char name[FD_NAME_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++) {
		socket_name(&stories[i].socket, name);
		assert_string_equal(name, stories[i].name);
	}
}

/* Longer than it can be: what there is room for is taken. */
static void a_name_is_cut(void **state)
{
	struct wire_socket socket = { .family = AF_UNIX,
				      .local.name_bytes = UINT16_MAX,
				      .remote.name_bytes = WIRE_SOCKET_NAME_BYTES };
	char name[FD_NAME_SIZE];

	(void)state;
	memset(socket.local.name, 'l', WIRE_SOCKET_NAME_BYTES);
	memset(socket.remote.name, 'r', WIRE_SOCKET_NAME_BYTES);
	socket_name(&socket, name);
	assert_int_equal(strlen(name), strlen("unix  > ") + 2 * WIRE_SOCKET_NAME_BYTES);
	assert_int_equal(name[strlen(name) - 1], 'r');
}

/* ---- who is asked ---- */

static int answer; /* of the kernel */

static int look(void *context, pid_t pid, uint32_t fd, uint64_t inode, struct wire_socket *socket)
{
	struct stat status;

	assert_ptr_equal(context, &answer);
	assert_int_equal(pid, getpid());
	assert_int_equal(fstat((int)fd, &status), 0);
	assert_int_equal(status.st_ino, inode);
	*socket = stories[0].socket;
	return answer;
}

static void the_kernel_is_asked_first(void **state)
{
	const struct socket_source source = { .look = look, .context = &answer };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	char name[FD_NAME_SIZE];
	struct stat status;

	(void)state;
	assert_int_equal(fstat(fd, &status), 0);
	answer = 0;
	assert_int_equal(fd_name_read(&source, getpid(), (uint32_t)fd, status.st_ino, name), 0);
	assert_string_equal(name, stories[0].name);
	answer = -ESRCH;
	assert_int_equal(fd_name_read(&source, getpid(), (uint32_t)fd, status.st_ino, name), 0);
	assert_string_equal(name, "socket");
	answer = -EOPNOTSUPP; /* the table has it */
	assert_int_equal(fd_name_read(&source, getpid(), (uint32_t)fd, status.st_ino, name), 0);
	assert_string_equal(name, "unix");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sockets_have_names),
		cmocka_unit_test(a_name_is_cut),
		cmocka_unit_test(the_kernel_is_asked_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
