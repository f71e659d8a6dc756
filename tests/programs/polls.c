/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One span for each way in which poll, select and epoll come to an end: what ends the wait is what it was
 * for. The descriptor that does has the number ENDING_FD, whatever else is watched; a log that names another
 * one is wrong.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/timerfd.h>

#include "waits.h"

#define ENDING_FD 50
#define ASKED_MS ((int)(ASKED_NS / NS_PER_MS))

/* What the helper writes to ends up at fds[1], what is watched for that at ENDING_FD. */
static int watch(struct subject *subject)
{
	must(dup3(subject->fds[0], ENDING_FD, O_CLOEXEC) == ENDING_FD, "cannot copy a descriptor");
	close(subject->fds[0]);
	subject->fds[0] = ENDING_FD;
	return 0;
}

static int watch_pipe(struct subject *subject)
{
	return prepare_pipe(subject) ? errno : watch(subject);
}

static int watch_socket(struct subject *subject)
{
	return prepare_socket(subject) ? errno : watch(subject);
}

static int watch_eventfd(struct subject *subject)
{
	subject->fds[0] = eventfd(0, EFD_CLOEXEC);
	subject->fds[1] = dup(subject->fds[0]);
	return watch(subject);
}

static int watch_timer(struct subject *subject)
{
	struct itimerspec time = { .it_value.tv_nsec = 2 * ASKED_NS };

	subject->fds[0] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	subject->fds[1] = -1;
	must(!timerfd_settime(subject->fds[0], 0, &time, NULL), "cannot set a timer");
	return watch(subject);
}

/* Nothing comes from these; the write ends stay open. */
static void watch_silence(struct subject *subject)
{
	must(!pipe2(subject->more_fds, O_CLOEXEC) &&
		     !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, subject->more_fds + 2),
	     "cannot be silent");
	subject->more_cnt = 4;
}

static int watch_pipe_among_others(struct subject *subject)
{
	watch_silence(subject);
	return watch_pipe(subject);
}

static int watch_socket_among_others(struct subject *subject)
{
	watch_silence(subject);
	return watch_socket(subject);
}

static int watch_eventfd_among_others(struct subject *subject)
{
	watch_silence(subject);
	return watch_eventfd(subject);
}

static int watch_nothing_but_silence(struct subject *subject)
{
	subject->fds[0] = subject->fds[1] = -1;
	watch_silence(subject);
	return 0;
}

static void stop_watching(struct subject *subject)
{
	close_both(subject);
	while (subject->more_cnt)
		close(subject->more_fds[--subject->more_cnt]);
}

static void write_number(struct subject *subject)
{
	must(!eventfd_write(subject->fds[1], 1), "cannot write an eventfd");
}

static void hang_up(struct subject *subject)
{
	close(subject->fds[1]);
	subject->fds[1] = -1;
}

/* A socket into which nothing more fits. */
static int watch_full_socket(struct subject *subject)
{
	char block[4096] = "";

	watch_socket(subject);
	fcntl(ENDING_FD, F_SETFL, O_NONBLOCK);
	while (write(ENDING_FD, block, sizeof(block)) > 0)
		;
	return 0;
}

static void drain(struct subject *subject)
{
	char block[4096];

	while (recv(subject->fds[1], block, sizeof(block), MSG_DONTWAIT) > 0)
		;
}

static void handle_signal(int number)
{
	(void)number;
}

static void release_signal(struct subject *subject)
{
	syscall(SYS_tgkill, getpid(), subject->witness.tid, SIGUSR2);
}

static int or_interrupted(int result)
{
	return result < 0 && errno == EINTR ? 0 : result;
}

/* ---- the calls ---- */

static void poll_for(struct subject *subject, short events, int timeout_ms)
{
	struct pollfd fds[4] = {
		{ .fd = -1 }, { .fd = -1 }, { .fd = -1 }, { .fd = subject->fds[0], .events = events }
	};

	if (subject->more_cnt) {
		fds[0] = (struct pollfd){ .fd = subject->more_fds[0], .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = subject->more_fds[2], .events = POLLIN };
	}
	SUBJECT_SPAN(subject, "polls", or_interrupted(poll(fds, 4, timeout_ms)));
}

static void wait_poll(struct subject *subject)
{
	poll_for(subject, POLLIN, -1);
}

static void wait_poll_out(struct subject *subject)
{
	poll_for(subject, POLLOUT, -1);
}

static void wait_poll_timeout(struct subject *subject)
{
	poll_for(subject, POLLIN, ASKED_MS);
}

static void wait_poll_nothing(struct subject *subject)
{
	SUBJECT_SPAN(subject, "polls", poll(NULL, 0, ASKED_MS));
}

static void select_for(struct subject *subject, struct timeval *timeout)
{
	fd_set set;

	FD_ZERO(&set);
	for (int i = 0; i < subject->more_cnt; i += 2)
		FD_SET(subject->more_fds[i], &set);
	if (subject->fds[0] >= 0)
		FD_SET(subject->fds[0], &set);
	SUBJECT_SPAN(subject, "selects", or_interrupted(select(ENDING_FD + 1, &set, NULL, NULL, timeout)));
}

static void wait_select(struct subject *subject)
{
	select_for(subject, NULL);
}

static void wait_select_timeout(struct subject *subject)
{
	struct timeval timeout = { .tv_usec = ASKED_MS * 1000 };

	select_for(subject, &timeout);
}

static int epoll_of(int fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);

	must(epoll_fd >= 0 && (fd < 0 || !epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event)),
	     "cannot make an epoll");
	return epoll_fd;
}

static void epoll_for(struct subject *subject, int timeout_ms)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll_fd = epoll_of(subject->fds[0]);

	for (int i = 0; i < subject->more_cnt; i += 2)
		must(!epoll_ctl(epoll_fd, EPOLL_CTL_ADD, subject->more_fds[i], &event), "cannot watch");
	SUBJECT_SPAN(subject, "epolls", or_interrupted(epoll_wait(epoll_fd, &event, 1, timeout_ms)));
	close(epoll_fd);
}

static void wait_epoll(struct subject *subject)
{
	epoll_for(subject, -1);
}

static void wait_epoll_timeout(struct subject *subject)
{
	epoll_for(subject, ASKED_MS);
}

/* An epoll that watches another one, and a poll that does. */
static void wait_epoll_of_epoll(struct subject *subject)
{
	int inner_fd = epoll_of(subject->fds[0]), outer_fd = epoll_of(inner_fd);
	struct epoll_event event;

	SUBJECT_SPAN(subject, "epolls", epoll_wait(outer_fd, &event, 1, -1));
	close(inner_fd);
	close(outer_fd);
}

static const struct wait waits[] = {
	{ "poll-pipe", "pipe", watch_pipe, wait_poll, write_byte, stop_watching },
	{ "poll-hangup", "pipe", watch_pipe, wait_poll, hang_up, stop_watching },
	{ "poll-socket", "network", watch_socket, wait_poll, write_byte, stop_watching },
	{ "poll-full", "network", watch_full_socket, wait_poll_out, drain, stop_watching },
	{ "poll-eventfd", "poll", watch_eventfd, wait_poll, write_number, stop_watching },
	{ "poll-timerfd", "sleep", watch_timer, wait_poll, NULL, stop_watching },
	{ "poll-timeout", "sleep", watch_nothing_but_silence, wait_poll_timeout, NULL, stop_watching },
	{ "poll-nothing", "sleep", NULL, wait_poll_nothing, NULL, NULL },
	{ "poll-signal", "poll", watch_nothing_but_silence, wait_poll, release_signal, stop_watching },
	{ "poll-mixed-pipe", "pipe", watch_pipe_among_others, wait_poll, write_byte, stop_watching },
	{ "poll-mixed-socket", "network", watch_socket_among_others, wait_poll, write_byte, stop_watching },
	{ "poll-mixed-eventfd", "poll", watch_eventfd_among_others, wait_poll, write_number, stop_watching },
	{ "select-pipe", "pipe", watch_pipe, wait_select, write_byte, stop_watching },
	{ "select-socket", "network", watch_socket, wait_select, write_byte, stop_watching },
	{ "select-mixed-pipe", "pipe", watch_pipe_among_others, wait_select, write_byte, stop_watching },
	{ "select-mixed-socket", "network", watch_socket_among_others, wait_select, write_byte,
	  stop_watching },
	{ "select-timeout", "sleep", watch_nothing_but_silence, wait_select_timeout, NULL, stop_watching },
	{ "select-signal", "poll", watch_nothing_but_silence, wait_select, release_signal, stop_watching },
	{ "epoll-pipe", "pipe", watch_pipe, wait_epoll, write_byte, stop_watching },
	{ "epoll-socket", "network", watch_socket, wait_epoll, write_byte, stop_watching },
	{ "epoll-eventfd", "poll", watch_eventfd, wait_epoll, write_number, stop_watching },
	{ "epoll-timerfd", "sleep", watch_timer, wait_epoll, NULL, stop_watching },
	{ "epoll-timeout", "sleep", watch_nothing_but_silence, wait_epoll_timeout, NULL, stop_watching },
	{ "epoll-signal", "poll", watch_nothing_but_silence, wait_epoll, release_signal, stop_watching },
	{ "epoll-mixed-pipe", "pipe", watch_pipe_among_others, wait_epoll, write_byte, stop_watching },
	{ "epoll-mixed-socket", "network", watch_socket_among_others, wait_epoll, write_byte, stop_watching },
	{ "epoll-of-epoll", "network", watch_socket, wait_epoll_of_epoll, write_byte, stop_watching },
};

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = handle_signal };

	sigaction(SIGUSR2, &action, NULL);
	return waits_main(waits, sizeof(waits) / sizeof(waits[0]),
			  "polls: a span for each way in which a poll ends", argc, argv);
}
