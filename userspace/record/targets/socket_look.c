/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/targets/socket_look.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

#include "record/kernel/fault_ranges.h" /* of which the skeleton has some */
#include "record/kernel/kernel_side.h"
#include "txtrace/event.h"
#include "txtrace_bpf.skel.h"

/*
 * The begin of the kernel's union bpf_iter_link_info; kernels before 6.1 take it, and ask for every thread.
 */
struct task_iterator {
	uint32_t tid;
};

static int open_iterator(struct bpf_program *program, pid_t pid, struct bpf_link **link)
{
	struct task_iterator one = { .tid = (uint32_t)pid };
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = (union bpf_iter_link_info *)&one,
		    .link_info_len = sizeof(one));
	int fd;

	*link = bpf_program__attach_iter(program, &options);
	if (!*link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(*link));
	return fd < 0 ? -errno : fd;
}

/* The kernel stops at the first that the program writes about: the buffer is full then. */
static int read_one(int fd, struct wire_socket *socket)
{
	ssize_t length;

	do
		length = read(fd, socket, sizeof(*socket));
	while (length < 0 && (errno == EINTR || errno == EAGAIN));
	if (length < 0)
		return -errno;
	return length == sizeof(*socket) ? 0 : -ESRCH;
}

int socket_look(struct kernel_side *kernel, pid_t pid, uint32_t fd, uint64_t inode,
		struct wire_socket *socket)
{
	struct bpf_program *program = kernel_side_program(kernel, "on_socket_look");
	struct txtrace_bpf *bpf = kernel_side_bpf(kernel);
	struct bpf_link *link = NULL;
	int iterator, err;

	if (!program)
		return -EOPNOTSUPP;
	bpf->bss->socket_inode = inode;
	bpf->bss->socket_tgid = (uint32_t)pid;
	bpf->bss->socket_fd = fd;
	iterator = open_iterator(program, pid, &link);
	err = iterator < 0 ? iterator : read_one(iterator, socket);
	if (iterator >= 0)
		close(iterator);
	bpf_link__destroy(link);
	return err;
}
