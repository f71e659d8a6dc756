/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/service/metrics_clients.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>

static struct metrics_client describe(int fd, const struct sockaddr *address)
{
	struct metrics_client client = { .fd = fd, .family = address ? address->sa_family : AF_UNSPEC };
	const struct sockaddr_in *v4 = (const void *)address;
	const struct sockaddr_in6 *v6 = (const void *)address;

	if (client.family == AF_INET)
		memcpy(client.address, &v4->sin_addr, sizeof(v4->sin_addr));
	else if (client.family == AF_INET6)
		memcpy(client.address, &v6->sin6_addr, sizeof(v6->sin6_addr));
	return client;
}

static size_t count_alike(const struct metrics_clients *clients, const struct metrics_client *like)
{
	size_t cnt = 0;

	for (size_t i = 0; i < clients->cnt; i++) {
		const struct metrics_client *client = &clients->clients[i];

		cnt += client->family == like->family &&
		       memcmp(client->address, like->address, sizeof(like->address)) == 0;
	}
	return cnt;
}

/* A request that has come and was not read yet: it is going to be answered. */
static bool has_something_to_read(const struct metrics_client *client)
{
	int byte_cnt = 0;

	return ioctl(client->fd, FIONREAD, &byte_cnt) == 0 && byte_cnt > 0;
}

static size_t choose(const struct metrics_clients *clients)
{
	size_t chosen = 0, most = 0;
	bool is_idle = false;

	for (size_t i = 0; i < clients->cnt; i++) {
		size_t cnt = count_alike(clients, &clients->clients[i]);
		bool is_this_idle = !has_something_to_read(&clients->clients[i]);

		if (cnt > most || (cnt == most && is_this_idle && !is_idle)) {
			chosen = i;
			most = cnt;
			is_idle = is_this_idle;
		}
	}
	return chosen;
}

static void drop(struct metrics_clients *clients, size_t idx)
{
	struct metrics_client *at = &clients->clients[idx];

	clients->cnt--;
	memmove(at, at + 1, (clients->cnt - idx) * sizeof(*at));
}

void metrics_clients_add(struct metrics_clients *clients, int fd, const struct sockaddr *address)
{
	if (clients->cnt == METRICS_CLIENT_MAX) {
		size_t idx = choose(clients);

		/* the server then finds its end, and closes it */
		shutdown(clients->clients[idx].fd, SHUT_RDWR);
		drop(clients, idx);
	}
	clients->clients[clients->cnt++] = describe(fd, address);
}

void metrics_clients_remove(struct metrics_clients *clients, int fd)
{
	for (size_t i = 0; i < clients->cnt; i++) {
		if (clients->clients[i].fd == fd) {
			drop(clients, i);
			return;
		}
	}
}
