/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans that block or run in functions with known names, each in a way of its own: called, inlined, from a
 * library that is loaded late, from code that it makes itself, in a page fault, in poll and select. Prints
 * what only it can know: "poll one 5", the descriptors, and how often it slept when pages of a file were not
 * in memory: "file waits 32".
 */
#include <dlfcn.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "truth.h"

/*
 * An address that no file has (the vdso's, of a clock that was read) lets the recorder look at what is
 * mapped; it does so again after 50 ms (CODE_MAP_LOOK_NS).
 */
#define LOOK_PAUSE_NS (100 * NS_PER_MS)
#define NAP_NS (5 * NS_PER_MS)
#define NOINLINE __attribute__((noinline))

static volatile uint64_t steps;

/* Work behind each call keeps it from being a jump: the caller stays on the stack. */
NOINLINE static void nap_inner(void)
{
	sleep_ns(NAP_NS);
	steps++;
}

NOINLINE static void nap_outer(void)
{
	nap_inner();
	steps++;
}

static inline __attribute__((always_inline)) void nap_in_line(void)
{
	sleep_ns(NAP_NS);
	steps++;
}

NOINLINE static void nap_around(void)
{
	nap_in_line();
	steps++;
}

NOINLINE static void spin_inner(uint64_t ns)
{
	uint64_t until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns) {
		for (int i = 0; i < 100000; i++)
			steps++;
	}
}

NOINLINE static void spin_outer(uint64_t ns)
{
	spin_inner(ns);
	steps++;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

NOINLINE static void take_the_lock(void)
{
	pthread_mutex_lock(&lock);
	steps++;
}

/* Lets it go when the other thread is seen asleep. */
static void *hold_the_lock(void *tid)
{
	pthread_mutex_lock(&lock);
	__atomic_store_n((uint32_t *)tid + 1, 1, __ATOMIC_RELEASE);
	wait_until_state(getpid(), *(uint32_t *)tid, "S");
	sleep_ns(NAP_NS);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void wait_for_lock(void)
{
	uint32_t tid[2] = { (uint32_t)gettid(), 0 };
	pthread_t holder;

	pthread_create(&holder, NULL, hold_the_lock, tid);
	while (!__atomic_load_n(&tid[1], __ATOMIC_ACQUIRE))
		sched_yield();
	{
		TXTRACE_SPAN("lock");
		take_the_lock();
	}
	pthread_mutex_unlock(&lock);
	pthread_join(holder, NULL);
}

static void nap_in_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*nap)(void);

	must(library, dlerror());
	*(void **)&nap = dlsym(library, "nap_in_library");
	TXTRACE_SPAN("library");
	nap();
}

/* Its map is read while it runs: at its end it goes. */
static void remove_map(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
}

/* nanosleep(its argument, 0), with a frame pointer, as JIT compilers that want to be seen do it. */
static void nap_in_made_code(const char *map_line)
{
#if defined(__x86_64__)
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x31, 0xf6, 0xb8, 35,
					      0,    0,	  0,	0x0f, 0x05, 0x5d, 0xc3 };
#else
	static const uint32_t code[] = { 0xa9bf7bfd, 0x910003fd, 0xd2800001, 0xd2800ca8,
					 0xd4000001, 0xa8c17bfd, 0xd65f03c0 };
#endif
	struct timespec time = { .tv_sec = 0, .tv_nsec = NAP_NS };
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map = NULL;
	int fd;

	memcpy(page, code, sizeof(code));
	__builtin___clear_cache((char *)page, (char *)page + sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	atexit(remove_map);
	unlink(path); /* somebody may have put a link there, or an earlier process of this number the file */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		map = fdopen(fd, "w");
	if (!map)
		exit(2);
	fputs(map_line, map);
	fprintf(map, "%lx %zx made_code\n", (unsigned long)page, sizeof(code));
	fclose(map);
	TXTRACE_SPAN("made");
	((void (*)(struct timespec *))page)(&time);
	steps++;
}

/*
 * Whoever writes to the disk may hold pages for a moment longer. A file that is only in memory stays there,
 * and nobody waits for it.
 */
static void drop_from_memory(int fd, void *mapped, size_t size)
{
	size_t page_cnt = size / (size_t)sysconf(_SC_PAGESIZE), resident_cnt = 1;
	unsigned char *pages = malloc(page_cnt);
	struct statfs system;

	if (!fstatfs(fd, &system) && (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC)) {
		free(pages);
		return;
	}
	for (int tries = 0; resident_cnt && tries < 1000; tries++) {
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		resident_cnt = 0;
		for (size_t i = 0; !mincore(mapped, size, pages) && i < page_cnt; i++)
			resident_cnt += pages[i] & 1;
		if (resident_cnt)
			sleep_ns(10 * NS_PER_MS);
	}
	free(pages);
	must(!resident_cnt, "a file stays in memory");
}

/* Its pages are on the disk, and not in memory. */
static void fault_in_file(const char *path)
{
	size_t size = 8 << 20;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char *bytes = malloc(size);
	struct rusage before, after;
	char *mapped;

	memset(bytes, 7, size);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || fsync(fd))
		exit(2);
	free(bytes);
	mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	madvise(mapped, size, MADV_RANDOM);
	drop_from_memory(fd, mapped, size);
	getrusage(RUSAGE_THREAD, &before);
	{
		TXTRACE_SPAN("file");
		for (size_t at = 0; at < size; at += 256 << 10)
			steps += (unsigned char)mapped[at];
	}
	getrusage(RUSAGE_THREAD, &after);
	printf("file waits %ld\n", after.ru_nvcsw - before.ru_nvcsw);
}

static void poll_pipes(void)
{
	int pipes[3][2];
	struct pollfd polled[4] = { { .fd = -1 } };
	struct timeval time = { 0, 5000 };
	fd_set set;

	for (int i = 0; i < 3; i++) {
		if (pipe(pipes[i]))
			exit(2);
		polled[i + 1] = (struct pollfd){ .fd = pipes[i][0], .events = POLLIN };
	}
	{
		TXTRACE_SPAN("poll one");
		poll(polled + 1, 1, 5);
	}
	{
		TXTRACE_SPAN("poll many");
		poll(polled, 4, 5);
	}
	FD_ZERO(&set);
	FD_SET(pipes[1][0], &set);
	FD_SET(pipes[2][0], &set);
	{
		TXTRACE_SPAN("select many");
		select(pipes[2][0] + 1, &set, NULL, NULL, &time);
	}
	printf("poll one %d\npoll many %d\nselect many %d\n", pipes[0][0], pipes[0][0], pipes[1][0]);
}

static const char *library = "", *file = "", *map_line = "", *until = "";
static uint64_t repeat_cnt = 10, spin_ms = 300, linger_ms = 500, wait_s = 20;

/*
 * What it has mapped, and its map of made code, are read while it lives. Who
 * traces it says so by this file, once the counter is recorded.
 */
static void live_until(const char *path)
{
	TXTRACE_COUNTER("all places", 1);
	while (access(path, F_OK))
		sleep_ns(NS_PER_MS);
}

int main(int argc, char **argv)
{
	const struct option_spec options[] = {
		{ .name = "library", .help = "to be loaded", .text = &library },
		{ .name = "file", .help = "to be made and mapped", .text = &file },
		{ .name = "map-line",
		  .help = "for the map of made code, in front of what is right",
		  .text = &map_line },
		{ .name = "repeat", .help = "naps of each kind", .count = &repeat_cnt, .max = 1e6 },
		{ .name = "spin-ms", .help = "on a CPU", .count = &spin_ms, .max = 1e6 },
		{ .name = "linger-ms", .help = "before the end", .count = &linger_ms, .max = 1e6 },
		{ .name = "until",
		  .help = "a file to wait for at the end, instead of lingering",
		  .text = &until },
		{ .name = "wait-traced",
		  .help = "seconds to wait for a tracer; 0: do not",
		  .count = &wait_s,
		  .max = 1e6 },
	};

	options_parse(options, sizeof(options) / sizeof(options[0]),
		      "places: blocks and runs in functions with known names", argc, argv);
	wait_until_traced(wait_s);
	for (uint64_t i = 0; i < repeat_cnt; i++) {
		TXTRACE_SPAN("parent");
		nap_outer();
		TXTRACE_SPAN("inlined");
		nap_around();
	}
	{
		TXTRACE_SPAN("spin");
		spin_outer(spin_ms * NS_PER_MS);
	}
	wait_for_lock();
	if (*library) {
		sleep_ns(LOOK_PAUSE_NS);
		nap_in_library(library);
	}
	nap_in_made_code(map_line);
	if (*file)
		fault_in_file(file);
	poll_pipes();
	fflush(stdout);
	if (*until)
		live_until(until);
	else
		sleep_ns(linger_ms * NS_PER_MS);
	return 0;
}
