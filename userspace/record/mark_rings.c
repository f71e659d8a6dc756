/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/mark_rings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/process/proc_maps.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/id_map.h"
#include "ring/counter_clock.h"
#include "ring/loss_counters.h"
#include "record/mark_records.h"
#include "ring/mark_join.h"
#include "ring/mark_pool.h"
#include "ring/mark_queue.h"

/* Between a slot's being taken and our seeing that lies the time that a store takes to another CPU. */
#define STORE_NS 10000u
/* A busy machine may hold up each look at the clocks: times of marks are off by less than this. */
#define DOUBT_NS 1000000u
/* The end of a process is told when its first thread ends: the others go on for a moment. */
#define OVER_NS 1000000000u

/* Pushed before the pools are looked at again: about 1 ms of work. */
#define PUT_MAX 65536

/* For their stays marks wait so long, and so many of them. */
#define WAIT_NS 50000000u
#define WAITING_MAX (2 * PUT_MAX)
#define SETTLE_NS 1000000000u /* threads that have ended are forgotten this often */

/* Of so many threads losses are told one by one, between two drains; of the others together. */
#define LOSS_THREADS_MAX 64

/* Object files of one process that mark: of further ones it goes through the probe. */
#define PROCESS_POOLS_MAX 64

struct process_pool {
	uint32_t tgid;
	uint64_t address;
	uint64_t since_ns; /* when it was told of */
	uint64_t label_base;
	struct mark_pool *pool; /* NULL: it cannot be read */
	uint64_t over_ns;	/* since when the process has another program, or none; 0: it has it */
	bool is_gone;		/* nothing is marked in it any more, since over_ns */
};

/*
 * A thread has ended; or (tid 0) a process has another program, or none; or (address) nothing is marked in
 * that pool any more.
 */
struct ending {
	uint64_t address;
	uint32_t tgid;
	uint32_t tid;
	uint64_t time_ns;
	bool is_exit; /* of the process */
};

/* For each process that was counted, in a map. */
static char process_is_read, process_is_unread;

struct mark_rings {
	struct mark_rings_options options;
	struct id_map pools;	 /* address, tgid -> struct process_pool */
	struct id_map processes; /* 0, tgid -> how its memory was counted */
	struct counter_clock clock;
	struct mark_queue *queue; /* what was taken out of the pools */
	struct mark_join *join;
	struct mark_records records;
	struct ending *endings; /* that were heard of since the last drain */
	size_t ending_cnt;
	size_t ending_room;
	bool is_held_up;       /* pools were not read, as the queue is full */
	bool has_jumped;       /* the counter: the marks of this drain have no time */
	uint64_t read_ns;      /* no mark that is read now is later */
	uint64_t since_ns;     /* nor before */
	uint64_t drain_ns;     /* up to there the pools were read */
	uint64_t done_ns;      /* and what they held has been pushed, or is in the join */
	uint64_t end_ns;       /* what is later does not count */
	uint64_t settled_ns;   /* up to there every stay was told */
	struct wire_loss losses[LOSS_THREADS_MAX + 1]; /* what was lost and is not pushed yet, by thread */
	size_t loss_cnt;
	uint32_t drained_tgid; /* whose pool is being read */
	struct mark_rings_stats stats;
	struct mark_counts counts;
};

static int push_record(void *context, const void *record, size_t size)
{
	struct mark_rings *marks = context;

	return marks->options.push(marks->options.context, record, size);
}

struct mark_rings *mark_rings_new(const struct mark_rings_options *options)
{
	struct mark_rings *marks = calloc(1, sizeof(*marks));

	if (!marks)
		return NULL;
	marks->options = *options;
	marks->end_ns = UINT64_MAX;
	id_map_init(&marks->pools);
	id_map_init(&marks->processes);
	counter_clock_init(&marks->clock);
	marks->queue = mark_queue_new();
	marks->join = mark_join_new(push_record, marks);
	marks->records = (struct mark_records){ .label_files = options->label_files,
						.join = options->has_clocks ? marks->join : NULL,
						.push = push_record,
						.context = marks };
	if (marks->queue && marks->join)
		return marks;
	mark_rings_free(marks);
	return NULL;
}

/* ---- out of the pools ---- */

/* Lanes are read one after the other: what a thread loses comes together. The last one is of all others. */
static struct wire_loss *loss_of(struct mark_rings *marks, uint32_t tid)
{
	struct wire_loss *loss = &marks->losses[marks->loss_cnt];

	if (marks->loss_cnt && loss[-1].header.tid == tid && loss[-1].header.tgid == marks->drained_tgid)
		return &loss[-1];
	if (marks->loss_cnt > LOSS_THREADS_MAX)
		return &loss[-1];
	*loss = (struct wire_loss){ .span_event_cnt = 0 };
	if (marks->loss_cnt++ < LOSS_THREADS_MAX) {
		loss->header.tid = tid;
		loss->header.tgid = marks->drained_tgid;
	}
	return loss;
}

/* All kinds, if it is not known which. */
static int lose_marks(void *context, uint32_t tid, uint32_t kind, uint64_t cnt)
{
	struct mark_rings *marks = context;
	struct wire_loss *loss = loss_of(marks, tid);

	loss->kinds |= mark_records_kinds(kind);
	loss->span_event_cnt += cnt;
	mark_records_count_lost(&marks->counts, kind, cnt);
	marks->stats.lost_cnt += cnt;
	return 0;
}

/* A program may write any time: not before the recorder knew of the pool, nor after now. */
static bool is_possible(struct mark_rings *marks, uint64_t time_ns)
{
	if (time_ns > marks->read_ns)
		marks->read_ns = clock_now_ns();
	return time_ns <= marks->read_ns + DOUBT_NS && time_ns + DOUBT_NS >= marks->since_ns;
}

/* Out of the pool, with its time: what comes after is done later. */
static int take_mark(void *context, const struct mark *mark)
{
	struct mark_rings *marks = context;
	uint64_t time_ns = counter_clock_time_ns(&marks->clock, mark->counter);

	if (!mark_records_knows(mark->kind)) /* no program of ours has written it */
		return lose_marks(marks, mark->tid, 0, 1);
	if (marks->has_jumped || !is_possible(marks, time_ns))
		return lose_marks(marks, mark->tid, mark->kind & (MARK_LOST_KINDS - 1), 1);
	/* counters advance in steps of 10 ns and more; what comes later is later */
	if (time_ns <= *mark->last_ns)
		time_ns = *mark->last_ns + 1;
	*mark->last_ns = time_ns;
	if (time_ns > marks->end_ns)
		return 0;
	marks->stats.taken_cnt++;
	return mark_queue_add(marks->queue, mark, time_ns);
}

static int drain_pool(struct mark_rings *marks, const struct process_pool *pool, uint64_t now_ns)
{
	const struct mark_pool_sink sink = { .context = marks, .take = take_mark, .lose = lose_marks };
	const struct mark_owner owner = { .tgid = pool->tgid, .label_base = pool->label_base };
	int err = mark_queue_own(marks->queue, &owner);

	marks->since_ns = pool->since_ns;
	marks->drained_tgid = pool->tgid;
	return err ? err : mark_pool_drain(pool->pool, now_ns, &sink);
}

/* ---- pools ---- */

/* Of a shared anonymous mapping, as the kernel names it. Other files in memory have other names. */
static bool is_anonymous(int fd)
{
	static const char wanted[] = "/dev/zero (deleted)";
	char self[64], name[64];
	ssize_t length;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	length = readlink(self, name, sizeof(name));
	return length == (ssize_t)strlen(wanted) && !memcmp(name, wanted, strlen(wanted));
}

/* To be written, too: the reader opens for reading alone. */
static int open_again(int fd)
{
	char self[64];
	int again;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	again = open(self, O_RDWR | O_CLOEXEC);
	return again < 0 ? -errno : again;
}

static int open_pool(const struct mark_rings *marks, struct process_pool *pool)
{
	const struct proc_mapping mapping = {
		.start = pool->address,
		.end = pool->address + MARK_POOL_BYTES,
		.is_deleted = true,
		.path = "",
	};
	int fd = process_reader_open(marks->options.reader, &mapping, (pid_t)pool->tgid), again;

	if (fd < 0)
		return fd;
	again = is_anonymous(fd) ? open_again(fd) : -EPROTO;
	close(fd);
	if (again < 0)
		return again;
	return mark_pool_open(&pool->pool, again);
}

/* Who reads a pool holds its lock. */
static bool is_locked(struct process_reader *reader, const struct proc_mapping *mapping, pid_t pid)
{
	int fd = process_reader_open(reader, mapping, pid);
	bool result;

	if (fd < 0)
		return false;
	result = is_anonymous(fd) && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return result;
}

bool mark_rings_are_read(struct process_reader *reader, pid_t pid)
{
	struct proc_maps maps;
	bool result = false;

	if (process_reader_maps(reader, &maps, pid))
		return false;
	for (size_t i = 0; i < maps.cnt && !result; i++)
		result = proc_mapping_is_memory(&maps.mappings[i], MARK_POOL_BYTES) &&
			 is_locked(reader, &maps.mappings[i], pid);
	proc_maps_release(&maps);
	return result;
}

static void free_pool(struct process_pool *pool)
{
	mark_pool_close(pool->pool);
	free(pool);
}

static void close_pool(struct mark_rings *marks, struct process_pool *pool)
{
	id_map_remove(&marks->pools, pool->address, pool->tgid);
	free_pool(pool);
}

/* What is told may be made up, again and again with another address. */
static bool has_too_many(const struct mark_rings *marks, uint32_t tgid)
{
	const struct process_pool *pool;
	size_t cnt = 0;

	for (size_t i = 0; cnt < PROCESS_POOLS_MAX && (pool = id_map_next(&marks->pools, &i));)
		cnt += pool->tgid == tgid;
	return cnt == PROCESS_POOLS_MAX;
}

/* 0, -ENOMEM; -E2BIG: the process has too many. */
static int add_pool(struct mark_rings *marks, struct process_pool **result, uint32_t tgid, uint64_t address,
		    uint64_t time_ns)
{
	struct process_pool *pool;

	if (has_too_many(marks, tgid))
		return -E2BIG;
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return -ENOMEM;
	pool->tgid = tgid;
	pool->address = address;
	pool->since_ns = time_ns;
	if (id_map_put(&marks->pools, address, tgid, pool)) {
		free(pool);
		return -ENOMEM;
	}
	*result = pool;
	return 0;
}

/* As one of the processes of the summary. Of several pools of a process, one that is read decides. */
static int count_process(struct mark_rings *marks, uint32_t tgid, bool is_read)
{
	const char *counted = id_map_get(&marks->processes, 0, tgid);

	if (counted && (counted == &process_is_read || !is_read))
		return 0;
	if (id_map_put(&marks->processes, 0, tgid, is_read ? &process_is_read : &process_is_unread))
		return -ENOMEM;
	marks->stats.unread_process_cnt += !is_read;
	marks->stats.unread_process_cnt -= counted != NULL;
	marks->stats.memory_process_cnt += is_read;
	return 0;
}

/* One that is there, or a new one, which is opened and accepted, if that is possible. As add_pool(). */
static int get_pool(struct mark_rings *marks, struct process_pool **result, uint32_t tgid, uint64_t address,
		    uint64_t time_ns)
{
	struct process_pool *pool = id_map_get(&marks->pools, address, tgid);
	int err;

	/*
	 * Another program has made one at the same address; or this was told before the end, in the ring of
	 * another CPU, which was read later.
	 */
	if (pool && pool->over_ns && pool->over_ns < time_ns) {
		err = pool->pool ? drain_pool(marks, pool, clock_now_ns()) : 0;
		close_pool(marks, pool);
		pool = NULL;
		if (err)
			return err;
	}
	*result = pool;
	if (pool)
		return 0;
	err = add_pool(marks, result, tgid, address, time_ns);
	if (err)
		return err;
	err = open_pool(marks, *result);
	if (err == -EBUSY && marks->options.tell_busy)
		marks->options.tell_busy(marks->options.context, tgid);
	if (!err)
		mark_pool_accept((*result)->pool);
	return count_process(marks, tgid, !err);
}

void mark_rings_see(struct mark_rings *marks, uint32_t tgid, uint64_t address)
{
	struct process_pool *pool;

	/* without memory for it, when it is told by the probe */
	get_pool(marks, &pool, tgid, address, clock_now_ns());
}

static int hear_pool(struct mark_rings *marks, const struct wire_pool *wire)
{
	struct process_pool *pool;
	int err = get_pool(marks, &pool, wire->header.tgid, wire->address, wire->header.time_ns);

	if (err)
		return err == -ENOMEM ? err : 0;
	pool->label_base = wire->label_base;
	if (!wire->lane || !pool->pool)
		return 0;
	err = mark_pool_add_lane(pool->pool, wire->lane, wire->header.tid, wire->header.time_ns);
	return err == -ENOMEM ? err : 0;
}

/*
 * What ends is told in the ring of another CPU than what began before it, and
 * these are read one after the other: it has its effect once all were read.
 */
static int hear_end(struct mark_rings *marks, const struct wire_header *header, uint32_t tid,
		    uint64_t address, bool is_exit)
{
	struct ending *endings = array_grow(marks->endings, &marks->ending_room, marks->ending_cnt,
					    sizeof(*endings));

	if (!endings)
		return -ENOMEM;
	marks->endings = endings;
	marks->endings[marks->ending_cnt++] = (struct ending){
		.address = address,
		.tgid = header->tgid,
		.tid = tid,
		.time_ns = header->time_ns,
		.is_exit = is_exit,
	};
	return 0;
}

static void end_one(struct mark_rings *marks, const struct ending *ending)
{
	struct process_pool *pool;

	for (size_t i = 0; (pool = id_map_next(&marks->pools, &i));) {
		if (pool->tgid != ending->tgid || pool->since_ns > ending->time_ns ||
		    (ending->address && pool->address != ending->address))
			continue;
		if (!ending->tid && !pool->over_ns)
			pool->over_ns = ending->time_ns;
		pool->is_gone |= ending->address != 0; /* it is closed once it has been read */
		if (pool->pool && (ending->tid || ending->address))
			mark_pool_end_thread(pool->pool, ending->tid, ending->time_ns);
	}
	if (ending->is_exit)
		id_map_remove(&marks->processes, 0, ending->tgid);
	if (ending->tid)
		mark_join_forget(marks->join, ending->tid, ending->time_ns);
}

int mark_rings_hear(struct mark_rings *marks, const void *record, size_t size)
{
	const struct wire_header *header = record;
	const struct wire_process *process = record;

	if (header->kind == WIRE_POOL && size >= sizeof(struct wire_pool)) {
		const struct wire_pool *pool = record;

		return pool->lane == WIRE_POOL_GONE ? hear_end(marks, header, 0, pool->address, false)
						    : hear_pool(marks, pool);
	}
	if (header->kind == WIRE_STAY && size >= sizeof(struct wire_stay))
		return mark_join_stay(marks->join, record);
	if (header->kind == WIRE_THREAD_EXIT)
		return hear_end(marks, header, header->tid, 0, false);
	if (header->kind == WIRE_EXEC ||
	    (header->kind == WIRE_PROCESS && size >= sizeof(*process) &&
	     (process->change == WIRE_PROCESS_EXITED || process->change == WIRE_PROCESS_LEFT)))
		return hear_end(marks, header, 0, 0, header->kind != WIRE_EXEC);
	return 0;
}

/* ---- the drain ---- */

/* *until_ns: less, if a slot is waited for. */
static int drain_pools(struct mark_rings *marks, uint64_t now_ns, uint64_t *until_ns)
{
	struct process_pool *pool;
	int err = 0;

	marks->is_held_up = false;
	for (size_t i = 0; !err && (pool = id_map_next(&marks->pools, &i));) {
		uint64_t waits_ns;

		if (!pool->pool)
			continue;
		if (!mark_queue_has_room(marks->queue)) {
			marks->is_held_up = true;
			break;
		}
		err = drain_pool(marks, pool, now_ns);
		waits_ns = mark_pool_waits_since_ns(pool->pool);
		if (waits_ns - STORE_NS < *until_ns)
			*until_ns = waits_ns - STORE_NS;
	}
	return err;
}

/* Not before all lanes have been heard of that were told before the end, by other CPUs. */
static void close_pools(struct mark_rings *marks, uint64_t now_ns, uint64_t told_ns)
{
	struct process_pool *pool;

	for (size_t i = 0; (pool = id_map_next(&marks->pools, &i));) {
		if (!pool->over_ns || told_ns < pool->over_ns ||
		    (!pool->is_gone && now_ns < pool->over_ns + OVER_NS))
			continue;
		close_pool(marks, pool);
		i = 0; /* what is removed may have moved others */
	}
}

/* What was lost since the drain before. */
static int push_losses(struct mark_rings *marks)
{
	uint64_t now_ns = marks->loss_cnt ? clock_now_ns() : 0;
	int err = 0;

	for (size_t i = 0; !err && i < marks->loss_cnt; i++) {
		struct wire_loss *loss = &marks->losses[i];

		loss->header.kind = EVENT_LOSS;
		loss->header.cpu = LOSS_CPU_UNKNOWN;
		loss->header.size = sizeof(*loss);
		loss->header.time_ns = marks->drain_ns;
		loss->last_ns = now_ns;
		err = marks->options.push_loss(marks->options.context, loss);
	}
	marks->loss_cnt = 0;
	return err;
}

static int drain(struct mark_rings *marks, uint64_t told_ns)
{
	uint64_t now_ns, until_ns;
	bool has_jumped;
	int err;

	now_ns = marks->read_ns = counter_clock_look(&marks->clock, &has_jumped);
	marks->has_jumped |= has_jumped;
	until_ns = now_ns - STORE_NS;
	/* a thread that has told of its lane since then is not known, and what it has marked not read */
	if (told_ns < until_ns)
		until_ns = told_ns;
	for (size_t i = 0; i < marks->ending_cnt; i++)
		end_one(marks, &marks->endings[i]);
	marks->ending_cnt = 0;
	err = drain_pools(marks, now_ns, &until_ns);
	if (!err)
		err = push_losses(marks);
	if (err || marks->is_held_up)
		return err;
	close_pools(marks, now_ns, told_ns);
	marks->has_jumped = false;
	marks->drain_ns = until_ns;
	return mark_queue_end_turn(marks->queue, until_ns);
}

static int put_queued(struct mark_rings *marks)
{
	const struct queued_mark *mark;
	struct mark_owner owner;
	int err = 0;

	for (size_t i = 0; !err && i < PUT_MAX && (mark = mark_queue_take(marks->queue, &owner)); i++) {
		if (mark->kind) {
			mark_records_count(&marks->counts, mark);
			err = mark_records_put(&marks->records, mark, &owner);
		} else {
			marks->done_ns = mark->time_ns;
		}
	}
	return err;
}

int mark_rings_drain(struct mark_rings *marks, uint64_t told_ns, bool may_push)
{
	int err = drain(marks, told_ns);

	if (!err && may_push)
		err = put_queued(marks);
	return err ? err : mark_join_settle(marks->join, 0, 0);
}

bool mark_rings_have_more(const struct mark_rings *marks)
{
	return marks->is_held_up || !mark_queue_is_empty(marks->queue);
}

bool mark_rings_have_pools(const struct mark_rings *marks)
{
	return marks->pools.cnt > 0;
}

bool mark_rings_want_stays(const struct mark_rings *marks, uint64_t now_ns)
{
	uint64_t since_ns = mark_join_waits_since_ns(marks->join);

	return (since_ns < now_ns && now_ns - since_ns >= WAIT_NS) ||
	       mark_join_waiting_cnt(marks->join) > WAITING_MAX ||
	       (mark_join_ended_cnt(marks->join) && now_ns - marks->settled_ns >= SETTLE_NS);
}

int mark_rings_settle(struct mark_rings *marks, uint64_t told_ns)
{
	marks->settled_ns = told_ns;
	return mark_join_settle(marks->join, told_ns, told_ns == UINT64_MAX ? told_ns : marks->done_ns);
}

void mark_rings_stop(struct mark_rings *marks, uint64_t end_ns)
{
	marks->end_ns = end_ns;
}

uint64_t mark_rings_watermark_ns(const struct mark_rings *marks)
{
	uint64_t waits_ns = mark_join_waits_since_ns(marks->join);

	return waits_ns <= marks->done_ns ? waits_ns - 1 : marks->done_ns;
}

void mark_rings_stats(const struct mark_rings *marks, struct mark_rings_stats *stats)
{
	*stats = marks->stats;
}

const struct mark_counts *mark_rings_counts(const struct mark_rings *marks)
{
	return &marks->counts;
}

void mark_rings_free(struct mark_rings *marks)
{
	struct process_pool *pool;

	if (!marks)
		return;
	for (size_t i = 0; (pool = id_map_next(&marks->pools, &i));) {
		if (pool->pool)
			mark_pool_refuse(pool->pool);
		free_pool(pool);
	}
	id_map_release(&marks->pools);
	id_map_release(&marks->processes);
	free(marks->endings);
	mark_queue_free(marks->queue);
	mark_records_release(&marks->records);
	mark_join_free(marks->join);
	free(marks);
}
