/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/process_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process/blocked_time.h"
#include "base/clock.h"

#define QUICK_MS 2        /* most reads are done by then, and nobody looks what the reading process does */
/* in which it neither ends nor is blocked: something else is wrong with it */
#define STILL_NS UINT64_C(10000000000)
#define REST_CNT 8
#define REST_NS UINT64_C(50000000)
#define WORKER_WAIT_NS UINT64_C(2000000000) /* for another one, which a stalled fork() may keep from coming */
#define FIRST_WAIT_NS UINT64_C(60000000000) /* for the first one: nothing is recorded yet */
#define AGAIN_NS UINT64_C(1000000000) /* between two wishes for another one */

/* The rest of a page that was read a moment ago. */
struct known_rest {
	pid_t pid; /* 0: none */
	uint64_t address;
	uint64_t read_ns;
	size_t length;
	char bytes[PROCESS_STRING_PAGE_MAX];
};

struct process_reader {
	struct process_reader_options options;
	int control_fd;
	pid_t nursery;
	int worker_fd; /* -1: none, one may be on its way */
	pid_t worker;
	bool is_asked_for;
	uint64_t wait_until_ns; /* for the one that was asked for */
	uint64_t next_wish_ns;
	bool has_told_end;
	struct frozen_targets frozen;
	struct known_rest rests[REST_CNT];
	size_t rest_idx; /* the next to be replaced */
};

/* ---- messages with an fd ---- */

ssize_t process_reader_send_fd(int socket_fd, const void *bytes, size_t size, int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct iovec data = { (void *)bytes, size };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(fd)),
						   .cmsg_level = SOL_SOCKET,
						   .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	return sendmsg(socket_fd, &message, MSG_NOSIGNAL);
}

/* As recvmsg(); *fd: -1 if there is none. */
static ssize_t process_reader_take_fd(int socket_fd, void *bytes, size_t size, int *fd, int flags)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec data = { bytes, size };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	const struct cmsghdr *header;
	ssize_t got = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC | flags);

	*fd = -1;
	header = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return got;
}

/* ---- the processes ---- */

/* Whether there is one now that reads. */
static bool take_worker(struct process_reader *reader)
{
	struct pollfd ready = { .fd = reader->control_fd, .events = POLLIN };
	uint64_t time_ns = clock_now_ns();
	struct reader_worker worker;
	int fd;

	if (reader->worker_fd >= 0 || !reader->is_asked_for)
		return reader->worker_fd >= 0;
	if (poll(&ready, 1,
		 time_ns < reader->wait_until_ns ? (int)((reader->wait_until_ns - time_ns) / 1000000) : 0) <=
	    0)
		return false;
	reader->is_asked_for = false;
	if (process_reader_take_fd(reader->control_fd, &worker, sizeof(worker), &fd, MSG_DONTWAIT) !=
	    sizeof(worker))
		return false;
	reader->worker = worker.pid;
	reader->worker_fd = fd;
	if (fd < 0 && !reader->has_told_end) {
		reader->has_told_end = true;
		if (reader->options.tell)
			reader->options.tell(reader->options.context, NULL);
	}
	return fd >= 0;
}

/* Ends the one that reads, if there is one, and asks for another one. */
static void wish_worker(struct process_reader *reader)
{
	uint64_t time_ns = clock_now_ns();

	if (reader->worker_fd >= 0)
		close(reader->worker_fd);
	else if (reader->is_asked_for || time_ns < reader->next_wish_ns)
		return;
	reader->worker_fd = -1;
	reader->worker = 0;
	reader->next_wish_ns = time_ns + AGAIN_NS;
	reader->wait_until_ns = time_ns + WORKER_WAIT_NS;
	reader->is_asked_for = send(reader->control_fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

int process_reader_new(struct process_reader **result, const struct process_reader_options *options)
{
	struct process_reader *reader = calloc(1, sizeof(*reader));
	pid_t parent = getpid();
	int fds[2], err;

	*result = NULL;
	if (!reader)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0) {
		err = -errno;
		free(reader);
		return err;
	}
	reader->options = *options;
	reader->worker_fd = -1;
	reader->nursery = fork();
	if (reader->nursery == 0) {
		process_reader_serve(fds[1], parent, options);
		_exit(0);
	}
	err = reader->nursery < 0 ? -errno : 0;
	close(fds[1]);
	if (err) {
		close(fds[0]);
		free(reader);
		return err;
	}
	reader->control_fd = fds[0];
	wish_worker(reader);
	reader->wait_until_ns = clock_now_ns() + FIRST_WAIT_NS;
	*result = reader;
	return 0;
}

void process_reader_free(struct process_reader *reader)
{
	if (!reader)
		return;
	if (reader->worker_fd >= 0)
		close(reader->worker_fd);
	close(reader->control_fd);
	waitpid(reader->nursery, NULL, WNOHANG); /* one that hangs ends with us */
	frozen_targets_release(&reader->frozen);
	free(reader);
}

/* ---- waiting ---- */

/* The time that a request may take, over all of its waits. */
struct patience {
	pid_t pid; /* whom it is about */
	uint64_t left_ns;
	uint64_t blocked_ns;
	struct blocked_look last; /* at_ns 0: nobody has looked yet */
};

/*
 * Something can be read now: 0. -ETIMEDOUT: it was blocked for too long; -EPIPE: it does not go on, and
 * nobody knows why.
 */
static int wait_a_moment(const struct process_reader *reader, struct patience *patience)
{
	struct pollfd ready = { .fd = reader->worker_fd, .events = POLLIN };
	uint64_t still_ns = 0;
	struct blocked_look fresh;

	while (poll(&ready, 1, patience->last.at_ns ? BLOCKED_LOOK_MS : QUICK_MS) <= 0) {
		blocked_look(&fresh, reader->worker);
		if (patience->last.at_ns) {
			patience->blocked_ns += blocked_between(&patience->last, &fresh);
			still_ns += fresh.is_blocked ? 0 : BLOCKED_LOOK_MS * UINT64_C(1000000);
		}
		patience->last = fresh;
		if (patience->blocked_ns < patience->left_ns && still_ns < STILL_NS)
			continue;
		if (poll(&ready, 1, 0) > 0)
			return 0;
		return patience->blocked_ns < patience->left_ns ? -EPIPE : -ETIMEDOUT;
	}
	return 0;
}

static int receive(const struct process_reader *reader, struct patience *patience, void *bytes, size_t size)
{
	while (size > 0) {
		int err = wait_a_moment(reader, patience);
		ssize_t got = err ? 0 : recv(reader->worker_fd, bytes, size, MSG_DONTWAIT);

		if (err)
			return err;
		if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
			return -EPIPE;
		bytes = (char *)bytes + (got > 0 ? got : 0);
		size -= got > 0 ? (size_t)got : 0;
	}
	return 0;
}

/* ---- requests ---- */

/* What came back. */
struct answer {
	struct reader_reply reply;
	char *bytes; /* allocated, terminated; reply.length of them */
	int fd;      /* -1: none */
};

static bool send_request(const struct process_reader *reader, const struct reader_request *request,
			 const char *path)
{
	struct iovec parts[] = { { (void *)request, sizeof(*request) },
				 { (void *)path, request->path_length } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = request->path_length ? 2 : 1 };

	return sendmsg(reader->worker_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
	       (ssize_t)(sizeof(*request) + request->path_length);
}

static int receive_answer(const struct process_reader *reader, struct patience *patience,
			  struct answer *answer)
{
	int err = wait_a_moment(reader, patience);
	ssize_t got = err ? 0
			  : process_reader_take_fd(reader->worker_fd, &answer->reply, sizeof(answer->reply),
						   &answer->fd, MSG_DONTWAIT);

	if (!err && got <= 0)
		err = -EPIPE;
	if (!err)
		err = receive(reader, patience, (char *)&answer->reply + got,
			      sizeof(answer->reply) - (size_t)got);
	if (!err && answer->reply.length > 2 * PROC_MAPS_BYTES_MAX)
		err = -EPIPE;
	if (!err && answer->reply.length) {
		answer->bytes = malloc(answer->reply.length + 1);
		err = answer->bytes ? receive(reader, patience, answer->bytes, answer->reply.length)
				    : -ENOMEM;
		if (!err)
			answer->bytes[answer->reply.length] = '\0';
	}
	return err;
}

/* It has cost time; too much of it is the end of asking. */
static void account(struct process_reader *reader, const struct patience *patience)
{
	const struct frozen_target *frozen;
	struct blocked_look fresh;
	uint64_t waited_ns = patience->blocked_ns;

	if (!patience->last.at_ns)
		return;
	blocked_look(&fresh, reader->worker); /* by now it waits for the next request, or has been ended */
	if (reader->worker_fd >= 0)
		waited_ns += blocked_between(&patience->last, &fresh);
	frozen = frozen_targets_wait(&reader->frozen, patience->pid, waited_ns, clock_now_ns());
	if (frozen && reader->options.tell)
		reader->options.tell(reader->options.context, frozen);
}

/* 0 and an answer, whose bytes are to be freed; a negative errno, of the read or of ours. */
static int ask(struct process_reader *reader, const struct reader_request *request, const char *path,
	       struct answer *answer)
{
	struct patience patience = { .pid = request->pid, .left_ns = FROZEN_WAIT_NS };
	int err = 0;

	*answer = (struct answer){ .fd = -1 };
	if (frozen_targets_refuse(&reader->frozen, request->pid, clock_now_ns()))
		return -ETIMEDOUT;
	if (!take_worker(reader)) {
		wish_worker(reader);
		return -EPIPE;
	}
	patience.left_ns = frozen_targets_left_ns(&reader->frozen, request->pid, clock_now_ns());
	if (!send_request(reader, request, path))
		err = -EPIPE;
	if (!err)
		err = receive_answer(reader, &patience, answer);
	if (err)
		wish_worker(reader);
	else if (answer->reply.result < 0)
		err = (int)answer->reply.result;
	account(reader, &patience);
	if (err) {
		free(answer->bytes);
		answer->bytes = NULL;
		if (answer->fd >= 0)
			close(answer->fd);
	}
	return err;
}

static int ask_text(void *context, pid_t pid, char **text)
{
	const struct reader_request request = { .kind = READER_MAPS, .pid = pid };
	struct answer answer;
	int err = ask(context, &request, NULL, &answer);

	*text = err || answer.bytes ? answer.bytes : strdup("");
	return err || *text ? err : -ENOMEM;
}

int process_reader_maps(struct process_reader *reader, struct proc_maps *maps, pid_t pid)
{
	return reader ? proc_maps_read_from(maps, pid, ask_text, reader) : proc_maps_read(maps, pid);
}

int process_reader_open(struct process_reader *reader, const struct proc_mapping *mapping, pid_t pid)
{
	struct reader_request request = {
		.kind = READER_OPEN,
		.pid = pid,
		.start = mapping->start,
		.end = mapping->end,
		.inode = mapping->inode,
		.is_deleted = mapping->is_deleted,
		.path_length = (uint32_t)strlen(mapping->path),
	};
	struct answer answer;
	int err;

	if (!reader)
		return proc_mapping_open(mapping, pid);
	if (request.path_length >= 4 * PATH_MAX)
		return -ENAMETOOLONG;
	err = ask(reader, &request, mapping->path, &answer);
	free(answer.bytes);
	return err ? err : answer.fd >= 0 ? answer.fd : -EPIPE;
}

static bool is_known(const struct process_reader *reader, struct process_string *string, pid_t pid,
		     uint64_t address)
{
	uint64_t time_ns = clock_now_ns();

	for (size_t i = 0; i < REST_CNT; i++) {
		const struct known_rest *rest = &reader->rests[i];

		if (rest->pid == pid && address >= rest->address && address - rest->address < rest->length &&
		    time_ns - rest->read_ns < REST_NS)
			return process_string_from_bytes(string, rest->bytes + (address - rest->address),
							 rest->length - (address - rest->address));
	}
	return false;
}

static void keep_rest(struct process_reader *reader, pid_t pid, uint64_t address, const char *bytes,
		      size_t length)
{
	struct known_rest *rest = &reader->rests[reader->rest_idx];

	reader->rest_idx = (reader->rest_idx + 1) % REST_CNT;
	rest->pid = pid;
	rest->address = address;
	rest->read_ns = clock_now_ns();
	rest->length = length < sizeof(rest->bytes) ? length : sizeof(rest->bytes);
	memcpy(rest->bytes, bytes, rest->length);
}

void process_reader_forget(struct process_reader *reader, pid_t pid)
{
	for (size_t i = 0; i < REST_CNT; i++)
		if (reader->rests[i].pid == pid)
			reader->rests[i].pid = 0;
}

int process_reader_string(struct process_reader *reader, struct process_string *string, pid_t pid,
			  uint64_t address)
{
	const size_t before_rest = offsetof(struct reader_string, rest);
	const struct reader_request request = { .kind = READER_STRING, .pid = pid, .address = address };
	struct answer answer;
	int err;

	if (!reader)
		return process_string_from_memory(string, pid, address);
	if (is_known(reader, string, pid, address))
		return 0;
	err = ask(reader, &request, NULL, &answer);
	if (!err && answer.reply.length < before_rest)
		err = -EPIPE;
	if (!err) {
		memcpy(string, answer.bytes, sizeof(*string));
		keep_rest(reader, pid, address, answer.bytes + before_rest,
			  answer.reply.length - before_rest);
	}
	free(answer.bytes);
	return err;
}

int process_reader_bytes(struct process_reader *reader, void *bytes, size_t size, pid_t pid, uint64_t address)
{
	const struct reader_request request = {
		.kind = READER_BYTES, .pid = pid, .address = address, .end = size
	};
	struct answer answer;
	int err;

	if (size > PROCESS_READER_BYTES_MAX)
		return -E2BIG;
	if (!reader)
		return process_bytes_from_memory(bytes, size, pid, address);
	err = ask(reader, &request, NULL, &answer);
	if (!err && answer.reply.length != size)
		err = -EPIPE;
	if (!err)
		memcpy(bytes, answer.bytes, size);
	free(answer.bytes);
	return err;
}

int process_reader_perf_map(struct process_reader *reader, struct perf_map *map, pid_t pid)
{
	const struct reader_request request = { .kind = READER_PERF_MAP, .pid = pid };
	struct answer answer;
	int err;

	if (!reader)
		return perf_map_read(map, pid);
	*map = (struct perf_map){ 0 };
	err = ask(reader, &request, NULL, &answer);
	return err ? err : perf_map_parse(map, answer.bytes, answer.reply.length);
}

static ssize_t read_command(char *command, pid_t pid)
{
	ssize_t length;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, command, PROCESS_READER_COMMAND_MAX - 1);
	if (length < 0)
		length = -errno;
	if (fd >= 0)
		close(fd);
	return length;
}

static ssize_t ask_command(struct process_reader *reader, char *command, pid_t pid)
{
	const struct reader_request request = { .kind = READER_COMMAND, .pid = pid };
	struct answer answer;
	int err = ask(reader, &request, NULL, &answer);
	size_t length = err || answer.reply.length >= PROCESS_READER_COMMAND_MAX ? 0 : answer.reply.length;

	if (length)
		memcpy(command, answer.bytes, length);
	free(answer.bytes);
	return err ? err : (ssize_t)length;
}

ssize_t process_reader_command(struct process_reader *reader, char command[PROCESS_READER_COMMAND_MAX],
			       pid_t pid)
{
	ssize_t length = reader ? ask_command(reader, command, pid) : read_command(command, pid);

	while (length > 0 && command[length - 1] == '\0')
		length--;
	for (ssize_t i = 0; i < length; i++)
		if (command[i] == '\0')
			command[i] = ' ';
	command[length > 0 ? length : 0] = '\0';
	return length;
}

const struct frozen_targets *process_reader_frozen(const struct process_reader *reader)
{
	return &reader->frozen;
}

const char *process_reader_explain(int err)
{
	switch (err) {
	case -ETIMEDOUT:
		return "a read of the process' memory does not return";
	case -EPIPE:
		return "nothing can be read of processes any more";
	case -EREMOTE:
		return "it is in a FUSE file system, whose server could block the recorder";
	}
	return strerror(-err);
}
