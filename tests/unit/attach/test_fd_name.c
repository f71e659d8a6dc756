/* SPDX-License-Identifier: BSD-2-Clause */
/* What descriptors refer to: this process' own, and tables of sockets as kernels write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "attach/process/fd_name.h"

static uint64_t inode_of(int fd)
{
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	return status.st_ino;
}

static void assert_name(int fd, const char *expected)
{
	char name[FD_NAME_SIZE];

	assert_int_equal(fd_name_read(NULL, getpid(), (uint32_t)fd, inode_of(fd), name), 0);
	assert_string_equal(name, expected);
}

static void files_have_their_paths(void **state)
{
	char path[] = "/tmp/fd_name_XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_name(fd, path);
	close(fd);
	unlink(path);
}

static void what_has_no_path_is_called_what_it_is(void **state)
{
	int event = eventfd(0, EFD_CLOEXEC), epoll = epoll_create1(EPOLL_CLOEXEC), fds[2];
	char expected[64];

	(void)state;
	assert_name(event, "eventfd");
	assert_name(epoll, "epoll");
	assert_int_equal(pipe(fds), 0);
	snprintf(expected, sizeof(expected), "pipe:[%llu]", (unsigned long long)inode_of(fds[0]));
	assert_name(fds[0], expected);
	close(fds[0]);
	close(fds[1]);
	close(event);
	close(epoll);
}

static void sockets_have_their_addresses(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	unsigned int server_port, client_port;
	char expected[128];

	(void)state;
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
	server_port = ntohs(address.sin_port);
	assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(getsockname(client, (struct sockaddr *)&address, &length), 0);
	client_port = ntohs(address.sin_port);

	snprintf(expected, sizeof(expected), "tcp 127.0.0.1:%u", server_port);
	assert_name(listener, expected);
	snprintf(expected, sizeof(expected), "tcp 127.0.0.1:%u > 127.0.0.1:%u", client_port, server_port);
	assert_name(client, expected);
	close(client);
	close(listener);
}

static void unix_sockets_have_their_paths(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0), pair[2];
	char expected[128];

	(void)state;
	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/fd_name_%d.sock", getpid());
	unlink(address.sun_path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	snprintf(expected, sizeof(expected), "unix %s", address.sun_path);
	assert_name(fd, expected);
	unlink(address.sun_path);
	close(fd);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_name(pair[0], "unix");
	close(pair[0]);
	close(pair[1]);
}

/* The number may have become another file's since the event. */
static void another_file_is_not_taken_for_it(void **state)
{
	char name[FD_NAME_SIZE];
	int fd = open("/dev/null", O_RDONLY);

	(void)state;
	assert_int_equal(fd_name_read(NULL, getpid(), (uint32_t)fd, inode_of(fd) + 1, name), -ESTALE);
	close(fd);
	assert_int_equal(fd_name_read(NULL, getpid(), (uint32_t)fd, 1, name), -ENOENT);
}

/* Before Linux 5.14 the kernel does not say the inode there. */
static void without_the_kernels_number_the_file_is_asked(void **state)
{
	char path[] = "/tmp/fd_name_XXXXXX", link[64];
	int fd = mkstemp(path);
	uint64_t inode = 0;

	(void)state;
	assert_true(fd >= 0);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	assert_int_equal(fd_name_inode("pos:\t0\nflags:\t02\nmnt_id:\t9\n", link, &inode), 0);
	assert_int_equal(inode, inode_of(fd));
	assert_int_equal(fd_name_inode("pos:\t0\nflags:\t02\nmnt_id:\t9\nino:\t4711\n", link, &inode), 0);
	assert_int_equal(inode, 4711);
	assert_int_equal(fd_name_inode("pos:\t0\nino:\tnone\n", link, &inode), -EBADMSG);
	close(fd);
	unlink(path);
	assert_int_equal(fd_name_inode("pos:\t0\n", link, &inode), -ENOENT);
}

static void tables_of_sockets_are_read(void **state)
{
	static const char tcp6[] =
		"  sl  local_address    remote_address    st tx_queue rx_queue tr tm->when retrnsmt   uid  "
		"timeout inode\n"
		"   0: 00000000000000000000000001000000:0035 00000000000000000000000000000000:0000 0A "
		"00000000:00000000 00:00000000 00000000   101        0 18122 1 0\n"
		"   1: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000100007F:C822 01 "
		"00000000:00000000 00:00000000 00000000  1000        0 4711 1 0\n";
	static const char unix_table[] =
		"Num       RefCount Protocol Flags    Type St Inode Path\n"
		"0000000000000000: 00000002 00000000 00010000 0001 01 2301 /run/a b\n"
		"0000000000000000: 00000003 00000000 00000000 0001 03 2302\n"
		"0000000000000000: 00000003 00000000 00000000 0001 03 2303 @abstract";
	char name[FD_NAME_SIZE];

	(void)state;
	assert_int_equal(fd_name_of_socket("tcp6", tcp6, 18122, name), 0);
	assert_string_equal(name, "tcp [::1]:53");
	assert_int_equal(fd_name_of_socket("tcp6", tcp6, 4711, name), 0);
	assert_string_equal(name, "tcp [::ffff:127.0.0.1]:8080 > [::ffff:127.0.0.1]:51234");
	assert_int_equal(fd_name_of_socket("tcp6", tcp6, 1, name), -ENOENT);
	assert_int_equal(fd_name_of_socket("unix", unix_table, 2301, name), 0);
	assert_string_equal(name, "unix /run/a b");
	assert_int_equal(fd_name_of_socket("unix", unix_table, 2302, name), 0);
	assert_string_equal(name, "unix");
	assert_int_equal(fd_name_of_socket("unix", unix_table, 2303, name), 0);
	assert_string_equal(name, "unix @abstract");
	assert_int_equal(fd_name_of_socket("unix", "", 1, name), -ENOENT);
	assert_int_equal(fd_name_of_socket("tcp", "header\n   0: 0100007F:zz 0:0 01\n garbage \n\n", 0, name),
			 -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_have_their_paths),
		cmocka_unit_test(what_has_no_path_is_called_what_it_is),
		cmocka_unit_test(sockets_have_their_addresses),
		cmocka_unit_test(unix_sockets_have_their_paths),
		cmocka_unit_test(another_file_is_not_taken_for_it),
		cmocka_unit_test(without_the_kernels_number_the_file_is_asked),
		cmocka_unit_test(tables_of_sockets_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
