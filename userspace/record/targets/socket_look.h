/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks the kernel what a socket of another process is: a BPF program that is
 * run once, on that process, by reading an iterator (bpf/socket.bpf.c). How
 * many sockets the process or the machine has does not matter. Before Linux 6.1
 * the program is run for each thread of the machine up to that process.
 */
#ifndef SOCKET_LOOK_H
#define SOCKET_LOOK_H

#include <stdint.h>
#include <sys/types.h>

#include "txtrace/socket.h"

struct kernel_side;

/*
 * 0; -ESRCH: the process has ended, or the descriptor is no socket with this
 * inode by now; -EOPNOTSUPP: the program is not loaded, as the kernel does not
 * describe its sockets; or what the kernel said.
 */
int socket_look(struct kernel_side *kernel, pid_t pid, uint32_t fd, uint64_t inode,
		struct wire_socket *socket);

#endif
