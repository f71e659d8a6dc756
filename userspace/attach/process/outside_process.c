/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/outside_process.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process/capabilities.h"

#define NOBODY 65534
#define OWN_ID_BASE 0x70000000u /* no range of users, containers or services is here (systemd: UIDS-GIDS) */

/*
 * As nobody, any other process of nobody could stop us. Where our own id means
 * nothing (a user namespace without it) it has to do. What belongs to root is
 * not ours any more in any case. Where there is nobody else than root, as in a
 * namespace of an unprivileged user, root is no more than that user.
 */
static int leave_root(void)
{
	uid_t own = OWN_ID_BASE + (uid_t)getpid();

	setgroups(0, NULL);
	if (setresgid(own, own, own) && setresgid(NOBODY, NOBODY, NOBODY) && errno != EINVAL)
		return -errno;
	if (setresuid(own, own, own) && setresuid(NOBODY, NOBODY, NOBODY) && errno != EINVAL)
		return -errno;
	return 0;
}

/* Out of the way first: each may have another one's number. */
static void keep_descriptors(int socket_fd, int kept_fd, int life_fd)
{
	const int wanted[][2] = { { socket_fd, OUTSIDE_SOCKET_FD },
				  { kept_fd, OUTSIDE_KEPT_FD },
				  { life_fd, OUTSIDE_LIFE_FD } };
	int away[3];

	for (int i = 0; i < 3; i++)
		away[i] = wanted[i][0] >= 0 ? fcntl(wanted[i][0], F_DUPFD_CLOEXEC, OUTSIDE_LIFE_FD + 1) : -1;
	for (int i = 0; i < 3; i++) {
		close(wanted[i][1]);
		if (wanted[i][0] >= 0 && dup2(away[i], wanted[i][1]) < 0)
			_exit(1);
	}
	syscall(SYS_close_range, OUTSIDE_LIFE_FD + 1, ~0u, 0);
}

/* With the rights that the process has by now, it is its own to send. */
static void die_with_pipe(void)
{
	fcntl(OUTSIDE_LIFE_FD, F_SETSIG, SIGKILL);
	fcntl(OUTSIDE_LIFE_FD, F_SETOWN, getpid());
	fcntl(OUTSIDE_LIFE_FD, F_SETFL, O_RDONLY | O_NONBLOCK | O_ASYNC);
	if (read(OUTSIDE_LIFE_FD, &(char){ 0 }, 1) == 0) /* the recorder has gone already */
		_exit(0);
}

/* Memory is limited but under sanitizers, which take what they do not use. */
static void confine(const struct outside_program *program, int socket_fd, int life_fd)
{
	struct rlimit no_core = { 0, 0 };

	keep_descriptors(socket_fd, program->kept_fd, life_fd);
	setrlimit(RLIMIT_CORE, &no_core);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(WITH_LIBFUZZER)
	setrlimit(RLIMIT_AS, &(struct rlimit){ program->memory_max, program->memory_max });
#endif
	unsetenv("DEBUGINFOD_URLS");
	unsetenv("DEBUGINFOD_PROGRESS");
	if ((geteuid() == 0 && leave_root()) || capabilities_keep(0))
		_exit(1);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	die_with_pipe();
	prctl(PR_SET_NAME, program->name);
}

/* The other process has its ends alone. */
static void close_ours(int socket_fds[2], int life_fds[2])
{
	close(socket_fds[0]);
	close(life_fds[1]);
}

int outside_process_start(struct outside_process *process, const struct outside_program *program)
{
	int fds[2], life[2], err;

	process->socket_fd = process->life_fd = -1;
	if (socketpair(AF_UNIX, program->socket_type | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	if (pipe2(life, O_CLOEXEC) < 0) {
		err = -errno;
		close(fds[0]);
		close(fds[1]);
		return err;
	}
	process->pid = fork();
	if (process->pid == 0) {
		close_ours(fds, life);
		confine(program, fds[1], life[0]);
		program->serve(program->context);
		_exit(0);
	}
	err = process->pid < 0 ? -errno : 0;
	close(fds[1]);
	close(life[0]);
	if (err) {
		close_ours(fds, life);
		return err;
	}
	process->socket_fd = fds[0];
	process->life_fd = life[1];
	return 0;
}

void outside_process_end(struct outside_process *process)
{
	if (process->socket_fd < 0)
		return;
	close(process->life_fd);
	close(process->socket_fd);
	process->socket_fd = process->life_fd = -1;
	waitpid(process->pid, NULL, WNOHANG); /* it may be in the middle of a read that does not return */
}
