/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Once the target is traced, the recorder confines itself, for good and with
 * all its threads, to the system calls that recording takes: no_new_privs and a
 * seccomp filter. It can then run no other program, become nobody else, trace
 * nobody by ptrace, open no connection, map no new code, and of bpf(2) it has
 * what attaches probes, and maps.
 *
 * A call that is not among them fails with EPERM and is counted: it costs what
 * it was for, not the recording. For tests, TXTRACE_CONFINEMENT=abort in the
 * environment has it end the program instead, with a sentence. Where there is
 * no seccomp nothing is confined, and -ENOSYS or -EINVAL says so.
 *
 * What is allowed is a table in confinement.c.
 */
#ifndef CONFINEMENT_H
#define CONFINEMENT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "attach/elf/elf_reader.h"

/* Calls that were refused. A signal handler writes it. */
struct confinement_tally {
	uint64_t cnt;
	int last_nr;
	bool aborts;
};

/* To be the body of a handler of SIGSYS: counts the call, which fails with EPERM. */
void confinement_refuse(struct confinement_tally *tally, const siginfo_t *info, void *context);

/* Who handles SIGSYS: a handler can be told nothing, so it and its tally lie where globals may. */
struct confinement_handler {
	void (*handle)(int signal, siginfo_t *info, void *context);
	struct confinement_tally *tally;
};

struct confinement_options {
	const struct confinement_handler *handler;
	bool has_uprobe_multi;
	bool may_fork;  /* for C++ names of functions (attach/code/cxx_name.h) */
	int command_fd; /* pidfd of a launched command, which may be sent signals; -1: none */
};

/* The whole process. 0 or a negative errno: nothing is confined then. */
int confinement_begin(const struct confinement_options *options);

/*
 * The process that calibrates (attach/probes/cost_trial.h): less still. What is
 * not allowed fails with EPERM.
 */
int confinement_begin_trial(void);

/*
 * The process that names code (attach/code/symbolizer.h): it answers on its socket,
 * reads the files that come over it and those that it may open to read, and has
 * memory. What is not allowed fails with EPERM.
 */
int confinement_begin_symbols(void);

/*
 * The process that serves metrics (record/service/metrics_http.h): it accepts, reads
 * and writes. What is not allowed fails with EPERM.
 */
int confinement_begin_metrics(void);

/*
 * Starts the processes that read ELF files (attach/elf/elf_reader.h), with filters:
 * the first one starts a process for each file, that one reads and answers.
 */
int confinement_elf_reader(struct elf_reader **reader, bool is_unconfined);

/*
 * The process that reads what others have mapped and in memory
 * (attach/process/process_reader.h): opens files to read, and answers on this socket.
 * What is not allowed fails with EPERM.
 */
int confinement_begin_reader(int socket_fd);

/* The name of a system call, to be freed; NULL: not known. */
char *confinement_call_name(int nr);

#endif
