/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A socket in words:
 *
 *	tcp 10.0.0.1:80 > 10.0.0.2:51234       udp [::1]:53       unix /run/bank.sock       unix >
 *	/run/bank.sock       unix       netlink
 *
 * Behind ">" is the other side, where there is one with a name. A Unix socket's
 * abstract name begins with "@", and each zero byte in it is one, as in
 * /proc/net/unix. What follows "unix" is any bytes: the program that made the
 * socket chose them.
 */
#ifndef SOCKET_NAME_H
#define SOCKET_NAME_H

#include "attach/process/fd_name.h"
#include "txtrace/socket.h"

void socket_name(const struct wire_socket *socket, char name[FD_NAME_SIZE]);

#endif
