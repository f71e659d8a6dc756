/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is connected to the metrics server. When there are too many, one of them
 * is disconnected, so that connections on which nothing comes can keep nobody
 * out: of the address that has the most of them, one that has nothing to read
 * yet, the oldest.
 */
#ifndef METRICS_CLIENTS_H
#define METRICS_CLIENTS_H

#include <stddef.h>
#include <sys/socket.h>

#define METRICS_CLIENT_MAX 16

struct metrics_client {
	int fd;
	int family;
	unsigned char address[16];
};

/* Those that there are, the oldest first. All zero: none. */
struct metrics_clients {
	struct metrics_client clients[METRICS_CLIENT_MAX];
	size_t cnt;
};

/*
 * One more, which stays; if there are too many, another one is shut down and no
 * longer counted. The descriptors stay the server's.
 */
void metrics_clients_add(struct metrics_clients *clients, int fd, const struct sockaddr *address);

/* The server closes it. Nothing, if it was shut down before. */
void metrics_clients_remove(struct metrics_clients *clients, int fd);

#endif
