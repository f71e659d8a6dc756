/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process whose memory nobody can read, of its own making: it maps a file of a FUSE server that it runs
 * itself, dirties it, has the server stop to answer writes, and unmaps it. The kernel then holds the lock of
 * the process' memory until the server answers or ends, and whoever wants to read it waits. Before that it
 * marks spans with labels in pages that it has never touched: the recorder asks what is mapped there.
 *
 * The mount is in a mount namespace of its own, and in a user namespace, too, with --user-namespace 1: so it
 * goes with the process. All ends when the server does: on SIGKILL, when the first thread ends, or after
 * --limit seconds.
 *
 * Prints, each with an end of line: "server PID"; "hangs" when the lock is held; "over" when it is not any
 * more.
 */
#include <linux/fuse.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "truth.h"

#define FILE_BYTES 65536
#define FILE_NODE 2
#define LABEL_BYTES 32
#define REQUEST_BYTES (1u << 20) /* the most that one write may hold, and more */

struct server {
	int device;
	volatile bool *hangs;
	char request[REQUEST_BYTES];
};

/* ---- the server ---- */

static void answer(const struct server *server, uint64_t unique, int error, const void *bytes, size_t size)
{
	struct fuse_out_header header = { .len = (uint32_t)(sizeof(header) + size),
					  .error = -error,
					  .unique = unique };
	struct iovec parts[] = { { &header, sizeof(header) }, { (void *)bytes, size } };

	must(writev(server->device, parts, size ? 2 : 1) >= 0 || errno == ENOENT, "cannot answer the kernel");
}

static struct fuse_attr attributes_of(uint64_t node)
{
	bool is_file = node == FILE_NODE;

	return (struct fuse_attr){ .ino = node,
				   .size = is_file ? FILE_BYTES : 0,
				   .mode = is_file ? S_IFREG | 0644 : S_IFDIR | 0755,
				   .nlink = 1 };
}

static void serve_init(const struct server *server, uint64_t unique)
{
	const struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.flags = FUSE_WRITEBACK_CACHE,
		.max_write = FILE_BYTES,
		.max_background = 12,
		.congestion_threshold = 9,
	};

	answer(server, unique, 0, &out, sizeof(out));
}

static void serve_lookup(const struct server *server, uint64_t unique)
{
	const struct fuse_entry_out out = {
		.nodeid = FILE_NODE, .entry_valid = 3600, .attr_valid = 3600, .attr = attributes_of(FILE_NODE)
	};

	answer(server, unique, 0, &out, sizeof(out));
}

static void serve_attributes(const struct server *server, const struct fuse_in_header *in)
{
	const struct fuse_attr_out out = { .attr_valid = 3600, .attr = attributes_of(in->nodeid) };

	answer(server, in->unique, 0, &out, sizeof(out));
}

static void serve_open(const struct server *server, uint64_t unique)
{
	const struct fuse_open_out out = { .fh = 1 };

	answer(server, unique, 0, &out, sizeof(out));
}

static void serve_read(const struct server *server, const struct fuse_in_header *in)
{
	static const char zeros[FILE_BYTES];
	const struct fuse_read_in *read_in = (const void *)(in + 1);

	answer(server, in->unique, 0, zeros, read_in->size < FILE_BYTES ? read_in->size : FILE_BYTES);
}

static void serve_write(const struct server *server, const struct fuse_in_header *in)
{
	const struct fuse_write_in *write_in = (const void *)(in + 1);
	const struct fuse_write_out out = { .size = write_in->size };

	if (!*server->hangs)
		answer(server, in->unique, 0, &out, sizeof(out));
}

static void serve_one(const struct server *server, const struct fuse_in_header *in)
{
	switch (in->opcode) {
	case FUSE_INIT:
		serve_init(server, in->unique);
		break;
	case FUSE_LOOKUP:
		serve_lookup(server, in->unique);
		break;
	case FUSE_GETATTR:
	case FUSE_SETATTR:
		serve_attributes(server, in);
		break;
	case FUSE_OPEN:
		serve_open(server, in->unique);
		break;
	case FUSE_READ:
		serve_read(server, in);
		break;
	case FUSE_WRITE:
		serve_write(server, in);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break; /* nobody waits for an answer */
	default:
		answer(server, in->unique, ENOSYS, NULL, 0);
	}
}

static void serve(struct server *server)
{
	for (;;) {
		ssize_t got = read(server->device, server->request, sizeof(server->request));

		if (got >= (ssize_t)sizeof(struct fuse_in_header))
			serve_one(server, (const void *)server->request);
		else if (got >= 0 || (errno != EINTR && errno != EAGAIN && errno != ENOENT))
			_exit(0);
	}
}

/* ---- the mount ---- */

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
	close(fd);
}

static void enter_namespaces(bool wants_user)
{
	char uids[64], gids[64];

	snprintf(uids, sizeof(uids), "%u %u 1", getuid(), getuid());
	snprintf(gids, sizeof(gids), "%u %u 1", getgid(), getgid());
	must(!unshare(CLONE_NEWNS | (wants_user ? CLONE_NEWUSER : 0)), "cannot make a namespace");
	if (wants_user) {
		write_file("/proc/self/setgroups", "deny");
		write_file("/proc/self/uid_map", uids);
		write_file("/proc/self/gid_map", gids);
	}
	must(!mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), "cannot make mounts private");
}

static int mount_fuse(const char *directory)
{
	char options[128];
	int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	must(device >= 0, "cannot open /dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u", device, getuid(),
		 getgid());
	must(!mount("frozen", directory, "fuse", MS_NOSUID | MS_NODEV, options), "cannot mount");
	return device;
}

static pid_t start_server(int device, volatile bool *hangs, double limit_s)
{
	struct server *server = calloc(1, sizeof(*server));
	pid_t parent = getpid(), pid;

	must(server, "no memory");
	server->device = device;
	server->hangs = hangs;
	pid = fork();
	must(pid >= 0, "cannot fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGALRM, SIG_DFL);
	alarm((unsigned int)limit_s);
	if (getppid() != parent)
		_exit(0);
	serve(server);
	return 0;
}

/* ---- the crime ---- */

struct crime {
	char *pages; /* of the FUSE file */
	char *labels;
	uint64_t label_cnt;
	_Atomic uint32_t tid;
	volatile bool *hangs;
};

static void *unmap(void *argument)
{
	struct crime *crime = argument;

	atomic_store(&crime->tid, (uint32_t)syscall(SYS_gettid));
	mmap(crime->pages, FILE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	return NULL;
}

static void touch(const struct crime *crime, char value)
{
	for (size_t at = 0; at < FILE_BYTES; at += 4096)
		((volatile char *)crime->pages)[at] = value;
}

/* Nothing is mapped and no page is touched for the first time while the lock is held. */
static void commit(struct crime *crime)
{
	pthread_t thread;

	touch(crime, 2);
	*crime->hangs = true;
	for (uint64_t i = 0; i < crime->label_cnt; i++) {
		txtrace_site_begin(100000 + i, crime->labels + i * LABEL_BYTES, 0);
		txtrace_site_end(100000 + i);
	}
	start_thread(&thread, unmap, crime);
	while (!atomic_load(&crime->tid))
		sched_yield();
	wait_until_state(getpid(), atomic_load(&crime->tid), "D");
	must(write(STDOUT_FILENO, "hangs\n", 6) == 6, "cannot say so");
	pthread_join(thread, NULL);
	must(write(STDOUT_FILENO, "over\n", 5) == 5, "cannot say so");
}

static void prepare(struct crime *crime, const char *directory, pid_t *server, bool wants_user,
		    double limit_s)
{
	char path[512];
	int fd;

	crime->labels = mmap(NULL, crime->label_cnt * LABEL_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	crime->hangs = mmap(NULL, sizeof(*crime->hangs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);
	must(crime->labels != MAP_FAILED && crime->hangs != MAP_FAILED, "no memory");
	enter_namespaces(wants_user);
	fd = mount_fuse(directory);
	*server = start_server(fd, crime->hangs, limit_s);
	close(fd);
	snprintf(path, sizeof(path), "%s/file", directory);
	fd = open(path, O_RDWR | O_CLOEXEC);
	must(fd >= 0, "cannot open the file");
	crime->pages = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(crime->pages != MAP_FAILED, "cannot map the file");
	close(fd);
	touch(crime, 1);
}

static void map_code(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat file;

	must(fd >= 0 && !fstat(fd, &file), path);
	must(mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED, path);
	close(fd);
}

int main(int argc, char **argv)
{
	struct truth_options common = TRUTH_OPTIONS_DEFAULT;
	struct crime crime = { .label_cnt = 2000 };
	const char *directory = NULL, *mapped = NULL;
	uint64_t wants_user = 0;
	double limit_s = 300;
	pid_t server;
	const struct option_spec table[] = {
		TRUTH_WAIT_SPEC(&common),
		{ .name = "directory", .help = "where to mount", .text = &directory },
		{ .name = "map",
		  .help = "a program that is mapped, too: its probes cannot be set any more",
		  .text = &mapped },
		{ .name = "labels",
		  .help = "in memory, each in a span of its own",
		  .count = &crime.label_cnt,
		  .min = 1,
		  .max = 60000 },
		{ .name = "user-namespace", .help = "1: mount as its root", .count = &wants_user, .max = 1 },
		{ .name = "limit",
		  .help = "seconds after which the server ends by itself",
		  .real = &limit_s,
		  .min = 1,
		  .max = 3600 },
	};

	options_parse(table, sizeof(table) / sizeof(table[0]),
		      "frozen: a process whose memory nobody can read", argc, argv);
	must(directory, "--directory has to be given");
	if (mapped)
		map_code(mapped);
	prepare(&crime, directory, &server, wants_user, limit_s);
	printf("server %d\n", (int)server);
	fflush(stdout);
	truth_start(&common);
	commit(&crime);
	return 0;
}
