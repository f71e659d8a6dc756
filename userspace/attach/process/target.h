/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that is traced: one that runs already, or a command that we
 * start.
 *
 *	target_launch()   the child exists, has dropped its privileges, and waits before its exec
 *	target_go()       it execs, and is held before its first instruction if we may do that
 *	                  (CAP_SYS_PTRACE)
 *	…                 attach to the files that it has mapped now
 *	target_resume()   it runs, and its first instruction is already traced
 *	target_poll_fd()  becomes readable when it ends; target_wait() collects its status
 *
 * Where a child cannot be held (target_can_be_held()), attach before
 * target_go() to the files that target_each_path() names.
 *
 * Ctrl-C: a launched child stays in our process group and gets the terminal's
 * SIGINT itself, as under time(1) or strace(1). The recorder should not forward
 * it: it catches SIGINT, goes on recording until the child has ended, and takes
 * a second SIGINT for "stop now". SIGTERM is sent to the recorder alone: it may
 * pass it on with target_signal().
 *
 * A target whose recorder dies is not harmed: a child that waits for
 * target_go() ends by itself, one that runs or is held goes on running. It is
 * held by ptrace for the moment of its exec alone; debuggers can attach to it
 * afterwards.
 *
 * Launch, go and resume have to be called from the same thread, before there
 * are others.
 */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct process_reader;
struct target;

/*
 * A running process. -ESRCH: no such process, or it has ended; -EINVAL: not a
 * process (a thread, a kernel thread), or ourselves; other errors. The error is
 * a sentence. Nothing of the process is touched.
 */
int target_open_pid(struct target **target, pid_t pid, struct error *error);

/*
 * Forks the child that will be argv (NULL-terminated, searched for in PATH as
 * execvp does; to be kept until target_close). Started through sudo, it becomes
 * the invoking user again (SUDO_UID, SUDO_GID; HOME, USER and LOGNAME are set)
 * with that user's groups. No signal is blocked in it, none is handled, SIGPIPE
 * is not ignored; what else was ignored stays so (nohup).
 */
int target_launch(struct target **target, char *const argv[], struct error *error);

/* Whether the launched child will be held at its exec. */
bool target_can_be_held(const struct target *target);

/*
 * Lets the launched child exec, and returns when it has; comm, exe and command
 * are those of the new program then. When it could not exec: a negative errno,
 * a sentence, and *exit_status as a shell would give it (127 not found, 126 not
 * executable).
 */
int target_go(struct target *target, int *exit_status, struct error *error);

/* Lets a held child run. */
void target_resume(struct target *target);

/*
 * The files that the launched command will be run from, as far as they can be
 * told before: the program; if it is a script its interpreter, and so on. Calls
 * visit with each path; a non-zero return stops and is the result. Nothing for
 * a target opened by pid.
 */
typedef int (*target_path_visit)(void *context, const char *path);
int target_each_path(const struct target *target, target_path_visit visit, void *context);

pid_t target_pid(const struct target *target);
/* what the process itself takes for its pid: another one in a container */
pid_t target_inner_pid(const struct target *target);
/* since boot, in clock ticks; with the pid it names one process */
uint64_t target_start_ticks(const struct target *target);
/* these hold any bytes; they live as long as the target */
const char *target_comm(const struct target *target);
const char *target_exe(const struct target *target);      /* "" if it cannot be told */
/* the arguments, separated by spaces; cut off if long; until they were read the comm */
const char *target_command(const struct target *target);

/* Reads the arguments of a process that was opened by its pid. NULL: without a helper. */
void target_read_command(struct target *target, struct process_reader *reader);


/* Readable (poll) when the process has ended. */
int target_poll_fd(const struct target *target);

/* Whether the process still runs; never confuses it with a later one of the same pid. */
bool target_is_running(const struct target *target);

/* 0 or a negative errno; -ESRCH: it has ended. */
int target_signal(const struct target *target, int signal);

/*
 * Waits until the process has ended. Of a launched child *exit_status is its
 * exit status, or 128 + the signal that ended it; of another process it is 0,
 * for nobody but its parent may know.
 */
int target_wait(struct target *target, int *exit_status);

/*
 * Ends a child that still waits for target_go(), or is held: it has not begun.
 * Leaves every other one alone. NULL is allowed.
 */
void target_close(struct target *target);

#endif
