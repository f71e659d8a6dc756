/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/socket_name.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define PROTOCOL_MPTCP 262 /* later than some headers */

#define SIDE_SIZE 128

static const struct {
	uint16_t number;
	const char *name;
} protocols[] = {
	{ IPPROTO_TCP, "tcp" },         { IPPROTO_UDP, "udp" },   { PROTOCOL_MPTCP, "mptcp" },
	{ IPPROTO_UDPLITE, "udplite" }, { IPPROTO_SCTP, "sctp" }, { IPPROTO_DCCP, "dccp" },
};

static const struct {
	uint16_t number;
	const char *name;
} families[] = {
	{ AF_NETLINK, "netlink" }, { AF_PACKET, "packet" }, { AF_VSOCK, "vsock" },
	{ AF_BLUETOOTH, "bluetooth" }, { AF_CAN, "can" },   { AF_ALG, "alg" },
};

/* Other internet protocols are ping sockets ("ip") and raw sockets, whose port is a protocol. */
static const char *protocol_name(const struct wire_socket *socket)
{
	for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++)
		if (socket->protocol == protocols[i].number && socket->type != SOCK_RAW)
			return protocols[i].name;
	return socket->type == SOCK_RAW ? "raw" : "ip";
}

static bool print_internet_side(const struct wire_socket *socket, const struct wire_socket_side *side,
				char text[SIDE_SIZE])
{
	char plain[INET6_ADDRSTRLEN];
	bool is_four = socket->family == AF_INET;

	if (side->name_bytes != (is_four ? sizeof(struct in_addr) : sizeof(struct in6_addr)))
		return false;
	if (!inet_ntop(socket->family, side->name, plain, sizeof(plain)))
		return false;
	snprintf(text, SIDE_SIZE, is_four ? "%s:%u" : "[%s]:%u", plain, side->port);
	return true;
}

static void name_internet_socket(const struct wire_socket *socket, char name[FD_NAME_SIZE])
{
	const char *protocol = protocol_name(socket);
	char local[SIDE_SIZE], remote[SIDE_SIZE];

	if (!print_internet_side(socket, &socket->local, local))
		snprintf(name, FD_NAME_SIZE, "%s", protocol);
	else if (!socket->remote.port || !print_internet_side(socket, &socket->remote, remote))
		snprintf(name, FD_NAME_SIZE, "%s %s", protocol, local);
	else
		snprintf(name, FD_NAME_SIZE, "%s %s > %s", protocol, local, remote);
}

/* "": it has none. */
static void print_unix_side(const struct wire_socket_side *side, char text[SIDE_SIZE])
{
	size_t bytes = side->name_bytes < WIRE_SOCKET_NAME_BYTES ? side->name_bytes : WIRE_SOCKET_NAME_BYTES;

	if (bytes && side->name[0])
		bytes = strnlen((const char *)side->name, bytes);
	for (size_t i = 0; i < bytes; i++)
		text[i] = side->name[i] ? (char)side->name[i] : '@';
	text[bytes] = '\0';
}

/*
 * An accepted socket has the name of the listening socket; for the client, that is the name of the other
 * side.
 */
static void name_unix_socket(const struct wire_socket *socket, char name[FD_NAME_SIZE])
{
	char local[SIDE_SIZE], remote[SIDE_SIZE];

	print_unix_side(&socket->local, local);
	print_unix_side(&socket->remote, remote);
	snprintf(name, FD_NAME_SIZE, "unix%s%s%s%s", *local ? " " : "", local, *remote ? " > " : "", remote);
}

void socket_name(const struct wire_socket *socket, char name[FD_NAME_SIZE])
{
	if (socket->family == AF_INET || socket->family == AF_INET6) {
		name_internet_socket(socket, name);
		return;
	}
	if (socket->family == AF_UNIX) {
		name_unix_socket(socket, name);
		return;
	}
	snprintf(name, FD_NAME_SIZE, "socket");
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (socket->family == families[i].number)
			snprintf(name, FD_NAME_SIZE, "%s", families[i].name);
}
