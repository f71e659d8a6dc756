/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One span for each way to wait; poll and the like, which wait for whatever comes, have a program of their
 * own (polls.c).
 */
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/wait.h>

#include "waits.h"

#define FSYNC_CNT 20
#define PAGE_BYTES 4096

/* ---- sleep ---- */

static void wait_sleep(struct subject *subject)
{
	struct timespec time = { .tv_nsec = ASKED_NS };

	SUBJECT_SPAN(subject, "sleep", nanosleep(&time, NULL));
}

static void wait_clock(struct subject *subject)
{
	struct timespec time = { .tv_nsec = ASKED_NS };

	SUBJECT_SPAN(subject, "clock", -clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL));
}

/* To a moment rather than for a time. */
static void wait_until(struct subject *subject)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + ASKED_NS;
	struct timespec time = { .tv_sec = (time_t)(until_ns / 1000000000),
				 .tv_nsec = (long)(until_ns % 1000000000) };

	subject->truth->until_ns = until_ns;
	SUBJECT_SPAN(subject, "until", -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL));
}

/* ---- lock ---- */

static int prepare_semaphore(struct subject *subject)
{
	return sem_init(&subject->semaphore, 0, 0) ? errno : 0;
}

static void wait_semaphore(struct subject *subject)
{
	SUBJECT_SPAN(subject, "semaphore", sem_wait(&subject->semaphore));
}

static void release_semaphore(struct subject *subject)
{
	sem_post(&subject->semaphore);
}

static void clean_semaphore(struct subject *subject)
{
	sem_destroy(&subject->semaphore);
}

/* ---- disk ---- */

static int prepare_disk(struct subject *subject)
{
	const char *directory = getenv("TMPDIR");
	char path[4096];

	snprintf(path, sizeof(path), "%s/waits-XXXXXX", directory && *directory ? directory : "/var/tmp");
	subject->fds[0] = mkostemp(path, O_CLOEXEC);
	if (subject->fds[0] < 0)
		return errno;
	unlink(path);
	subject->fds[1] = -1;
	return 0;
}

static int write_durably(struct subject *subject)
{
	char block[PAGE_BYTES];

	memset(block, (int)subject->turn, sizeof(block));
	for (int i = 0; i < FSYNC_CNT; i++)
		if (pwrite(subject->fds[0], block, sizeof(block), i * PAGE_BYTES) != PAGE_BYTES ||
		    fsync(subject->fds[0]))
			return -1;
	return 0;
}

static void wait_disk(struct subject *subject)
{
	subject->truth->asked_ns = 0; /* how long it takes is not known */
	SUBJECT_SPAN(subject, "disk", write_durably(subject));
}

/* ---- pipe ---- */

static void wait_pipe(struct subject *subject)
{
	SUBJECT_SPAN(subject, "pipe", read(subject->fds[0], &subject->byte, 1));
}

static int prepare_full_pipe(struct subject *subject)
{
	char block[PAGE_BYTES] = "";
	int err = prepare_pipe(subject);

	if (err)
		return err;
	fcntl(subject->fds[1], F_SETFL, O_NONBLOCK);
	while (write(subject->fds[1], block, sizeof(block)) > 0)
		;
	fcntl(subject->fds[1], F_SETFL, 0);
	return 0;
}

static void wait_full_pipe(struct subject *subject)
{
	SUBJECT_SPAN(subject, "full pipe", write(subject->fds[1], "x", 1));
}

static void drain_pipe(struct subject *subject)
{
	char block[PAGE_BYTES];

	must(read(subject->fds[0], block, sizeof(block)) > 0, "cannot read the pipe");
}

/* ---- network ---- */

static void wait_socket(struct subject *subject)
{
	SUBJECT_SPAN(subject, "socket", recv(subject->fds[0], &subject->byte, 1, 0));
}

static void wait_socket_read(struct subject *subject)
{
	SUBJECT_SPAN(subject, "socket read", read(subject->fds[0], &subject->byte, 1));
}

static void wait_poll(struct subject *subject)
{
	struct pollfd poll_fd = { .fd = subject->fds[0], .events = POLLIN };

	SUBJECT_SPAN(subject, "poll", poll(&poll_fd, 1, -1));
}

static void wait_select(struct subject *subject)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(subject->fds[0], &set);
	SUBJECT_SPAN(subject, "select", select(subject->fds[0] + 1, &set, NULL, NULL, NULL));
}

static void wait_epoll(struct subject *subject)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);

	must(epoll_fd >= 0 && !epoll_ctl(epoll_fd, EPOLL_CTL_ADD, subject->fds[0], &event),
	     "cannot make an epoll");
	SUBJECT_SPAN(subject, "epoll", epoll_wait(epoll_fd, &event, 1, -1));
	close(epoll_fd);
}

/* ---- wait ---- */

/* The child lives until its pipe is closed. */
static int prepare_child(struct subject *subject)
{
	int err = prepare_pipe(subject);

	if (err)
		return err;
	subject->child = fork();
	if (subject->child)
		return subject->child < 0 ? errno : 0;
	end_with_parent(SIGKILL);
	close(subject->fds[1]);
	_exit(read(subject->fds[0], &subject->byte, 1) == 1 ? 0 : 1);
}

static void wait_child(struct subject *subject)
{
	SUBJECT_SPAN(subject, "child", waitpid(subject->child, NULL, 0));
}

static void wait_signal(struct subject *subject)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	SUBJECT_SPAN(subject, "signal", sigwaitinfo(&signals, NULL));
}

static void release_signal(struct subject *subject)
{
	(void)subject;
	kill(getpid(), SIGUSR1);
}

/* ---- page fault: a page that somebody else has to bring ---- */

static int prepare_page_fault(struct subject *subject)
{
	struct uffdio_api api = { .api = UFFD_API };

	subject->fds[1] = -1;
	subject->fds[0] = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	if (subject->fds[0] < 0)
		return errno;
	subject->page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(subject->page != MAP_FAILED, "cannot map a page");
	struct uffdio_register range = { .range = { (uint64_t)subject->page, PAGE_BYTES },
					 .mode = UFFDIO_REGISTER_MODE_MISSING };
	return ioctl(subject->fds[0], UFFDIO_API, &api) || ioctl(subject->fds[0], UFFDIO_REGISTER, &range)
		       ? errno
		       : 0;
}

static void wait_page_fault(struct subject *subject)
{
	SUBJECT_SPAN(subject, "page fault", *(volatile char *)subject->page);
}

static void release_page_fault(struct subject *subject)
{
	struct uffdio_zeropage zero = { .range = { (uint64_t)subject->page, PAGE_BYTES } };

	must(!ioctl(subject->fds[0], UFFDIO_ZEROPAGE, &zero), "cannot bring the page");
}

static void clean_page_fault(struct subject *subject)
{
	munmap(subject->page, PAGE_BYTES);
	close(subject->fds[0]);
}

/* ---- stopped: all threads stop, so a child is the helper ---- */

static int prepare_stopped(struct subject *subject)
{
	pid_t parent = getpid();

	subject->child = fork();
	if (subject->child)
		return subject->child < 0 ? errno : 0;
	end_with_parent(SIGKILL);
	wait_until_state(parent, (uint32_t)parent, "T");
	sleep_ns(ASKED_NS);
	kill(parent, SIGCONT);
	_exit(0);
}

static void wait_stopped(struct subject *subject)
{
	SUBJECT_SPAN(subject, "stopped", kill(getpid(), SIGSTOP));
}

static void clean_stopped(struct subject *subject)
{
	waitpid(subject->child, NULL, 0);
}

static const struct wait waits[] = {
	{ "sleep", "sleep", NULL, wait_sleep, NULL, NULL },
	{ "clock", "sleep", NULL, wait_clock, NULL, NULL },
	{ "until", "sleep", NULL, wait_until, NULL, NULL },
	{ "semaphore", "lock", prepare_semaphore, wait_semaphore, release_semaphore, clean_semaphore },
	{ "disk", "disk", prepare_disk, wait_disk, NULL, close_both },
	{ "pipe", "pipe", prepare_pipe, wait_pipe, write_byte, close_both },
	{ "full-pipe", "pipe", prepare_full_pipe, wait_full_pipe, drain_pipe, close_both },
	{ "socket", "network", prepare_socket, wait_socket, write_byte, close_both },
	{ "socket-read", "network", prepare_socket, wait_socket_read, write_byte, close_both },
	{ "poll", "network", prepare_socket, wait_poll, write_byte, close_both },
	{ "select", "network", prepare_socket, wait_select, write_byte, close_both },
	{ "epoll", "network", prepare_socket, wait_epoll, write_byte, close_both },
	{ "child", "wait", prepare_child, wait_child, write_byte, close_both },
	{ "signal", "wait", NULL, wait_signal, release_signal, NULL },
	{ "page-fault", "page_fault", prepare_page_fault, wait_page_fault, release_page_fault,
	  clean_page_fault },
	{ "stopped", "stopped", prepare_stopped, wait_stopped, NULL, clean_stopped },
};
#define WAIT_CNT (sizeof(waits) / sizeof(waits[0]))

int main(int argc, char **argv)
{
	return waits_main(waits, WAIT_CNT, "waits: a span for each way to block", argc, argv);
}
