/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes behind a process_reader: one that forks, and one that reads. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process/capabilities.h"
#include "attach/process/process_reader.h"

#define SOCKET_FD 3
#define FUSE_MAGIC 0x65735546
#define REAP_MS 20
#define REAP_TRIES 10

/* ---- both ---- */

/*
 * What the parent has open is not ours: one that is stuck would hold it for as
 * long as it is, also the place where somebody waits for the end of our output.
 */
static void let_go(int socket_fd, const char *name, pid_t parent)
{
	struct rlimit no_core = { 0, 0 };
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (dup2(socket_fd, SOCKET_FD) < 0)
		_exit(1);
	for (int fd = 0; null_fd >= 0 && fd < 3; fd++)
		dup2(null_fd, fd);
	syscall(SYS_close_range, SOCKET_FD + 1, ~0u, 0);
	fcntl(SOCKET_FD, F_SETFD, FD_CLOEXEC);
	setrlimit(RLIMIT_CORE, &no_core);
	if (chdir("/"))
		_exit(1);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it has ended before it could be told */
		_exit(1);
}

/* Of those that do for the same, the weaker one. */
static uint64_t first_held(uint64_t held, unsigned int wanted, unsigned int otherwise)
{
	return held & (held & CAPABILITY_BIT(wanted) ? CAPABILITY_BIT(wanted) : CAPABILITY_BIT(otherwise));
}

/*
 * To read what others have mapped, and their memory. Without the first one, CAP_PERFMON does for what is
 * mapped (6.13).
 */
static uint64_t needed_capabilities(void)
{
	uint64_t held = capabilities_held();

	return first_held(held, CAP_SYS_PTRACE, CAP_PERFMON) |
	       first_held(held, CAP_CHECKPOINT_RESTORE, CAP_SYS_ADMIN) |
	       (held & CAPABILITY_BIT(CAP_DAC_READ_SEARCH));
}

/* ---- the one that forks ---- */

struct nursery {
	const struct process_reader_options *options;
	pid_t worker;
	pid_t stuck[PROCESS_READER_STUCK_MAX];
	size_t stuck_cnt;
};

static void reap(struct nursery *nursery)
{
	for (size_t i = nursery->stuck_cnt; i-- > 0;)
		if (waitpid(nursery->stuck[i], NULL, WNOHANG))
			nursery->stuck[i] = nursery->stuck[--nursery->stuck_cnt];
}

/* Most end at once when they are killed. */
static void end_worker(struct nursery *nursery)
{
	if (nursery->worker <= 0)
		return;
	kill(nursery->worker, SIGKILL);
	nursery->stuck[nursery->stuck_cnt++] = nursery->worker;
	nursery->worker = 0;
	for (int i = 0; i < REAP_TRIES && nursery->stuck_cnt; i++) {
		reap(nursery);
		if (nursery->stuck_cnt)
			poll(NULL, 0, REAP_MS);
	}
}

/* A process that reads: until the socket is closed. */
static void work(int socket_fd, const struct process_reader_options *options);

static void new_worker(struct nursery *nursery)
{
	struct reader_worker worker = { 0 };
	pid_t parent = getpid();
	int fds[2] = { -1, -1 };

	if (nursery->stuck_cnt < PROCESS_READER_STUCK_MAX &&
	    !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
		nursery->worker = fork();
		if (nursery->worker == 0) {
			let_go(fds[1], "txtrace-reader", parent);
			work(SOCKET_FD, nursery->options);
			_exit(0);
		}
		close(fds[1]);
		worker.pid = nursery->worker > 0 ? nursery->worker : 0;
	}
	process_reader_send_fd(SOCKET_FD, &worker, sizeof(worker), worker.pid ? fds[0] : -1);
	if (fds[0] >= 0)
		close(fds[0]);
}

void process_reader_serve(int control_fd, pid_t parent, const struct process_reader_options *options)
{
	struct nursery nursery = { .options = options };
	char wish;

	let_go(control_fd, "txtrace-readers", parent);
	signal(SIGCHLD, SIG_DFL);
	if (capabilities_keep(needed_capabilities()))
		_exit(1);
	while (recv(SOCKET_FD, &wish, 1, 0) == 1) {
		end_worker(&nursery);
		reap(&nursery);
		new_worker(&nursery);
	}
	if (nursery.worker > 0)
		kill(nursery.worker, SIGKILL);
}

/* ---- the one that reads ---- */

static bool send_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		bytes += sent;
		size -= (size_t)sent;
	}
	return true;
}

static bool answer(int fd, int64_t result, const void *bytes, size_t length)
{
	const struct reader_reply reply = { .result = result, .length = result < 0 ? 0 : length };

	return send_all(fd, (const char *)&reply, sizeof(reply)) &&
	       (!reply.length || send_all(fd, bytes, length));
}

/*
 * One that we have mounted ourselves shows in our own table; what shows there with this user was made by it.
 */
static bool is_mounted_by(dev_t device, uid_t uid)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char wanted[64], *line = NULL;
	bool is_found = false;
	size_t size = 0;

	snprintf(wanted, sizeof(wanted), "user_id=%u,", uid);
	while (mounts && !is_found && getline(&line, &size, mounts) > 0) {
		unsigned int dev_major, dev_minor;
		const char *type = strstr(line, " - ");

		if (sscanf(line, "%*d %*d %u:%u", &dev_major, &dev_minor) != 2 || !type ||
		    makedev(dev_major, dev_minor) != device)
			continue;
		is_found = strncmp(type, " - virtiofs ", 12) == 0 || strstr(type, wanted);
	}
	free(line);
	if (mounts)
		fclose(mounts);
	return is_found;
}

static bool is_trusted(int fd, uid_t uid)
{
	struct statfs system;
	struct statx status;

	if (fstatfs(fd, &system))
		return false;
	if (system.f_type != FUSE_MAGIC)
		return true;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &status))
		return false;
	return is_mounted_by(makedev(status.stx_dev_major, status.stx_dev_minor), 0) ||
	       is_mounted_by(makedev(status.stx_dev_major, status.stx_dev_minor), uid);
}

static bool open_mapping(int socket_fd, const struct reader_request *request, const char *path,
			 uid_t trusted_uid)
{
	const struct proc_mapping mapping = {
		.start = request->start,
		.end = request->end,
		.inode = request->inode,
		.is_deleted = request->is_deleted,
		.path = path,
	};
	struct reader_reply reply = { 0 };
	int fd = proc_mapping_open(&mapping, request->pid);
	bool is_sent;

	if (fd < 0)
		return answer(socket_fd, fd, NULL, 0);
	if (is_trusted(fd, trusted_uid)) {
		is_sent = process_reader_send_fd(socket_fd, &reply, sizeof(reply), fd) == sizeof(reply);
		close(fd);
		return is_sent;
	}
	close(fd);
	return answer(socket_fd, -EREMOTE, NULL, 0);
}

static bool read_text(int socket_fd, const struct reader_request *request)
{
	char *text = NULL;
	size_t length = 0;
	bool is_sent;
	int err;

	if (request->kind == READER_MAPS) {
		err = proc_maps_text(NULL, request->pid, &text);
		length = err ? 0 : strlen(text);
	} else {
		err = perf_map_text(request->pid, &text, &length);
	}
	is_sent = answer(socket_fd, err, text, length);
	if (!err)
		free(text);
	return is_sent;
}

static bool read_command(int socket_fd, const struct reader_request *request)
{
	char command[PROCESS_READER_COMMAND_MAX];
	ssize_t length = process_reader_command(NULL, command, request->pid);

	return answer(socket_fd, length < 0 ? length : 0, command, length < 0 ? 0 : (size_t)length);
}

/* What follows comes along: labels lie side by side. */
static bool read_string(int socket_fd, const struct reader_request *request)
{
	struct reader_string reply = { .string = { 0 } };
	int err = process_string_from_memory(&reply.string, request->pid, request->address);
	ssize_t rest = err ? 0 : process_string_rest_of_page(reply.rest, request->pid, request->address);

	return answer(socket_fd, err, &reply,
		      offsetof(struct reader_string, rest) + (rest > 0 ? (size_t)rest : 0));
}

static bool read_bytes(int socket_fd, const struct reader_request *request)
{
	size_t size = request->end < PROCESS_READER_BYTES_MAX ? request->end : PROCESS_READER_BYTES_MAX;
	char *bytes = malloc(size + 1);
	int err = bytes ? process_bytes_from_memory(bytes, size, request->pid, request->address) : -ENOMEM;
	bool is_sent = answer(socket_fd, err, bytes, size);

	free(bytes);
	return is_sent;
}

static bool handle(int socket_fd, const struct reader_request *request, const char *path, uid_t trusted_uid)
{
	switch (request->kind) {
	case READER_MAPS:
	case READER_PERF_MAP:
		return read_text(socket_fd, request);
	case READER_OPEN:
		return open_mapping(socket_fd, request, path, trusted_uid);
	case READER_STRING:
		return read_string(socket_fd, request);
	case READER_BYTES:
		return read_bytes(socket_fd, request);
	case READER_COMMAND:
		return read_command(socket_fd, request);
	}
	return answer(socket_fd, -EINVAL, NULL, 0);
}

static bool receive_all(int fd, void *bytes, size_t size)
{
	return size == 0 || recv(fd, bytes, size, MSG_WAITALL) == (ssize_t)size;
}

static void work(int socket_fd, const struct process_reader_options *options)
{
	struct reader_request request;
	char path[PATH_MAX * 4];

	if (options->settle)
		options->settle(options->context, socket_fd);
	while (receive_all(socket_fd, &request, sizeof(request)) && request.path_length < sizeof(path) &&
	       receive_all(socket_fd, path, request.path_length)) {
		path[request.path_length] = '\0';
		if (!handle(socket_fd, &request, path, options->trusted_uid))
			return;
	}
}
