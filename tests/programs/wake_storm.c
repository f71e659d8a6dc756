/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A storm of wakeups whose wakers are known: tokens go from thread to thread. Who gets one, works for a span,
 * and gives it to any other thread, by that one's futex or eventfd. Each thread writes down to whom it gave,
 * between which two moments, and in which span: so a block on that futex or eventfd can only have been ended
 * by a thread that was giving to it just then.
 */
#include "truth.h"

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#define GIVES_MAX 4096 /* of a thread; it keeps the tokens to itself from there on */

struct give {
	uint32_t to;
	uint64_t least_ns, most_ns;
	txtrace_span_t span;
};

struct storm;

struct member {
	struct storm *storm;
	pthread_t thread;
	uint32_t tid;
	uint32_t idx;
	int eventfd; /* -1: it waits for its futex */
	_Atomic uint32_t tokens;
	uint64_t random;
	struct give *gives;
	uint32_t give_cnt;
};

struct storm {
	struct member *members;
	uint64_t member_cnt;
	uint64_t gives_wanted;
	atomic_uint_least64_t give_cnt;
};

static void take(struct member *member)
{
	uint32_t tokens = atomic_load(&member->tokens);
	uint64_t one;

	if (member->eventfd >= 0) {
		must(read(member->eventfd, &one, sizeof(one)) == sizeof(one), "cannot read from an eventfd");
		return;
	}
	for (;;) {
		while (!tokens) {
			syscall(SYS_futex, &member->tokens, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
			tokens = atomic_load(&member->tokens);
		}
		if (atomic_compare_exchange_strong(&member->tokens, &tokens, tokens - 1))
			return;
	}
}

static void give(struct member *from, struct member *to, txtrace_span_t span)
{
	struct give *give = &from->gives[from->give_cnt++];
	uint64_t one = 1;

	*give = (struct give){ .to = to->idx, .least_ns = clock_ns(CLOCK_MONOTONIC), .span = span };
	if (to->eventfd >= 0) {
		must(write(to->eventfd, &one, sizeof(one)) == sizeof(one), "cannot write to an eventfd");
	} else {
		atomic_fetch_add(&to->tokens, 1);
		syscall(SYS_futex, &to->tokens, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	give->most_ns = clock_ns(CLOCK_MONOTONIC);
}

static struct member *any_other(struct member *member)
{
	member->random = member->random * 6364136223846793005u + 1442695040888963407u;
	return &member->storm->members[(member->idx + 1 +
					(member->random >> 33) % (member->storm->member_cnt - 1)) %
				       member->storm->member_cnt];
}

/*
 * When enough was given, or this one has no room for more, one token goes around once more, and everybody
 * ends.
 */
static void *run_member(void *argument)
{
	struct member *member = argument;
	struct storm *storm = member->storm;
	bool is_last = false;

	member->tid = (uint32_t)syscall(SYS_gettid);
	while (!is_last) {
		take(member);
		txtrace_span_t span = TXTRACE_BEGIN("turn");
		is_last = atomic_fetch_add(&storm->give_cnt, 1) >= storm->gives_wanted ||
			  member->give_cnt >= GIVES_MAX - 1;
		if (is_last)
			atomic_store(&storm->give_cnt, storm->gives_wanted);
		give(member,
		     is_last ? &storm->members[(member->idx + 1) % storm->member_cnt] : any_other(member),
		     span);
		TXTRACE_END(span);
	}
	return NULL;
}

static void print_member(const struct member *member)
{
	printf("{\"type\": \"member\", \"tid\": %u, \"object\": \"0x%llx\", \"reason\": \"%s\", \"gives\": [",
	       member->tid,
	       member->eventfd >= 0 ? (unsigned long long)member->eventfd
				    : (unsigned long long)(uintptr_t)&member->tokens,
	       member->eventfd >= 0 ? "pipe" : "lock");
	for (uint32_t i = 0; i < member->give_cnt; i++)
		printf("%s[%u, %llu, %llu, \"%llu\"]", i ? ", " : "",
		       member->storm->members[member->gives[i].to].tid,
		       (unsigned long long)member->gives[i].least_ns,
		       (unsigned long long)member->gives[i].most_ns,
		       (unsigned long long)member->gives[i].span);
	puts("]}");
}

int main(int argc, char **argv)
{
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	struct storm storm = { .member_cnt = 8 };
	uint64_t token_cnt = 3;
	const struct option_spec table[] = {
		TRUTH_OPTION_SPECS(&options),
		{ .name = "threads", .help = "how many", .count = &storm.member_cnt, .min = 2, .max = 1000 },
		{ .name = "tokens",
		  .help = "how many go around at once",
		  .count = &token_cnt,
		  .min = 1,
		  .max = 1000 },
	};

	options_parse(table, sizeof(table) / sizeof(table[0]),
		      "wake_storm: threads that wake each other, and know whom", argc, argv);
	storm.gives_wanted = options.repeat_cnt;
	storm.members = calloc(storm.member_cnt, sizeof(*storm.members));
	must(storm.members, "no memory");
	truth_start(&options);
	for (uint64_t i = 0; i < storm.member_cnt; i++) {
		struct member *member = &storm.members[i];

		*member = (struct member){ .storm = &storm,
					   .idx = (uint32_t)i,
					   .random = i + 1,
					   .gives = calloc(GIVES_MAX, sizeof(struct give)) };
		member->eventfd = i % 2 ? eventfd(0, EFD_SEMAPHORE) : -1;
		must(member->gives && (!(i % 2) || member->eventfd >= 0), "no memory");
		atomic_store(&member->tokens, i % 2 ? 0 : token_cnt > i / 2);
	}
	for (uint64_t i = 0; i < storm.member_cnt; i++)
		start_thread(&storm.members[i].thread, run_member, &storm.members[i]);
	for (uint64_t i = 0; i < storm.member_cnt; i++)
		pthread_join(storm.members[i].thread, NULL);
	for (uint64_t i = 0; i < storm.member_cnt; i++)
		print_member(&storm.members[i]);
	must(!fflush(stdout), "cannot write");
	return 0;
}
