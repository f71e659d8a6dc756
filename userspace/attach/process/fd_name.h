/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a descriptor of another process refers to, in words: from /proc/PID/fd
 * and fdinfo, and of sockets from the kernel, so that neither the process nor
 * the file is touched.
 *
 *	/var/lib/bank/journal           pipe:[4711]      eventfd      epoll      /dev/null
 *	tcp 10.0.0.1:80 > 10.0.0.2:51234       udp [::1]:53       unix /run/bank.sock       unix       socket
 *
 * socket_name.h says what sockets are called.
 */
#ifndef FD_NAME_H
#define FD_NAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FD_NAME_SIZE 512

struct wire_socket;

/*
 * Who tells what a socket is: 0; -ESRCH: it is no longer there; another
 * negative errno: that cannot be told, and /proc/PID/net is asked.
 */
struct socket_source {
	int (*look)(void *context, pid_t pid, uint32_t fd, uint64_t inode, struct wire_socket *socket);
	void *context;
};

/*
 * sockets: NULL, or what its `look` cannot tell: from the tables of
 * /proc/PID/net, of which 1 MiB is read (about 7,000 sockets), and only those
 * of the process' network; other sockets are named "socket".
 *
 * 0: name holds it, terminated, any bytes, cut where it is too long. -ESTALE:
 * the descriptor is another file's by now than that with this inode; -ENOENT:
 * it is closed, or the process has ended; -EACCES; -EBADMSG: not what a kernel
 * writes.
 */
int fd_name_read(const struct socket_source *sockets, pid_t pid, uint32_t fd, uint64_t inode,
		 char name[FD_NAME_SIZE]);

/*
 * The inode of an open file. text: of its /proc/PID/fdinfo/FD, terminated;
 * link: its /proc/PID/fd/FD. The kernel's own number is in the text since 5.14;
 * before, what statx() says is taken, which is another number on file systems
 * that make theirs up (btrfs, overlays): then the file gets no name. -EBADMSG,
 * or what statx() says.
 */
int fd_name_inode(const char *text, const char *link, uint64_t *inode);

/*
 * The line of a table of /proc/PID/net whose socket has this inode, in words.
 * table: "tcp", "tcp6", "udp", "udp6" or "unix"; text: its content, terminated.
 * -ENOENT: there is none.
 */
int fd_name_of_socket(const char *table, const char *text, uint64_t inode, char name[FD_NAME_SIZE]);

#endif
