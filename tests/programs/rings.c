/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One span for each thing that a wait in io_uring_enter may be for: what the request is for that ends it.
 * Without liburing: a ring of the system calls' own. Says "io_uring: REASON" and ends with status 0 and no
 * span where there is none to be had.
 */
#include <linux/io_uring.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "waits.h"

#define ENTRY_CNT 8
#define BLOCK_BYTES 4096
#define READ_CNT 40
#define FLOOD_CNT 20000 /* of 16,384: bpf/uring.bpf.c */
#define FILE_BLOCKS 256

struct ring {
	int fd;
	char *submissions; /* what the kernel maps */
	char *completions;
	struct io_uring_sqe *entries;
	struct io_uring_params params;
};

static struct ring ring;
static char *aligned_block;

static uint32_t *ring_number(char *base, uint32_t offset)
{
	return (uint32_t *)(void *)(base + offset);
}

/* completion_cnt: with IORING_SETUP_CQSIZE, that so many find room. */
static int ring_open_for(uint32_t flags, uint32_t completion_cnt)
{
	size_t bytes;

	ring.params = (struct io_uring_params){ .flags = flags, .cq_entries = completion_cnt };
	ring.fd = (int)syscall(SYS_io_uring_setup, ENTRY_CNT, &ring.params);
	if (ring.fd < 0)
		return errno;
	bytes = ring.params.sq_off.array + ENTRY_CNT * sizeof(uint32_t);
	ring.submissions = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_SQ_RING);
	bytes = ring.params.cq_off.cqes + ring.params.cq_entries * sizeof(struct io_uring_cqe);
	ring.completions = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_CQ_RING);
	ring.entries = mmap(NULL, ENTRY_CNT * sizeof(*ring.entries), PROT_READ | PROT_WRITE, MAP_SHARED,
			    ring.fd, IORING_OFF_SQES);
	must(ring.submissions != MAP_FAILED && ring.completions != MAP_FAILED && ring.entries != MAP_FAILED,
	     "cannot map a ring");
	return 0;
}

static int ring_open(uint32_t flags)
{
	return ring_open_for(flags, 0);
}

static void ring_close(void)
{
	munmap(ring.submissions, ring.params.sq_off.array + ENTRY_CNT * sizeof(uint32_t));
	munmap(ring.completions,
	       ring.params.cq_off.cqes + ring.params.cq_entries * sizeof(struct io_uring_cqe));
	munmap(ring.entries, ENTRY_CNT * sizeof(*ring.entries));
	close(ring.fd);
}

/*
 * Shows the kernel several at once: with a thread of its own, it takes what it sees at any time, and ends a
 * chain there.
 */
static void ring_put_all(const struct io_uring_sqe *entries, uint32_t cnt)
{
	uint32_t *tail = ring_number(ring.submissions, ring.params.sq_off.tail);

	for (uint32_t i = 0; i < cnt; i++) {
		uint32_t idx = (*tail + i) & (ENTRY_CNT - 1);

		ring.entries[idx] = entries[i];
		ring_number(ring.submissions, ring.params.sq_off.array)[idx] = idx;
	}
	__atomic_store_n(tail, *tail + cnt, __ATOMIC_RELEASE);
}

static void ring_put(struct io_uring_sqe entry)
{
	ring_put_all(&entry, 1);
}

/* Waits for one completion, and takes all. */
static int ring_enter(uint32_t submit_cnt)
{
	uint32_t *head = ring_number(ring.completions, ring.params.cq_off.head);
	int result = (int)syscall(SYS_io_uring_enter, ring.fd, submit_cnt, 1, IORING_ENTER_GETEVENTS, NULL,
				  0);

	__atomic_store_n(head,
			 __atomic_load_n(ring_number(ring.completions, ring.params.cq_off.tail),
					 __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
	return result;
}

static struct io_uring_sqe receive(int fd)
{
	return (struct io_uring_sqe){
		.opcode = IORING_OP_RECV, .fd = fd, .addr = (uint64_t)aligned_block, .len = 1
	};
}

static struct io_uring_sqe poll_of(int fd)
{
	return (struct io_uring_sqe){ .opcode = IORING_OP_POLL_ADD, .fd = fd, .poll32_events = POLLIN };
}

/* ---- the waits ---- */

static int prepare_file(struct subject *subject)
{
	const char *directory = getenv("TMPDIR");
	char path[4096];

	snprintf(path, sizeof(path), "%s/rings-XXXXXX", directory && *directory ? directory : "/var/tmp");
	subject->fds[0] = mkostemp(path, O_CLOEXEC | O_DIRECT);
	if (subject->fds[0] < 0)
		return errno;
	unlink(path);
	for (int i = 0; i < FILE_BLOCKS; i++)
		must(pwrite(subject->fds[0], aligned_block, BLOCK_BYTES, i * BLOCK_BYTES) == BLOCK_BYTES,
		     "cannot write");
	subject->fds[1] = -1;
	fsync(subject->fds[0]);
	return 0;
}

static int read_file(struct subject *subject)
{
	for (int i = 0; i < READ_CNT; i++) {
		ring_put((struct io_uring_sqe){ .opcode = IORING_OP_READ,
						.fd = subject->fds[0],
						.addr = (uint64_t)aligned_block,
						.len = BLOCK_BYTES,
						.off = (uint64_t)(i * 37 % FILE_BLOCKS) * BLOCK_BYTES });
		if (ring_enter(1) < 0)
			return -1;
	}
	return 0;
}

static void wait_disk(struct subject *subject)
{
	subject->truth->asked_ns = 0;
	SUBJECT_SPAN(subject, "ring disk", read_file(subject));
}

/* While a worker of the kernel waits for a pipe on our behalf. */
static int prepare_punted(struct subject *subject)
{
	int err = prepare_file(subject);

	if (err)
		return err;
	must(!pipe2(subject->more_fds, O_CLOEXEC), "cannot make a pipe");
	ring_put((struct io_uring_sqe){ .opcode = IORING_OP_READ,
					.fd = subject->more_fds[0],
					.addr = (uint64_t)aligned_block,
					.len = 1,
					.off = (uint64_t)-1,
					.flags = IOSQE_ASYNC });
	must(syscall(SYS_io_uring_enter, ring.fd, 1, 0, 0, NULL, 0) == 1, "cannot submit");
	return 0;
}

static void wait_punted(struct subject *subject)
{
	subject->truth->asked_ns = 0;
	SUBJECT_SPAN(subject, "ring disk while a pipe is read", read_file(subject));
}

static void clean_punted(struct subject *subject)
{
	close(subject->more_fds[1]);
	ring_enter(0);
	close(subject->more_fds[0]);
	close_both(subject);
}

static void wait_receive(struct subject *subject)
{
	ring_put(receive(subject->fds[0]));
	SUBJECT_SPAN(subject, "ring receive", ring_enter(1));
}

static void wait_timeout(struct subject *subject)
{
	struct __kernel_timespec time = { .tv_nsec = 2 * ASKED_NS };

	ring_put((struct io_uring_sqe){
		.opcode = IORING_OP_TIMEOUT, .fd = -1, .addr = (uint64_t)&time, .len = 1 });
	SUBJECT_SPAN(subject, "ring timeout", ring_enter(1));
}

static void wait_polled(struct subject *subject)
{
	ring_put(poll_of(subject->fds[0]));
	SUBJECT_SPAN(subject, "ring poll", ring_enter(1));
}

static int prepare_eventfd(struct subject *subject)
{
	subject->fds[0] = eventfd(0, EFD_CLOEXEC);
	subject->fds[1] = dup(subject->fds[0]);
	return 0;
}

static void write_number(struct subject *subject)
{
	must(!eventfd_write(subject->fds[1], 1), "cannot write an eventfd");
}

/* Two in flight of two kinds; that of the pipe ends it. The other one ends with the socket. */
static int prepare_two(struct subject *subject)
{
	must(!prepare_pipe(subject) && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, subject->more_fds),
	     "cannot make a socket");
	return 0;
}

static void wait_two(struct subject *subject)
{
	ring_put(receive(subject->more_fds[0]));
	ring_put(poll_of(subject->fds[0]));
	SUBJECT_SPAN(subject, "ring two", ring_enter(2));
}

static void clean_two(struct subject *subject)
{
	close(subject->more_fds[1]);
	ring_enter(0);
	close(subject->more_fds[0]);
	close_both(subject);
}

/*
 * ---- what is in flight decides: completions before the last one of a request do not tell which it is ----
 */

#define POLL_NUMBER 77
#define CHAIN_CNT 5

/* A thread of the kernel takes what is submitted: until it has all of it. */
static void pass_on(void)
{
	const uint32_t *head = ring_number(ring.submissions, ring.params.sq_off.head),
		       *tail = ring_number(ring.submissions, ring.params.sq_off.tail);
	const uint32_t *flags = ring_number(ring.submissions, ring.params.sq_off.flags);

	while (__atomic_load_n(head, __ATOMIC_ACQUIRE) != *tail) {
		if (__atomic_load_n(flags, __ATOMIC_ACQUIRE) & IORING_SQ_NEED_WAKEUP)
			syscall(SYS_io_uring_enter, ring.fd, 0, 0, IORING_ENTER_SQ_WAKEUP, NULL, 0);
		usleep(200);
	}
}

/* Waits for so many completions, and takes them. */
static void take(uint32_t cnt)
{
	uint32_t *head = ring_number(ring.completions, ring.params.cq_off.head);

	must(!syscall(SYS_io_uring_enter, ring.fd, 0, cnt, IORING_ENTER_GETEVENTS, NULL, 0),
	     "cannot wait for completions");
	must(__atomic_load_n(ring_number(ring.completions, ring.params.cq_off.tail), __ATOMIC_ACQUIRE) -
			     *head ==
		     cnt,
	     "other completions than expected");
	__atomic_store_n(head, *head + cnt, __ATOMIC_RELEASE);
}

/* The subject has a ring of its own and a pipe, and, to be read, a socket with two bytes. */
static int prepare_counted(struct subject *subject)
{
	int err;

	ring_close();
	err = ring_open_for(IORING_SETUP_SQPOLL | IORING_SETUP_CQSIZE, 2 * FLOOD_CNT);
	must(!err, "cannot have a thread of the kernel");
	must(!prepare_pipe(subject) && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, subject->more_fds),
	     "cannot make a socket");
	must(write(subject->more_fds[1], "xx", 2) == 2, "cannot write");
	return 0;
}

static void clean_counted(struct subject *subject)
{
	ring_close();
	must(!ring_open(0), "cannot open a ring");
	close(subject->more_fds[0]);
	close(subject->more_fds[1]);
	close_both(subject);
}

static struct io_uring_sqe read_of(int fd)
{
	return (struct io_uring_sqe){
		.opcode = IORING_OP_READ, .fd = fd, .addr = (uint64_t)aligned_block, .len = 1
	};
}

static int watch_pipe(int fd, uint8_t flags)
{
	ring_put((struct io_uring_sqe){ .opcode = IORING_OP_POLL_ADD,
					.fd = fd,
					.poll32_events = POLLIN,
					.len = IORING_POLL_ADD_MULTI,
					.user_data = POLL_NUMBER,
					.flags = flags });
	pass_on();
	return 0;
}

static int prepare_watched(struct subject *subject)
{
	return prepare_counted(subject) || watch_pipe(subject->fds[0], 0);
}

/* Known by its number in the ring. */
static int prepare_registered(struct subject *subject)
{
	prepare_counted(subject);
	must(!syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES, subject->fds, 2),
	     "cannot register a file");
	return watch_pipe(0, IOSQE_FIXED_FILE);
}

/* One that had no file when it was submitted. */
static int prepare_after_read(struct subject *subject)
{
	prepare_counted(subject);
	ring_put(read_of(subject->more_fds[0]));
	pass_on();
	take(1);
	return watch_pipe(subject->fds[0], 0);
}

/* One that is completed and was never submitted. Its class is that of what is in flight. */
static int prepare_after_bad(struct subject *subject)
{
	struct io_uring_sqe bad = poll_of(subject->fds[0]);

	prepare_counted(subject);
	watch_pipe(subject->fds[0], 0);
	bad.fd = subject->fds[0];
	bad.off = 1; /* which it does not take */
	ring_put(bad);
	pass_on();
	take(1);
	return 0;
}

/*
 * Several that are never completed, and those behind the first of a chain, which never get their file, since
 * the first one fails: more than requests come later, which could take their places in the kernel's memory.
 */
static int prepare_after_silent(struct subject *subject)
{
	struct io_uring_sqe chain[CHAIN_CNT] = { receive(-1) };

	prepare_counted(subject);
	for (int i = 0; i < ENTRY_CNT; i++)
		ring_put((struct io_uring_sqe){
			.opcode = IORING_OP_NOP, .fd = -1, .flags = IOSQE_CQE_SKIP_SUCCESS });
	pass_on();
	for (int i = 1; i < CHAIN_CNT; i++) {
		chain[i] = read_of(subject->more_fds[0]);
		chain[i - 1].flags = IOSQE_IO_LINK;
	}
	ring_put_all(chain, CHAIN_CNT);
	pass_on();
	take(CHAIN_CNT);
	return watch_pipe(subject->fds[0], 0);
}

/* More in flight at once than the kernel side counts, all of them completed before the pipe is watched. */
static int prepare_after_flood(struct subject *subject)
{
	int event = eventfd(0, EFD_CLOEXEC);

	prepare_counted(subject);
	for (uint32_t i = 0; i < FLOOD_CNT; i += ENTRY_CNT) {
		for (uint32_t k = 0; k < ENTRY_CNT; k++)
			ring_put(poll_of(event));
		pass_on();
	}
	must(!eventfd_write(event, 1), "cannot write an eventfd");
	take(FLOOD_CNT);
	close(event);
	return watch_pipe(subject->fds[0], 0);
}

static void wait_watched(struct subject *subject)
{
	SUBJECT_SPAN(subject, "ring watches a pipe", ring_enter(0));
}

static const struct wait counted_waits[] = {
	{ "watched", "pipe", prepare_watched, wait_watched, write_byte, clean_counted },
	{ "registered", "pipe", prepare_registered, wait_watched, write_byte, clean_counted },
	{ "after-read", "pipe", prepare_after_read, wait_watched, write_byte, clean_counted },
	{ "after-bad", "pipe", prepare_after_bad, wait_watched, write_byte, clean_counted },
	{ "after-silent", "pipe", prepare_after_silent, wait_watched, write_byte, clean_counted },
	{ "after-flood", "pipe", prepare_after_flood, wait_watched, write_byte, clean_counted },
};

static const struct wait disk_waits[] = {
	{ "disk", "disk", prepare_file, wait_disk, NULL, close_both },
	{ "punted", "disk", prepare_punted, wait_punted, NULL, clean_punted },
};

static const struct wait waits[] = {
	{ "receive", "network", prepare_socket, wait_receive, write_byte, close_both },
	{ "timeout", "sleep", NULL, wait_timeout, NULL, NULL },
	{ "poll-pipe", "pipe", prepare_pipe, wait_polled, write_byte, close_both },
	{ "poll-socket", "network", prepare_socket, wait_polled, write_byte, close_both },
	{ "poll-eventfd", "poll", prepare_eventfd, wait_polled, write_number, close_both },
	{ "two", "pipe", prepare_two, wait_two, write_byte, clean_two },
};

static int run(const struct wait *table, size_t cnt, int argc, char **argv)
{
	return waits_main(
		table, cnt,
		"rings [deferred] [disk|counted]: a span for each thing that a wait in io_uring is for", argc,
		argv);
}

static bool is_word(int argc, char **argv, int idx, const char *word)
{
	return argc > idx && !strcmp(argv[idx], word);
}

int main(int argc, char **argv)
{
	bool is_deferred = is_word(argc, argv, 1, "deferred"),
	     is_disk = is_word(argc, argv, 1 + is_deferred, "disk");
	bool is_counted = is_word(argc, argv, 1, "counted");
	int word_cnt = is_deferred + is_disk + is_counted;
	int err = ring_open(is_deferred ? IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN : 0),
	    status;

	if (err) {
		fprintf(stderr, "io_uring: %s\n", strerror(err));
		return 0;
	}
	aligned_block = aligned_alloc(BLOCK_BYTES, BLOCK_BYTES);
	must(aligned_block, "no memory");
	argc -= word_cnt;
	argv += word_cnt;
	if (is_disk)
		status = run(disk_waits, sizeof(disk_waits) / sizeof(disk_waits[0]), argc, argv);
	else if (is_counted)
		status = run(counted_waits, sizeof(counted_waits) / sizeof(counted_waits[0]), argc, argv);
	else
		status = run(waits, sizeof(waits) / sizeof(waits[0]), argc, argv);
	ring_close();
	free(aligned_block);
	return status;
}
