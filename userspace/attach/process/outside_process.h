/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process of ours that handles what others may have forged, such as their
 * files and their requests. It is forked from the recorder and then has nothing
 * of it but one socket, at most one more descriptor, and standard output and
 * error: no capability, no memory beyond a limit, and where we are root a uid
 * and gid of its own, so that no other process can stop or kill it.
 *
 * It ends with the recorder, or when the recorder says so, whatever it is doing
 * and also while it is stopped: by a pipe, at whose end the kernel kills it. By
 * then the recorder itself may kill nobody of another uid, neither by kill(2)
 * nor by PR_SET_PDEATHSIG.
 */
#ifndef OUTSIDE_PROCESS_H
#define OUTSIDE_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

/* What the process has, whatever the recorder had open. */
#define OUTSIDE_SOCKET_FD 3
#define OUTSIDE_KEPT_FD 4
#define OUTSIDE_LIFE_FD 5 /* that pipe */

/* In the process, once it has opened all that it needs: gives up what else it may do. */
struct outside_settle {
	void (*settle)(void *context); /* NULL: nothing */
	void *context;
};

struct outside_program {
	const char *name;    /* of the process, at most 15 bytes */
	int socket_type;     /* SOCK_SEQPACKET, SOCK_STREAM */
	int kept_fd;         /* -1: none; stays open in the caller */
	uint64_t memory_max; /* bytes of address space; not under sanitizers */
	void (*serve)(void *context); /* what it does: it ends when this returns */
	void *context;
};

struct outside_process {
	pid_t pid;
	int socket_fd; /* our end; -1: it was ended */
	int life_fd;   /* our end of the pipe */
};

/* Before anything is opened that nobody else may hold. Negative errno: of socketpair, pipe, fork. */
int outside_process_start(struct outside_process *process, const struct outside_program *program);

/* Kills it, and does not wait for that. Again: nothing. */
void outside_process_end(struct outside_process *process);

#endif
