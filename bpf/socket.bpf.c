// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tells the recorder what one socket is. User space runs this on one process by reading an iterator
 * (socket_look.h). It takes no lock of the process or of the network, and does not read the tables of
 * /proc/PID/net, which list all sockets of the machine.
 */
#include "vmlinux.h"
#include "block_reason.h"
#include "compat.h"
#include "txtrace/socket.h"

#define MAGIC_SOCKETS 0x534f434b
#define FAMILY_UNIX 1
#define FAMILY_INET 2
#define FAMILY_INET6 10

/* Which one is meant: set before the iterator is read. */
uint64_t socket_inode;
uint32_t socket_tgid;
uint32_t socket_fd;

static struct wire_socket found; /* one looks at a time */

/*
 * Kernels without IPv6 have no such addresses, and families that are modules are not in the kernel's own BTF.
 */
struct in6_addr___txtrace {
	uint8_t bytes[16];
};

struct sock_common___with_ipv6 {
	struct in6_addr___txtrace skc_v6_daddr;
	struct in6_addr___txtrace skc_v6_rcv_saddr;
} __attribute__((preserve_access_index));

static __always_inline uint16_t host_order(uint16_t port)
{
	return __builtin_bswap16(port);
}

static __always_inline void look_at_inet(struct sock *sock)
{
	uint32_t local = BPF_CORE_READ(sock, __sk_common.skc_rcv_saddr),
		 remote = BPF_CORE_READ(sock, __sk_common.skc_daddr);

	__builtin_memcpy(found.local.name, &local, sizeof(local));
	__builtin_memcpy(found.remote.name, &remote, sizeof(remote));
	found.local.name_bytes = found.remote.name_bytes = sizeof(local);
}

static __always_inline void look_at_inet6(struct sock *sock)
{
	struct sock_common___with_ipv6 *common = (void *)sock +
						 bpf_core_field_offset(struct sock, __sk_common);

	if (!bpf_core_field_exists(common->skc_v6_daddr))
		return;
	bpf_core_read(found.local.name, sizeof(struct in6_addr___txtrace), &common->skc_v6_rcv_saddr);
	bpf_core_read(found.remote.name, sizeof(struct in6_addr___txtrace), &common->skc_v6_daddr);
	found.local.name_bytes = found.remote.name_bytes = sizeof(struct in6_addr___txtrace);
}

static __always_inline void look_at_ports(struct sock *sock)
{
	found.local.port = BPF_CORE_READ(sock, __sk_common.skc_num);
	found.remote.port = host_order(BPF_CORE_READ(sock, __sk_common.skc_dport));
}

/* Reads no more bytes than the address has: behind it is other memory. */
static __always_inline void read_unix_name(struct wire_socket_side *side, struct unix_sock *sock)
{
	struct unix_address *address = BPF_CORE_READ(sock, addr);
	uint64_t bytes;
	int length;

	if (!address)
		return;
	length = BPF_CORE_READ(address, len) - (int)sizeof(uint16_t); /* the family */
	if (length <= 0)
		return;
	/* of the longest path, the zero behind it */
	bytes = length < WIRE_SOCKET_NAME_BYTES ? length : WIRE_SOCKET_NAME_BYTES;
	bytes = compat_index(bytes, WIRE_SOCKET_NAME_BYTES + 1);
	if (!bpf_probe_read_kernel(side->name, bytes,
				   (void *)address + bpf_core_field_offset(struct unix_address, name) +
					   sizeof(uint16_t)))
		side->name_bytes = bytes;
}

static __always_inline void look_at_unix(struct sock *sock)
{
	struct unix_sock *local = (void *)sock, *remote;

	if (!bpf_core_type_exists(struct unix_sock) || !bpf_core_type_exists(struct unix_address))
		return;
	read_unix_name(&found.local, local);
	remote = (void *)BPF_CORE_READ(local, peer);
	if (remote)
		read_unix_name(&found.remote, remote);
}

static __always_inline void look_at(struct sock *sock)
{
	__builtin_memset(&found, 0, sizeof(found));
	found.family = BPF_CORE_READ(sock, __sk_common.skc_family);
	found.state = BPF_CORE_READ(sock, __sk_common.skc_state);
	found.type = BPF_CORE_READ(sock, sk_type);
	found.protocol = BPF_CORE_READ(sock, sk_protocol);
	if (found.family == FAMILY_INET)
		look_at_inet(sock);
	else if (found.family == FAMILY_INET6)
		look_at_inet6(sock);
	else if (found.family == FAMILY_UNIX)
		look_at_unix(sock);
	if (found.family == FAMILY_INET || found.family == FAMILY_INET6)
		look_at_ports(sock);
}

/* NULL: the descriptor is no socket, or another file's by now. */
static __always_inline struct sock *wanted_sock(struct task_struct *task)
{
	struct files_struct *files = task->files;
	struct file *file = files ? file_of_fd(files, socket_fd) : 0;
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : 0;
	struct socket *socket;

	if (!inode || BPF_CORE_READ(inode, i_ino) != socket_inode ||
	    BPF_CORE_READ(inode, i_sb, s_magic) != MAGIC_SOCKETS)
		return 0;
	socket = BPF_CORE_READ(file, private_data);
	return socket ? BPF_CORE_READ(socket, sk) : 0;
}

/*
 * Nothing keeps the socket open meanwhile, and its memory may be used again. So the descriptor is followed
 * once more afterwards: if it leads elsewhere, nothing is told. Before 6.1 the iterator visits all threads.
 */
SEC("?iter/task")
int on_socket_look(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct sock *sock;

	if (!task || task->pid != (pid_t)socket_tgid)
		return 0;
	sock = wanted_sock(task);
	if (!sock)
		return 0;
	look_at(sock);
	if (wanted_sock(task) == sock)
		bpf_seq_write(ctx->meta->seq, &found, sizeof(found));
	return 0;
}
