/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The open spans, and the stays of threads in them. A span's account is the sum
 * of its stays, each the difference of two readings of the thread's clocks, and
 * of the time in which nobody was in it: detached.
 *
 * There may be millions. So a span is three lines of the cache: what an event
 * asks for, what its record says besides, and the stay of the one thread that
 * most spans have. What most never need lies elsewhere: further stays, long
 * texts, tags, and an account (only a span that has been charged before its end
 * has one).
 */
#ifndef SPAN_TABLE_H
#define SPAN_TABLE_H

#include <stdbool.h>

#include "attribute/thread_table.h"
#include "base/hash_index.h"
#include "base/pool.h"
#include "event/event.h"
#include "txtrace/log.h"

#define SPAN_TEXT_INSIDE 32
#define SPAN_HEAP_BYTES 16 /* of memory that lies elsewhere, besides what was asked for */

struct span;

/* A thread is in a span. In two lists: the thread's and the span's. */
struct stay {
	struct thread *thread; /* NULL: this one, in its span, is not in use */
	struct span *span;
	struct stay *next_of_thread;
	/* what points to this one: a thread may be in very many spans, and very many in one */
	struct stay **link_of_thread;
	struct stay *next_of_span;
	struct stay **link_of_span;
	/* its clocks when it entered go on from there; NULL: it entered without clocks */
	struct thread_reading *reading;
	uint64_t enter_ns;
	uint32_t depth;  /* entered so many times more than left */
	uint32_t number; /* in the pool; of the one in its span: nothing */
};

/* A stay that does not lie in its span. */
struct further_stay {
	struct stay stay;
	uint32_t cover;
};

/* A thread has entered a span without a parent while it stayed in this one. */
struct cover {
	struct stay *stay;
	struct cover *below;  /* the thread's next one: of the span that it had entered before */
	struct cover **link;  /* what points to this one */
	struct thread_reading *reading; /* as in struct stay, at since_ns */
	uint64_t since_ns;
	uint32_t number;      /* in the pool */
};

/* What a span was charged. */
struct span_account {
	struct txtrace_ledger ledger;
	uint64_t work_ns;
	uint64_t stolen_doubt_ns; /* of the ledger's on-CPU, what may have been stolen */
};

struct span_tag {
	uint32_t length, room;
	char bytes[];
};

struct span {
	uint64_t id;
	uint64_t begin_ns;
	uint64_t detached_since_ns; /* while no thread is in it */
	struct stay *stays;
	uint32_t pid;
	uint32_t tid;
	uint32_t flags;    /* enum txtrace_span_flag */
	uint32_t hash;     /* of its id or key */
	uint32_t number;   /* in the pool */
	uint32_t account;  /* in the pool of accounts, + 1; 0: nothing was charged yet */
	uint32_t overlap;  /* in the pool of overlaps, + 1; 0: none yet. See top_level.h */
	uint8_t stay_cnt;  /* all that there were; no more than 2 are counted */
	bool has_checkpoint;
	bool is_left_out : 1;   /* the user does not want its label, or it is not sampled */
	bool is_unsampled : 1;  /* that is why */
	bool has_waiting_marks;

	uint64_t parent;
	struct span_tag *tag; /* NULL: none */
	uint16_t label_length;
	uint16_t key_length;
	uint32_t own_cover; /* of own_stay */
	union {
		char inside[SPAN_TEXT_INSIDE]; /* label, then key; … */
		char *outside;                 /* … if they are longer, they lie elsewhere */
	} text;

	struct stay own_stay; /* the first one */
};

struct span_table {
	struct hash_index by_id;  /* (tgid, id); keyed spans are not in it */
	struct hash_index by_key;
	struct pool spans;
	struct pool stays;
	struct pool accounts;
	struct pool overlaps; /* struct txtrace_ledger */
	struct pool covers;
	struct thread_table *threads; /* whose readings the stays refer to */
	uint64_t seed;
	uint64_t keyed_cnt; /* ids given to keyed spans */
	size_t open_cnt;
};

struct span_begin {
	uint64_t time_ns;
	uint64_t id; /* of a keyed span: 0 */
	uint64_t parent;
	uint32_t parent_flags; /* ROOT, NESTED, PARENT_KEYED, PARENT_LOST of enum txtrace_span_flag */
	uint32_t tgid;
	uint32_t tid;
	const struct event_text *label; /* no more than 65,535 bytes count */
	const struct event_text *key;   /* NULL: not keyed */
	bool is_left_out;
	bool is_unsampled;
};

void span_table_init(struct span_table *table, struct thread_table *threads);
void span_table_release(struct span_table *table); /* with all spans and stays in it */

/* NULL: not open */
struct span *span_table_get(const struct span_table *table, uint32_t tgid, uint64_t id);
/* NULL: not open */
struct span *span_table_get_keyed(const struct span_table *table, const struct event_text *key);

/* It will be asked for soon: fetches its place in the index; itself, once that is here; its reading then. */
void span_table_fetch_slot(const struct span_table *table, uint32_t tgid, uint64_t id);
void span_table_fetch(const struct span_table *table, uint32_t tgid, uint64_t id);
void span_table_fetch_reading(const struct span_table *table, uint32_t tgid, uint64_t id);

/* Visits all, in no order: for (size_t i = 0; (span = span_table_next(table, &i));). */
struct span *span_table_next(const struct span_table *table, size_t *position);

/* The span must not be open. It is open and detached from its time on. NULL: no memory. */
struct span *span_table_begin(struct span_table *table, const struct span_begin *begin);

/* An array of the open spans that are wanted, in the order in which they began; to be freed. 0 or -ENOMEM. */
int span_table_list(const struct span_table *table, bool (*is_wanted)(const struct span *span, uint32_t tgid),
		    uint32_t tgid, struct span ***list, size_t *cnt);

/* Takes the span, which nobody is in any more, out of the table and frees it. */
void span_table_end(struct span_table *table, struct span *span);

/* Adds to its tag, after a comma; what exceeds 4 KiB is cut off. 0 or -ENOMEM. */
int span_add_tag(struct span *span, const struct event_text *text);

/* By how much the memory of its tag grows if that is added. */
size_t span_tag_growth(const struct span *span, const struct event_text *text);

/* What the span was charged so far; made if there is none. NULL: no memory. */
struct span_account *span_account(struct span_table *table, struct span *span);

/* A copy of it. */
void span_read_account(const struct span_table *table, const struct span *span, struct span_account *account);

/*
 * What the thread's clocks moved from the one moment to the other; a reading as
 * in span_enter(). False: the two do not belong together.
 */
bool charge_between(struct txtrace_ledger *ledger, const struct thread_reading *from, uint64_t from_ns,
		    const struct thread_reading *to, uint64_t to_ns);

/* The thread's stay in the span; NULL: it is not in it. */
struct stay *span_stay_of(const struct span *span, const struct thread *thread);

/*
 * The thread is in the span from now on; reading: its own at this moment goes
 * on from there, NULL if there is none. 0 or -ENOMEM.
 */
int span_enter(struct span_table *table, struct span *span, struct thread *thread, uint64_t time_ns,
	       struct thread_reading *reading);

/*
 * It is no longer; reading as before. Charges the account and frees the stay.
 * False: the two readings do not belong together.
 */
bool span_leave(struct span_table *table, struct stay *stay, uint64_t time_ns,
		const struct thread_reading *reading, struct span_account *account);

/* Where the number of a stay's cover stands, + 1; 0: it has none. See top_level.h. */
static inline uint32_t *stay_cover(struct stay *stay)
{
	return stay == &stay->span->own_stay ? &stay->span->own_cover : &((struct further_stay *)stay)->cover;
}

static inline bool span_text_is_inside(const struct span *span)
{
	return (size_t)span->label_length + span->key_length <= sizeof(span->text.inside);
}

/* Its label and, behind it, its key. */
static inline const char *span_text(const struct span *span)
{
	return span_text_is_inside(span) ? span->text.inside : span->text.outside;
}

static inline struct txtrace_string span_label(const struct span *span)
{
	return (struct txtrace_string){ span_text(span), span->label_length };
}

static inline struct txtrace_string span_key(const struct span *span)
{
	return (struct txtrace_string){ span_text(span) + span->label_length, span->key_length };
}

static inline struct txtrace_string span_tag(const struct span *span)
{
	return span->tag ? (struct txtrace_string){ span->tag->bytes, span->tag->length }
			 : (struct txtrace_string){ 0 };
}

/* The memory of what lies elsewhere than in the span: a label and key that are too long; its tag. */
static inline size_t span_texts_bytes(size_t label_length, size_t key_length)
{
	return label_length + key_length <= SPAN_TEXT_INSIDE ? 0
							     : label_length + key_length + SPAN_HEAP_BYTES;
}

static inline size_t span_tag_bytes(const struct span *span)
{
	return span->tag ? sizeof(*span->tag) + span->tag->room + SPAN_HEAP_BYTES : 0;
}

/* Charges what the span, which nobody is in, has waited. */
void span_charge_detached(struct span *span, uint64_t time_ns, struct span_account *account);

#endif
