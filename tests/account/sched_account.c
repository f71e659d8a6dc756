/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_account PID FILE: writes to the file what the kernel's scheduler accounts (sched_account.h): each
 * switch and wakeup of a thread that the process starts from now on, or its children, with the clocks by
 * which the scheduler counts, and what a hypervisor stole. Says "ready 0" when it has begun and stays until
 * SIGTERM or the end of the process. Answers SIGUSR1, when all that happened before is in the file, by
 * "written, lost N": N samples found no room.
 *
 * Exit status 3: this kernel does not let a BPF program read that.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attach/probes/steal_source.h"
#include "sched_account.h"
#include "sched_account_bpf.skel.h"

#define TICK_HZ 1000
#define POLL_MS 5

static volatile sig_atomic_t is_stopped, is_asked;

static void on_signal(int signal_nr)
{
	if (signal_nr == SIGTERM)
		is_stopped = true;
	else
		is_asked = true;
}

static int fail(const char *what, int err)
{
	fprintf(stderr, "sched_account: cannot %s: %s\n", what, strerror(-err));
	return 3;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int write_sample(void *file, void *sample, size_t size)
{
	return fwrite(sample, size, 1, file) == 1 ? 0 : -EIO;
}

/* What the process starts is of its family, too. */
static int add_family(struct sched_account_bpf *bpf, int pid_fd)
{
	uint32_t value = 1;

	return pid_fd < 0 ? -errno
			  : bpf_map_update_elem(bpf_map__fd(bpf->maps.family), &pid_fd, &value, BPF_ANY);
}

/* Without perf events, or on a CPU that is off, a change is known to lie between two switches only. */
static void attach_ticks(struct sched_account_bpf *bpf)
{
	struct perf_event_attr clock = { .type = PERF_TYPE_SOFTWARE,
					 .size = sizeof(clock),
					 .config = PERF_COUNT_SW_CPU_CLOCK,
					 .freq = 1,
					 .sample_freq = TICK_HZ };

	for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &clock, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd >= 0)
			bpf_program__attach_perf_event(bpf->progs.on_tick, fd);
	}
}

/*
 * Programs at a tracepoint run in the order in which they were attached, and links have rising ids. But a
 * link gets its id first: one with a smaller id may come behind another one, until it is settled.
 */
struct last_program {
	struct bpf_program *program;
	const char *tracepoint;
	struct bpf_link *link; /* NULL: not attached yet */
	uint32_t id;	       /* of the link */
	uint32_t seen_id;      /* links up to this one are settled, and have been looked at */
	uint64_t last_ns;      /* when it was seen to be the last one */
};

enum link_place { LINK_ELSEWHERE, LINK_HERE, LINK_UNSETTLED };

static enum link_place place_of(uint32_t link_id, const char *tracepoint)
{
	char name[64] = "";
	struct bpf_link_info info = { 0 };
	uint32_t length = sizeof(info);
	int fd = bpf_link_get_fd_by_id(link_id);
	bool is_known;

	if (fd < 0)
		return errno == EAGAIN ? LINK_UNSETTLED : LINK_ELSEWHERE; /* or it has gone */
	info.raw_tracepoint.tp_name = (uintptr_t)name;
	info.raw_tracepoint.tp_name_len = sizeof(name);
	is_known = !bpf_obj_get_info_by_fd(fd, &info, &length);
	close(fd);
	return is_known && info.type == BPF_LINK_TYPE_RAW_TRACEPOINT && !strcmp(name, tracepoint)
		       ? LINK_HERE
		       : LINK_ELSEWHERE;
}

static bool is_last(struct last_program *last)
{
	bool is_last = last->link != NULL;
	uint32_t id = last->seen_id;

	while (!bpf_link_get_next_id(id, &id)) {
		enum link_place place = id == last->id ? LINK_ELSEWHERE : place_of(id, last->tracepoint);

		if (place == LINK_UNSETTLED)
			return false;
		is_last &= place == LINK_ELSEWHERE;
		last->seen_id = id;
	}
	return is_last;
}

/* Once more, before it goes where it was: nothing is missed. */
static int attach_last(struct last_program *last)
{
	struct bpf_link *link = bpf_program__attach(last->program);
	struct bpf_link_info info = { 0 };
	uint32_t length = sizeof(info);

	if (!link || bpf_obj_get_info_by_fd(bpf_link__fd(link), &info, &length))
		return -errno;
	bpf_link__destroy(last->link);
	last->link = link;
	last->id = info.id;
	return 0;
}

/* What it is not behind for a while is told. */
static int stay_last(struct last_program *last, FILE *file)
{
	struct account_sample unordered = { .kind = ACCOUNT_UNORDERED, .since_ns = last->last_ns };
	uint64_t before_ns = now_ns();
	int err;

	if (!is_last(last)) {
		err = attach_last(last);
		if (err)
			return err;
		before_ns = unordered.time_ns = now_ns();
		if (fwrite(&unordered, sizeof(unordered), 1, file) != 1)
			return -EIO;
	}
	last->last_ns = before_ns;
	return 0;
}

static void say(const char *what, uint64_t number)
{
	printf("%s %llu\n", what, (unsigned long long)number);
	fflush(stdout);
}

static int record(struct sched_account_bpf *bpf, struct ring_buffer *ring, int pid_fd, FILE *file)
{
	struct pollfd ended = { .fd = pid_fd, .events = POLLIN };
	struct last_program switched = { bpf->progs.on_switched, "sched_switch", .last_ns = now_ns() };
	struct last_program started = { bpf->progs.on_started, "sched_wakeup_new", .last_ns = now_ns() };
	bool is_ready = false;

	while (!is_stopped) {
		bool was_asked = is_asked;
		int err = stay_last(&switched, file);
		int count;

		err = err ? err : stay_last(&started, file);
		count = ring_buffer__consume(ring);
		if (err)
			return fail("attach", err);
		if (!is_ready)
			say("ready", 0);
		is_ready = true;
		if (count < 0 || fflush(file))
			return fail("write", count < 0 ? count : -errno);
		if (was_asked) {
			is_asked = false;
			say("written, lost", bpf->bss->lost_cnt);
		}
		is_stopped |= poll(&ended, 1, POLL_MS) > 0;
	}
	return 0;
}

/* KVM's alone: the scheduler's own is what removed_ns is about. */
static void choose_steal_clock(struct sched_account_bpf *bpf)
{
	struct steal_source source = { .kind = STEAL_NOT_TOLD };
	struct percpu_layout layout;
	struct btf *btf = btf__load_vmlinux_btf();

	if (btf) {
		percpu_layout_read(btf, &layout);
		steal_source_choose(&source, &layout, hypervisor_find());
	}
	bpf->rodata->cfg_steal_offset = source.kind == STEAL_EXACT ? source.offset : 0;
	btf__free(btf);
}

int main(int argc, char **argv)
{
	FILE *file = argc == 3 ? fopen(argv[2], "w") : NULL;
	struct sched_account_bpf *bpf;
	const struct sched_param priority = { .sched_priority = 1 };
	struct ring_buffer *ring;
	int err, pid_fd;

	if (!file)
		return fail("open the file", argc == 3 ? -errno : -EINVAL);
	signal(SIGTERM, on_signal);
	signal(SIGUSR1, on_signal);
	libbpf_set_print(NULL);
	bpf = sched_account_bpf__open();
	if (!bpf)
		return fail("open", -errno);
	choose_steal_clock(bpf);
	if (sched_account_bpf__load(bpf))
		return fail("load", -errno);
	bpf_program__set_autoattach(bpf->progs.on_switched, false);
	bpf_program__set_autoattach(bpf->progs.on_started, false);
	pid_fd = (int)syscall(SYS_pidfd_open, atoi(argv[1]), 0);
	err = add_family(bpf, pid_fd);
	if (err || sched_account_bpf__attach(bpf))
		return fail("attach", err ? err : -errno);
	attach_ticks(bpf);
	/* so that it is behind a recorder before a program is traced, however busy the machine is */
	sched_setscheduler(0, SCHED_FIFO, &priority);
	ring = ring_buffer__new(bpf_map__fd(bpf->maps.samples), write_sample, file, NULL);
	return ring ? record(bpf, ring, pid_fd, file) : fail("read", -errno);
}
