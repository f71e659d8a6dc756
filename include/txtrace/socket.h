/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the kernel says of a socket that somebody has open: from the BPF program
 * that looks at it to user space.
 */
#ifndef TXTRACE_SOCKET_H
#define TXTRACE_SOCKET_H

#ifndef __VMLINUX_H__
#include <stdint.h>
#endif

#define WIRE_SOCKET_NAME_BYTES 108 /* of struct sockaddr_un */

/*
 * A side's name, as the kernel has it: of internet sockets 4 or 16 bytes, of
 * Unix sockets as many as it has: none, a path, which may end with a zero, or a
 * zero and any bytes.
 */
struct wire_socket_side {
	uint16_t port; /* in the host's order; 0: none */
	uint16_t name_bytes;
	uint8_t name[WIRE_SOCKET_NAME_BYTES];
};

struct wire_socket {
	uint16_t family; /* AF_INET, … */
	uint16_t type;   /* SOCK_STREAM, … */
	uint16_t protocol;
	/* as the kernel numbers the states of TCP: 1 connected, 10 listening; others' are like it */
	uint16_t state;
	struct wire_socket_side local;
	struct wire_socket_side remote;
};

_Static_assert(sizeof(struct wire_socket_side) == 112, "no hole");
_Static_assert(sizeof(struct wire_socket) == 232, "no hole");

#endif
