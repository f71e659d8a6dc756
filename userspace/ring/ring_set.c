/* SPDX-License-Identifier: BSD-2-Clause */
#include "ring/ring_set.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "txtrace/event.h"

#define DEFAULT_RING_BYTES (16u << 20)
#define MIN_RING_BYTES (64u << 10)

struct ring {
	int fd;
	size_t mask;
	unsigned long *consumer;	    /* its page, writable */
	const unsigned char *producer_page; /* the producer's position, then the data, twice in a row */
	const unsigned char *data;
	uint64_t watermark_ns;
};

struct ring_set {
	size_t ring_cnt;
	size_t ring_bytes;
	size_t page_bytes;
	uint64_t taken_cnt;
	uint64_t taken_bytes;
	int epoll_fd;
	struct ring rings[];
};

void ring_set_plan(struct ring_set_options *options, size_t cpu_cnt, size_t total_bytes)
{
	size_t wanted;

	options->ring_cnt = 1;
	while (options->ring_cnt < cpu_cnt && options->ring_cnt < WIRE_RING_MAX)
		options->ring_cnt *= 2;
	wanted = total_bytes ? total_bytes / options->ring_cnt : DEFAULT_RING_BYTES;
	options->ring_bytes = MIN_RING_BYTES;
	while (options->ring_bytes * 2 <= wanted && options->ring_bytes < (1u << 30))
		options->ring_bytes *= 2;
	options->wake_bytes = options->ring_bytes / 8;
	for (size_t cnt = options->ring_cnt; cnt < cpu_cnt; cnt *= 2)
		options->wake_bytes /= 2;
}

static int ring_map(struct ring_set *set, struct ring *ring)
{
	void *memory;

	ring->mask = set->ring_bytes - 1;
	memory = mmap(NULL, set->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	ring->consumer = memory;
	memory = mmap(NULL, set->page_bytes + 2 * set->ring_bytes, PROT_READ, MAP_SHARED, ring->fd,
		      set->page_bytes);
	if (memory == MAP_FAILED)
		return -errno;
	ring->producer_page = memory;
	ring->data = ring->producer_page + set->page_bytes;
	return 0;
}

static int ring_open(struct ring_set *set, size_t idx)
{
	struct ring *ring = &set->rings[idx];
	struct epoll_event interest = { .events = EPOLLIN | EPOLLET, .data.u64 = idx };
	int err;

	ring->fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "txtrace_ring", 0, 0, set->ring_bytes, NULL);
	if (ring->fd < 0)
		return -errno;
	err = ring_map(set, ring);
	if (err)
		return err;
	return epoll_ctl(set->epoll_fd, EPOLL_CTL_ADD, ring->fd, &interest) ? -errno : 0;
}

/*
 * In one call, where the kernel has that for such maps: behind each it waits until no program can have an
 * earlier ring, which takes some 20 ms.
 */
static int put_rings(const struct ring_set *set, int rings_map_fd)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	uint32_t keys[WIRE_RING_MAX], cnt = (uint32_t)set->ring_cnt;
	int fds[WIRE_RING_MAX];

	for (uint32_t i = 0; i < set->ring_cnt; i++) {
		keys[i] = i;
		fds[i] = set->rings[i].fd;
	}
	if (!bpf_map_update_batch(rings_map_fd, keys, fds, &cnt, &options))
		return 0;
	for (uint32_t i = 0; i < set->ring_cnt; i++)
		if (bpf_map_update_elem(rings_map_fd, &keys[i], &fds[i], BPF_ANY))
			return -errno;
	return 0;
}

int ring_set_open(struct ring_set **result, const struct ring_set_options *options, struct error *error)
{
	struct ring_set *set = calloc(1, sizeof(*set) + options->ring_cnt * sizeof(set->rings[0]));
	int err = -ENOMEM;

	if (!set)
		goto failed;
	set->ring_cnt = options->ring_cnt;
	set->ring_bytes = options->ring_bytes;
	set->page_bytes = sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < set->ring_cnt; i++)
		set->rings[i].fd = -1;
	set->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (set->epoll_fd < 0) {
		err = -errno;
		goto failed;
	}
	for (size_t i = 0; i < set->ring_cnt; i++) {
		err = ring_open(set, i);
		if (err)
			goto failed;
	}
	err = put_rings(set, options->rings_map_fd);
	if (err)
		goto failed;
	*result = set;
	return 0;
failed:
	if (err == -EMFILE)
		error_set(error,
			  "no file descriptor is left for the ring buffers: raise the limit with ulimit -n");
	else
		error_set(error, "cannot make %zu ring buffers of %zu KiB: %s; try a smaller --ring-size",
			  options->ring_cnt, options->ring_bytes >> 10, strerror(-err));
	ring_set_close(set);
	return err;
}

/*
 * *is_empty: it came to the end. The consumer's position is published now and then, so that the writers get
 * their room back soon.
 */
static int ring_drain(struct ring_set *set, size_t idx, ring_take take, void *context, bool *is_empty)
{
	struct ring *ring = &set->rings[idx];
	unsigned long begin = *ring->consumer, position = begin, published = position;
	unsigned long end = __atomic_load_n((const unsigned long *)ring->producer_page, __ATOMIC_ACQUIRE);
	int err = 0;

	while (!err && position < end) {
		const uint32_t *header = (const void *)(ring->data + (position & ring->mask));
		uint32_t length = __atomic_load_n(header, __ATOMIC_ACQUIRE);

		if (length & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(length & BPF_RINGBUF_DISCARD_BIT)) {
			set->taken_cnt++;
			err = take(context, idx, header + 2, length);
		}
		length &= ~(uint32_t)BPF_RINGBUF_DISCARD_BIT;
		position += (length + BPF_RINGBUF_HDR_SZ + 7) & ~7u;
		if (position - published > set->ring_bytes / 16) {
			__atomic_store_n(ring->consumer, position, __ATOMIC_RELEASE);
			published = position;
		}
	}
	__atomic_store_n(ring->consumer, position, __ATOMIC_RELEASE);
	set->taken_bytes += position - begin;
	*is_empty = position >= end;
	return err;
}

int ring_set_drain(struct ring_set *set, ring_take take, void *context)
{
	for (size_t i = 0; i < set->ring_cnt; i++) {
		uint64_t begin_ns = clock_now_ns();
		bool is_empty;
		int err = ring_drain(set, i, take, context, &is_empty);

		if (err)
			return err;
		if (is_empty)
			set->rings[i].watermark_ns = begin_ns;
	}
	return 0;
}

uint64_t ring_set_watermark_ns(const struct ring_set *set, size_t ring)
{
	return set->rings[ring].watermark_ns;
}

uint64_t ring_set_taken_cnt(const struct ring_set *set)
{
	return set->taken_cnt;
}

uint64_t ring_set_taken_bytes(const struct ring_set *set)
{
	return set->taken_bytes;
}

int ring_set_fd(const struct ring_set *set)
{
	return set->epoll_fd;
}

void ring_set_close(struct ring_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->ring_cnt; i++) {
		struct ring *ring = &set->rings[i];

		if (ring->consumer)
			munmap(ring->consumer, set->page_bytes);
		if (ring->producer_page)
			munmap((void *)ring->producer_page, set->page_bytes + 2 * set->ring_bytes);
		if (ring->fd >= 0)
			close(ring->fd);
	}
	if (set->epoll_fd >= 0)
		close(set->epoll_fd);
	free(set);
}
