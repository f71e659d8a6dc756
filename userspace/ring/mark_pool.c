/* SPDX-License-Identifier: BSD-2-Clause */
#include "ring/mark_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/id_map.h"
#include "ring/mark_pieces.h"

#define PUSH_TRIES 1000 /* the program may change the list all the time */
#define STOP_TRIES 1000 /* of a thread that marks all the time */
#define LANE_FIRST_SLOT (MARK_CHUNK_SLOTS - MARK_LANE_SLOTS)

/* A chunk that a lane has taken and that is not read yet. */
struct next_chunk {
	uint32_t chunk;
	uint32_t turn;
	uint32_t after; /* so many turns behind the lane's, when they were sorted last */
};

struct lane {
	struct lane *next_ended;
	struct lane *next_of_thread;
	uint32_t place;
	uint32_t tid;
	uint64_t since_ns;
	uint64_t ended_ns; /* if has_ended: its thread */
	bool has_ended;
	bool is_kept;	     /* a slot of the present chunk is missing: the chunk is not used again */
	bool has_kept;	     /* chunks that were read before */
	bool has_over;	     /* chunks of a reader before us */
	uint32_t turn;	     /* of what is being read */
	uint32_t end_place;  /* behind it */
	uint32_t used;	     /* slots that have been read */
	uint64_t last_ns;    /* see struct mark */
	uint64_t missing_ns; /* when a slot was missing: all that were taken by then have waited as long */
	uint64_t missing_position; /* what was taken by then */
	uint64_t missing_since_ns; /* no mark of theirs is older */
	bool is_waiting;	   /* for one of those, when the drain before ended */
	uint32_t lost[MARK_LOST_KINDS];
	struct mark_pieces text;
	struct next_chunk *next; /* from `next_first` on, in the order of their turns, once they are sorted */
	size_t next_first;
	size_t next_end;
	size_t next_room;
	bool is_unsorted;
};

struct mark_pool {
	int fd; /* holds the lock: no two readers have one pool */
	unsigned char *memory;
	uint64_t waits_since_ns;
	uint64_t drained_ns;   /* the last time */
	uint32_t mapped_cnt;   /* chunks that need no page fault of ours any more */
	struct id_map lanes;   /* place, 0 -> struct lane */
	struct id_map threads; /* tid, 0 -> the first of its lanes */
	struct id_map given;   /* place, 0 -> struct lane, whose thread has ended */
	struct mark_pieces_memory texts;
	uint64_t seen[MARK_CHUNK_COUNT]; /* what each chunk was when it was last looked at */
};

static struct mark_pool_head *head_of(const struct mark_pool *pool)
{
	return (struct mark_pool_head *)(void *)pool->memory;
}

static struct mark_lane *lane_at(const struct mark_pool *pool, uint32_t place)
{
	return (struct mark_lane *)(void *)(pool->memory + (size_t)place * MARK_PLACE_BYTES);
}

static bool is_pool(const struct mark_pool_head *head)
{
	return __atomic_load_n(&head->magic, __ATOMIC_ACQUIRE) == MARK_POOL_MAGIC &&
	       __atomic_load_n(&head->version, __ATOMIC_RELAXED) == MARK_POOL_VERSION &&
	       __atomic_load_n(&head->bytes, __ATOMIC_RELAXED) == MARK_POOL_BYTES;
}

/*
 * Its thread finds no slot from now on. It adds to the position without a lock,
 * and may write over this: not any more after a moment.
 */
static void stop_lane(struct mark_lane *lane)
{
	for (int i = 0; i < STOP_TRIES; i++)
		__atomic_fetch_or(&lane->position, MARK_CHUNK_SLOTS, __ATOMIC_SEQ_CST);
	__atomic_store_n(&lane->is_over, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&lane->is_known, 0, __ATOMIC_RELEASE);
}

/* The program goes on marking as before: all that it has so far is nobody's. */
static void take_over(const struct mark_pool *pool)
{
	struct mark_pool_head *head = head_of(pool);
	uint32_t cnt = __atomic_load_n(&head->chunk_cnt, __ATOMIC_ACQUIRE);

	if (cnt > MARK_CHUNK_COUNT)
		cnt = MARK_CHUNK_COUNT;
	for (uint32_t chunk = MARK_HEAD_CHUNKS; chunk < cnt; chunk++) {
		if (__atomic_load_n(&head->chunks[chunk], __ATOMIC_ACQUIRE) != MARK_CHUNK_LANES)
			continue;
		for (uint32_t i = 0; i < MARK_PLACES_IN_CHUNK; i++) {
			struct mark_lane *lane = lane_at(pool, chunk * MARK_PLACES_IN_CHUNK + i);

			if (MARK_END_PLACE(__atomic_load_n(&lane->position, __ATOMIC_ACQUIRE)))
				stop_lane(lane);
		}
	}
	for (uint32_t chunk = MARK_HEAD_CHUNKS; chunk < cnt; chunk++) {
		uint64_t what = __atomic_load_n(&head->chunks[chunk], __ATOMIC_ACQUIRE);

		if (what & MARK_CHUNK_SLOTS_OF)
			__atomic_store_n(&head->chunks[chunk], MARK_CHUNK_OVER | (uint32_t)what,
					 __ATOMIC_RELEASE);
	}
}

static int map_pool(struct mark_pool *pool, int fd)
{
	struct stat file;

	if (fstat(fd, &file) < 0)
		return -errno;
	if (file.st_size != MARK_POOL_BYTES)
		return -EPROTO;
	if (flock(fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	pool->memory = mmap(NULL, MARK_POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pool->memory == MAP_FAILED) {
		pool->memory = NULL;
		return -errno;
	}
	return is_pool(head_of(pool)) ? 0 : -EPROTO;
}

int mark_pool_open(struct mark_pool **result, int fd)
{
	struct mark_pool *pool = calloc(1, sizeof(*pool));
	int err;

	if (!pool) {
		close(fd);
		return -ENOMEM;
	}
	pool->fd = fd;
	pool->waits_since_ns = UINT64_MAX;
	id_map_init(&pool->lanes);
	id_map_init(&pool->threads);
	id_map_init(&pool->given);
	err = map_pool(pool, fd);
	if (err) {
		mark_pool_close(pool);
		return err;
	}
	take_over(pool);
	*result = pool;
	return 0;
}

void mark_pool_accept(struct mark_pool *pool)
{
	__atomic_store_n(&head_of(pool)->accepted, 1, __ATOMIC_RELEASE);
}

/* ---- what is given back ---- */

/* The number in the upper half of a list's head changes whenever the list does. */
static uint64_t next_head(uint64_t head, uint32_t first)
{
	return ((head >> 32) + 1) << 32 | first;
}

static void give_chunk(struct mark_pool *pool, uint32_t chunk)
{
	struct mark_pool_head *head = head_of(pool);
	uint64_t first = __atomic_load_n(&head->free_chunks, __ATOMIC_RELAXED);

	memset(pool->memory + (size_t)chunk * MARK_CHUNK_BYTES, 0, MARK_CHUNK_BYTES);
	pool->seen[chunk] = 0;
	__atomic_fetch_add(&head->given_cnt, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < PUSH_TRIES; i++) {
		__atomic_store_n(&head->chunks[chunk], (uint32_t)first, __ATOMIC_RELAXED);
		if (__atomic_compare_exchange_n(&head->free_chunks, &first, next_head(first, chunk), false,
						__ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return;
	}
}

static void give_lane(struct mark_pool *pool, uint32_t place)
{
	struct mark_pool_head *head = head_of(pool);
	uint64_t first = __atomic_load_n(&head->free_lanes, __ATOMIC_RELAXED);
	struct mark_lane *lane = lane_at(pool, place);

	memset(lane, 0, sizeof(*lane));
	/* whoever had it, against all expectation, finds no slot in it */
	__atomic_store_n(&lane->position, MARK_CHUNK_SLOTS, __ATOMIC_RELEASE);
	for (int i = 0; i < PUSH_TRIES; i++) {
		__atomic_store_n(&lane->next_free, (uint32_t)first, __ATOMIC_RELAXED);
		if (__atomic_compare_exchange_n(&head->free_lanes, &first, next_head(first, place), false,
						__ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return;
	}
}

static void release_lane(struct mark_pool *pool, struct lane *lane)
{
	mark_pieces_release(&lane->text, &pool->texts);
	free(lane->next);
	lane->next = NULL;
}

/* NULL is allowed. */
static void free_lane(struct mark_pool *pool, struct lane *lane)
{
	if (lane)
		release_lane(pool, lane);
	free(lane);
}

/* ---- lanes ---- */

/* How far one turn is behind another. */
static uint32_t turns_between(uint32_t from, uint32_t to)
{
	return (to - from) & MARK_TURN_MASK;
}

/* The turn of the first chunk that is the lane's; if it has none, the one after `now`. */
static uint32_t first_turn(const struct mark_pool *pool, uint32_t place, uint32_t now)
{
	uint32_t first = (now + 1) & MARK_TURN_MASK, longest = 0;

	for (uint32_t chunk = MARK_HEAD_CHUNKS; chunk < MARK_CHUNK_COUNT; chunk++) {
		uint64_t what = __atomic_load_n(&head_of(pool)->chunks[chunk], __ATOMIC_ACQUIRE);
		uint32_t turn = (uint32_t)(what >> 32) & MARK_TURN_MASK;

		if (!(what & MARK_CHUNK_SLOTS_OF) || (uint32_t)what != place ||
		    turns_between(turn, now) > MARK_CHUNK_COUNT || turns_between(turn, now) + 1 <= longest)
			continue;
		longest = turns_between(turn, now) + 1;
		first = turn;
	}
	return first;
}

/*
 * A new lane begins with its own slots. One that was there before has taken a
 * chunk since: of those that it has, it begins with the first.
 */
static void begin_lane(const struct mark_pool *pool, struct lane *lane)
{
	uint64_t position = __atomic_load_n(&lane_at(pool, lane->place)->position, __ATOMIC_ACQUIRE);

	lane->end_place = lane->place + 1;
	lane->used = LANE_FIRST_SLOT;
	if (!__atomic_exchange_n(&lane_at(pool, lane->place)->is_over, 0, __ATOMIC_ACQ_REL))
		return;
	lane->has_over = true;
	lane->used = MARK_CHUNK_SLOTS;
	lane->turn = (first_turn(pool, lane->place, (uint32_t)MARK_TURN(position)) - 1) & MARK_TURN_MASK;
}

static struct lane *new_lane(struct mark_pool *pool, uint32_t place, uint32_t tid, uint64_t since_ns)
{
	struct lane *lane = calloc(1, sizeof(*lane));

	if (!lane)
		return NULL;
	lane->place = place;
	lane->tid = tid;
	lane->since_ns = since_ns;
	lane->next_of_thread = id_map_get(&pool->threads, tid, 0);
	if (id_map_put(&pool->lanes, place, 0, lane)) {
		free(lane);
		return NULL;
	}
	if (id_map_put(&pool->threads, tid, 0, lane)) {
		id_map_remove(&pool->lanes, place, 0);
		free(lane);
		return NULL;
	}
	return lane;
}

/*
 * A thread tells of its lane more than once, in the rings of several CPUs: one of these may be read after the
 * end of the thread. The next one has the lane since later.
 */
static bool is_of_before(struct mark_pool *pool, uint64_t place, uint64_t since_ns)
{
	struct lane *given = id_map_get(&pool->given, place, 0);

	if (given && since_ns <= given->ended_ns)
		return true;
	free_lane(pool, id_map_remove(&pool->given, place, 0));
	return false;
}

int mark_pool_add_lane(struct mark_pool *pool, uint64_t place, uint32_t tid, uint64_t since_ns)
{
	struct lane *lane;

	if (place < MARK_HEAD_CHUNKS * MARK_PLACES_IN_CHUNK || place >= MARK_PLACE_COUNT ||
	    __atomic_load_n(&head_of(pool)->chunks[place / MARK_PLACES_IN_CHUNK], __ATOMIC_RELAXED) !=
		    MARK_CHUNK_LANES)
		return -EINVAL;
	lane = id_map_get(&pool->lanes, place, 0);
	if (!lane && is_of_before(pool, place, since_ns))
		return 0;
	if (!lane) {
		lane = new_lane(pool, (uint32_t)place, tid, since_ns);
		if (!lane)
			return -ENOMEM;
		begin_lane(pool, lane);
	} else if (lane->tid == tid && since_ns < lane->since_ns) {
		lane->since_ns = since_ns; /* told twice, and heard of in another order */
	}
	__atomic_store_n(&lane_at(pool, lane->place)->is_known, 1, __ATOMIC_RELAXED);
	return 0;
}

static void note_end(struct lane *lane, uint64_t end_ns)
{
	if (lane->has_ended || lane->since_ns > end_ns)
		return;
	lane->has_ended = true;
	lane->ended_ns = end_ns;
}

static void end_all(struct mark_pool *pool, uint64_t end_ns)
{
	struct lane *lane;

	for (size_t i = 0; (lane = id_map_next(&pool->lanes, &i));)
		note_end(lane, end_ns);
}

static void unlink_lane(struct mark_pool *pool, struct lane *lane)
{
	struct lane *first = id_map_get(&pool->threads, lane->tid, 0), *before = first;

	if (first == lane) {
		if (!lane->next_of_thread || id_map_put(&pool->threads, lane->tid, 0, lane->next_of_thread))
			id_map_remove(&pool->threads, lane->tid, 0);
		return;
	}
	while (before && before->next_of_thread != lane)
		before = before->next_of_thread;
	if (before)
		before->next_of_thread = lane->next_of_thread;
}

/* Those that began since then are of another thread with its number. */
void mark_pool_end_thread(struct mark_pool *pool, uint32_t tid, uint64_t end_ns)
{
	struct lane *lane;

	if (!tid)
		end_all(pool, end_ns);
	for (lane = id_map_get(&pool->threads, tid, 0); lane; lane = lane->next_of_thread)
		note_end(lane, end_ns);
}

/* A chunk that was not there, or was another's, before. Without memory it is looked at again. */
static void see_chunk(struct mark_pool *pool, uint32_t chunk, uint64_t what)
{
	struct lane *lane = id_map_get(&pool->lanes, (uint32_t)what, 0);
	uint32_t turn = (uint32_t)(what >> 32) & MARK_TURN_MASK;
	struct next_chunk *next;

	if (!lane)
		return;
	if (lane->next_first > lane->next_end / 2) {
		lane->next_end -= lane->next_first;
		memmove(lane->next, &lane->next[lane->next_first], lane->next_end * sizeof(*lane->next));
		lane->next_first = 0;
	}
	next = array_grow(lane->next, &lane->next_room, lane->next_end, sizeof(*next));
	if (!next)
		return;
	lane->next = next;
	lane->next[lane->next_end++] = (struct next_chunk){ .chunk = chunk,
							    .turn = turn,
							    .after = turns_between(lane->turn, turn) };
	lane->is_unsorted = true;
	pool->seen[chunk] = what;
}

/* What the program uses by now, in one call: as many page faults cost far more. If it fails, those come. */
static void map_chunks(struct mark_pool *pool, uint32_t cnt)
{
	if (cnt <= pool->mapped_cnt)
		return;
	madvise(pool->memory + (size_t)pool->mapped_cnt * MARK_CHUNK_BYTES,
		(size_t)(cnt - pool->mapped_cnt) * MARK_CHUNK_BYTES, MADV_POPULATE_WRITE);
	pool->mapped_cnt = cnt;
}

static void see_chunks(struct mark_pool *pool)
{
	struct mark_pool_head *head = head_of(pool);
	uint32_t cnt = __atomic_load_n(&head->chunk_cnt, __ATOMIC_ACQUIRE);

	if (cnt > MARK_CHUNK_COUNT)
		cnt = MARK_CHUNK_COUNT;
	map_chunks(pool, cnt);
	for (uint32_t chunk = MARK_HEAD_CHUNKS; chunk < cnt; chunk++) {
		uint64_t what = __atomic_load_n(&head->chunks[chunk], __ATOMIC_ACQUIRE);

		if (what & MARK_CHUNK_SLOTS_OF && what != pool->seen[chunk])
			see_chunk(pool, chunk, what);
	}
}

static int compare_next(const void *left, const void *right)
{
	const struct next_chunk *a = left, *b = right;

	if (a->after != b->after)
		return a->after < b->after ? -1 : 1;
	return a->chunk < b->chunk ? -1 : a->chunk > b->chunk;
}

static void sort_next(struct lane *lane)
{
	if (!lane->is_unsorted)
		return;
	for (size_t i = lane->next_first; i < lane->next_end; i++)
		lane->next[i].after = turns_between(lane->turn, lane->next[i].turn);
	qsort(lane->next + lane->next_first, lane->next_end - lane->next_first, sizeof(*lane->next),
	      compare_next);
	lane->is_unsorted = false;
}

/* Mostly it is the first one. */
static void forget_next(struct lane *lane, size_t at)
{
	memmove(&lane->next[lane->next_first + 1], &lane->next[lane->next_first],
		(at - lane->next_first) * sizeof(*lane->next));
	lane->next_first++;
}

/* Where a signal handler was quicker the thread has given the chunk back, and another one may have it. */
static bool is_still_taken(const struct mark_pool *pool, const struct lane *lane,
			   const struct next_chunk *next)
{
	return __atomic_load_n(&head_of(pool)->chunks[next->chunk], __ATOMIC_ACQUIRE) ==
	       (MARK_CHUNK_SLOTS_OF | (uint64_t)next->turn << 32 | lane->place);
}

/* Of those of that turn, and of turns before. */
static void forget_given_back(const struct mark_pool *pool, struct lane *lane, uint32_t turn)
{
	uint32_t after = turns_between(lane->turn, turn);

	for (size_t at = lane->next_first;
	     at < lane->next_end && turns_between(lane->turn, lane->next[at].turn) <= after; at++)
		if (!is_still_taken(pool, lane, &lane->next[at]))
			forget_next(lane, at);
}

static bool has_first_slot(const struct mark_pool *pool, uint32_t chunk)
{
	const struct mark_slot *slot = (const void *)(pool->memory + (size_t)chunk * MARK_CHUNK_BYTES);

	return __atomic_load_n(&slot->commit, __ATOMIC_ACQUIRE);
}

/*
 * All of the present chunk has been read, and the lane has gone on: to the
 * next. Of two that were taken for the same turn, in one of which the thread
 * jumped away before it had it, the one with marks is right. False: it is not
 * seen yet.
 */
static bool go_on(struct mark_pool *pool, struct lane *lane, uint64_t position)
{
	uint32_t turn = (lane->turn + 1) & MARK_TURN_MASK, old = lane->end_place / MARK_PLACES_IN_CHUNK - 1;
	bool is_last = MARK_TURN(position) == turn;
	size_t at;

	forget_given_back(pool, lane, turn);
	at = lane->next_first;
	while (at < lane->next_end &&
	       (lane->next[at].turn != turn ||
		(is_last && (lane->next[at].chunk + 1) * MARK_PLACES_IN_CHUNK != MARK_END_PLACE(position))))
		at++;
	if (at == lane->next_end)
		return false;
	while (!is_last && !has_first_slot(pool, lane->next[at].chunk) && at + 1 < lane->next_end &&
	       lane->next[at + 1].turn == turn)
		at++;
	if (lane->is_kept)
		lane->has_kept = true;
	else if (lane->end_place != lane->place + 1)
		give_chunk(pool, old);
	lane->turn = turn;
	lane->end_place = (lane->next[at].chunk + 1) * MARK_PLACES_IN_CHUNK;
	lane->used = 0;
	lane->is_kept = false;
	forget_next(lane, at);
	return true;
}

/* ---- slots ---- */

static int take_slot(struct mark_pool *pool, struct lane *lane, const struct mark_slot *slot,
		     const struct mark_pool_sink *sink)
{
	struct mark mark = {
		.tid = lane->tid,
		.kind = (uint8_t)(slot->commit >> MARK_KIND_SHIFT),
		.counter = slot->commit & MARK_TIME_MASK,
		.last_ns = &lane->last_ns,
		.id = slot->id,
		.name = slot->name,
		.value = slot->value,
	};

	if (mark.kind == MARK_PIECE) {
		mark_pieces_add(&lane->text, &pool->texts, slot);
		return 0;
	}
	if (mark.kind >= MARK_ATTR_BYTES && mark.kind <= MARK_KEY_EVENT) {
		mark_pieces_take(&lane->text, &pool->texts, &mark);
		mark.value = 0;
	}
	return sink->take(sink->context, &mark);
}

static bool was_taken(const struct lane *lane, uint64_t position)
{
	uint32_t turns = turns_between(lane->turn, MARK_TURN(position));

	return turns ? turns <= MARK_TURN_MASK / 2 : lane->used < MARK_USED(position);
}

/* A slot that is taken and not filled. True: it will not be. */
static bool is_given_up(const struct mark_pool *pool, struct lane *lane, uint64_t position, uint64_t now_ns)
{
	uint64_t before_ns = lane->since_ns > pool->drained_ns ? lane->since_ns : pool->drained_ns;

	if (!lane->missing_ns || !was_taken(lane, lane->missing_position)) {
		lane->missing_since_ns = lane->is_waiting ? lane->missing_ns : before_ns;
		lane->missing_ns = now_ns;
		lane->missing_position = position;
	}
	return lane->has_ended || now_ns - lane->missing_ns >= MARK_POOL_WAIT_NS;
}

/* How many slots of the chunk that is being read are taken. */
static uint32_t taken_slots(const struct lane *lane, uint64_t position)
{
	return MARK_TURN(position) == lane->turn && MARK_USED(position) < MARK_CHUNK_SLOTS
		       ? (uint32_t)MARK_USED(position)
		       : MARK_CHUNK_SLOTS;
}

/* Of what is taken, what is filled. */
static int read_slots(struct mark_pool *pool, struct lane *lane, uint64_t position, uint64_t now_ns,
		      const struct mark_pool_sink *sink)
{
	uint32_t taken = taken_slots(lane, position);
	const struct mark_slot *slots = (const struct mark_slot *)(const void *)(pool->memory +
										 (size_t)lane->end_place *
											 MARK_PLACE_BYTES) -
					MARK_CHUNK_SLOTS;
	int err = 0;

	for (; !err && lane->used < taken; lane->used++) {
		const struct mark_slot *there = &slots[lane->used];
		struct mark_slot slot = { .commit = __atomic_load_n(&there->commit, __ATOMIC_ACQUIRE) };

		if (slot.commit) {
			slot.id = *(const volatile uint64_t *)&there->id;
			slot.name = *(const volatile uint64_t *)&there->name;
			slot.value = *(const volatile uint64_t *)&there->value;
			err = take_slot(pool, lane, &slot, sink);
		} else if (is_given_up(pool, lane, position, now_ns)) {
			lane->is_kept = true;
			err = sink->lose(sink->context, lane->tid, 0, 1);
		} else {
			return 0;
		}
	}
	return err;
}

static int read_losses(const struct mark_pool *pool, struct lane *lane, const struct mark_pool_sink *sink)
{
	const struct mark_lane *there = lane_at(pool, lane->place);
	int err = 0;

	for (uint32_t kind = 0; !err && kind < MARK_LOST_KINDS; kind++) {
		uint32_t lost = __atomic_load_n(&there->lost[kind], __ATOMIC_RELAXED);

		if (lost != lane->lost[kind] && kind != (MARK_PIECE & (MARK_LOST_KINDS - 1)))
			err = sink->lose(sink->context, lane->tid, kind, (uint32_t)(lost - lane->lost[kind]));
		lane->lost[kind] = lost;
	}
	return err;
}

static int read_lane(struct mark_pool *pool, struct lane *lane, uint64_t now_ns,
		     const struct mark_pool_sink *sink)
{
	uint64_t position = __atomic_load_n(&lane_at(pool, lane->place)->position, __ATOMIC_ACQUIRE);
	int err;

	sort_next(lane);
	for (uint32_t i = 0; i <= MARK_CHUNK_COUNT; i++) {
		err = read_slots(pool, lane, position, now_ns, sink);
		if (err || MARK_TURN(position) == lane->turn || lane->used < MARK_CHUNK_SLOTS ||
		    !go_on(pool, lane, position))
			break;
	}
	lane->is_waiting = lane->used < taken_slots(lane, position);
	if (lane->is_waiting && lane->missing_since_ns < pool->waits_since_ns)
		pool->waits_since_ns = lane->missing_since_ns;
	return err ? err : read_losses(pool, lane, sink);
}

/* A thread that has ended, all of whose marks are read: with what it had. */
static void end_lane(struct mark_pool *pool, struct lane *lane)
{
	if (lane->end_place != lane->place + 1)
		give_chunk(pool, lane->end_place / MARK_PLACES_IN_CHUNK - 1);
	for (size_t i = lane->next_first; i < lane->next_end; i++)
		if (is_still_taken(pool, lane, &lane->next[i]))
			give_chunk(pool, lane->next[i].chunk);
	for (uint32_t chunk = MARK_HEAD_CHUNKS; lane->has_kept && chunk < MARK_CHUNK_COUNT; chunk++)
		if (pool->seen[chunk] & MARK_CHUNK_SLOTS_OF && (uint32_t)pool->seen[chunk] == lane->place)
			give_chunk(pool, chunk);
	for (uint32_t chunk = MARK_HEAD_CHUNKS; lane->has_over && chunk < MARK_CHUNK_COUNT; chunk++)
		if (__atomic_load_n(&head_of(pool)->chunks[chunk], __ATOMIC_RELAXED) ==
		    (MARK_CHUNK_OVER | lane->place))
			give_chunk(pool, chunk);
	id_map_remove(&pool->lanes, lane->place, 0);
	unlink_lane(pool, lane);
	give_lane(pool, lane->place);
	release_lane(pool, lane); /* all that remains is whose it was until when */
	if (id_map_put(&pool->given, lane->place, 0, lane))
		free_lane(pool, lane);
}

/* What is removed may move others in the map: so they are all found first. */
static void end_lanes(struct mark_pool *pool)
{
	struct lane *lane, *ended = NULL;

	for (size_t i = 0; (lane = id_map_next(&pool->lanes, &i));) {
		if (!lane->has_ended)
			continue;
		lane->next_ended = ended;
		ended = lane;
	}
	while (ended) {
		lane = ended;
		ended = lane->next_ended;
		end_lane(pool, lane);
	}
}

int mark_pool_drain(struct mark_pool *pool, uint64_t now_ns, const struct mark_pool_sink *sink)
{
	struct lane *lane;
	int err = 0;

	see_chunks(pool);
	pool->waits_since_ns = UINT64_MAX;
	for (size_t i = 0; !err && (lane = id_map_next(&pool->lanes, &i));)
		err = read_lane(pool, lane, now_ns, sink);
	if (!err)
		end_lanes(pool);
	pool->drained_ns = now_ns;
	return err;
}

uint64_t mark_pool_waits_since_ns(const struct mark_pool *pool)
{
	return pool->waits_since_ns;
}

void mark_pool_refuse(struct mark_pool *pool)
{
	__atomic_store_n(&head_of(pool)->accepted, 0, __ATOMIC_RELEASE);
	take_over(pool);
}

void mark_pool_close(struct mark_pool *pool)
{
	struct lane *lane;

	if (!pool)
		return;
	for (size_t i = 0; (lane = id_map_next(&pool->lanes, &i));)
		free_lane(pool, lane);
	for (size_t i = 0; (lane = id_map_next(&pool->given, &i));)
		free_lane(pool, lane);
	id_map_release(&pool->lanes);
	id_map_release(&pool->given);
	id_map_release(&pool->threads);
	mark_pieces_memory_release(&pool->texts);
	if (pool->memory)
		munmap(pool->memory, MARK_POOL_BYTES);
	close(pool->fd);
	free(pool);
}
