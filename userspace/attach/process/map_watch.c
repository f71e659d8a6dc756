/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/map_watch.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DATA_PAGES 16 /* a power of two: some 400 mappings for each CPU */
#define CPU_MAX 8192

struct map_ring {
	int fd; /* -1: no such CPU now */
	struct perf_event_mmap_page *page;
};

struct map_watch {
	int epoll_fd;
	size_t page_bytes;
	size_t cpu_cnt;
	unsigned char *record; /* one, put together where the ring wraps */
	struct map_ring rings[];
};

static int ring_open(struct map_watch *watch, size_t cpu, bool is_quick)
{
	size_t data_bytes = DATA_PAGES * watch->page_bytes;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.mmap2 = 1,
		.watermark = 1,
		.wakeup_watermark = is_quick ? 1 : data_bytes / 2,
	};
	struct epoll_event interest = { .events = EPOLLIN, .data.u64 = cpu };
	struct map_ring *ring = &watch->rings[cpu];
	void *page;

	ring->fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->fd < 0)
		return errno == ENODEV ? 0 : -errno; /* the CPU is off */
	page = mmap(NULL, watch->page_bytes + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	ring->page = page;
	return epoll_ctl(watch->epoll_fd, EPOLL_CTL_ADD, ring->fd, &interest) ? -errno : 0;
}

int map_watch_open(struct map_watch **out, bool is_quick)
{
	long cpu_cnt = sysconf(_SC_NPROCESSORS_CONF);
	struct map_watch *watch;
	int err = 0;

	*out = NULL;
	if (cpu_cnt < 1 || cpu_cnt > CPU_MAX)
		return -EINVAL;
	watch = calloc(1, sizeof(*watch) + (size_t)cpu_cnt * sizeof(watch->rings[0]));
	if (!watch)
		return -ENOMEM;
	watch->cpu_cnt = (size_t)cpu_cnt;
	watch->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	watch->record = malloc(UINT16_MAX + 1);
	for (size_t i = 0; i < watch->cpu_cnt; i++)
		watch->rings[i].fd = -1;
	watch->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (watch->epoll_fd < 0)
		err = -errno;
	if (!watch->record)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < watch->cpu_cnt; i++)
		err = ring_open(watch, i, is_quick);
	if (err)
		map_watch_close(watch);
	else
		*out = watch;
	return err;
}

int map_watch_fd(const struct map_watch *watch)
{
	return watch->epoll_fd;
}

/* PERF_RECORD_MMAP2: the fields that we use, without build ids. */
struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, offset;
	uint32_t dev_major, dev_minor;
	uint64_t inode, inode_generation;
	uint32_t protection, flags;
	char path[];
};

static int tell(const struct perf_event_header *header, map_visit visit, void *context)
{
	const struct mmap2_record *record = (const void *)header;
	struct map_news news = { .path = "" };

	if (header->type == PERF_RECORD_LOST)
		return visit(context, &news);
	if (header->type != PERF_RECORD_MMAP2 || header->size <= sizeof(*record) || !record->inode ||
	    (int32_t)record->pid <= 0)
		return 0;
	if (!memchr(record->path, '\0', header->size - sizeof(*record)))
		return 0;
	news = (struct map_news){ (pid_t)record->pid, record->inode, record->dev_major, record->dev_minor,
				  record->path };
	return visit(context, &news);
}

static void copy_out(const struct map_ring *ring, uint64_t from, void *to, size_t length)
{
	const unsigned char *data = (const unsigned char *)ring->page + ring->page->data_offset;
	uint64_t size = ring->page->data_size, at = from % size;
	size_t first = length < size - at ? length : size - at;

	memcpy(to, data + at, first);
	memcpy((unsigned char *)to + first, data, length - first);
}

static int ring_read(struct map_watch *watch, struct map_ring *ring, map_visit visit, void *context)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	int result = 0;

	while (!result && head - tail >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;

		copy_out(ring, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			break;
		copy_out(ring, tail, watch->record, header.size);
		tail += header.size;
		result = tell((const void *)watch->record, visit, context);
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
	return result;
}

int map_watch_read(struct map_watch *watch, map_visit visit, void *context)
{
	int result = 0;

	for (size_t i = 0; !result && i < watch->cpu_cnt; i++)
		if (watch->rings[i].page)
			result = ring_read(watch, &watch->rings[i], visit, context);
	return result;
}

void map_watch_close(struct map_watch *watch)
{
	if (!watch)
		return;
	for (size_t i = 0; i < watch->cpu_cnt; i++) {
		if (watch->rings[i].page)
			munmap(watch->rings[i].page, (1 + DATA_PAGES) * watch->page_bytes);
		if (watch->rings[i].fd >= 0)
			close(watch->rings[i].fd);
	}
	if (watch->epoll_fd >= 0)
		close(watch->epoll_fd);
	free(watch->record);
	free(watch);
}
