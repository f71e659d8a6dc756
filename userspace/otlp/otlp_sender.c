/* SPDX-License-Identifier: BSD-2-Clause */
#include "otlp/otlp_sender.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/saturating.h"
#include "base/seeded_random.h"
#include "base/text.h"
#include "otlp/otlp_client.h"
#include "otlp/otlp_split.h"

#define NS_PER_MS 1000000u
#define FIRST_WAIT_MS 500u
#define WAIT_MAX_MS 30000u
#define SLICE_NS 100000000u /* between looks at a signal's flag */
#define WAIT_ASKED_MAX_MS 600000u

struct message {
	struct message *next;
	struct otlp_request *request;
	size_t size;
};

struct otlp_sender {
	struct otlp_sender_options options;
	struct otlp_client *client;
	atomic_bool is_stopped;
	pthread_t thread;
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t changed;
	struct message *first, **end; /* the first one is being sent */
	size_t message_cnt;
	size_t byte_cnt;
	uint64_t moved_ns; /* when a message last left the queue, or came into an empty one */
	bool is_closing;
	bool has_ended;
	struct otlp_sender_totals totals;
	struct error sentence; /* to be said; "": nothing */

	/* of the thread */
	struct seeded_random random;
	uint64_t not_before_ns; /* the receiver asked for that */
	size_t too_large;	/* the smallest message that was refused for its size; 0: none */
	bool is_troubled;	/* the message before had to be tried again, which was said */
};

/* ---- waiting ---- */

/* With the lock, until something changes, or so long. */
static void wait_change(struct otlp_sender *sender, uint64_t wait_ns)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)(wait_ns % 1000000000u);
	until.tv_sec += (time_t)(wait_ns / 1000000000u) + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&sender->changed, &sender->lock, &until);
}

static bool is_stopped(const struct otlp_sender *sender)
{
	return atomic_load_explicit(&sender->is_stopped, memory_order_relaxed);
}

/* Without the lock; false: it was stopped. */
static bool sleep_until(struct otlp_sender *sender, uint64_t until_ns)
{
	uint64_t now_ns;

	pthread_mutex_lock(&sender->lock);
	while (!is_stopped(sender) && (now_ns = clock_now_ns()) < until_ns)
		wait_change(sender, until_ns - now_ns < SLICE_NS ? until_ns - now_ns : SLICE_NS);
	pthread_mutex_unlock(&sender->lock);
	return !is_stopped(sender);
}

/* ---- what is said and counted, by the thread ---- */

static void keep_sentence(struct otlp_sender *sender, const char *format, const struct error *reason)
{
	pthread_mutex_lock(&sender->lock);
	error_set(&sender->sentence, format, sender->options.endpoint->place, reason->text);
	pthread_mutex_unlock(&sender->lock);
}

static void count_taken(struct otlp_sender *sender, const struct otlp_request *request,
			const struct otlp_answer *answer)
{
	uint32_t span_cnt = request->span_cnt;
	uint64_t rejected_cnt = answer->rejected_cnt < span_cnt ? answer->rejected_cnt : span_cnt;

	pthread_mutex_lock(&sender->lock);
	sender->totals.sent_cnt += span_cnt - rejected_cnt;
	sender->totals.rejected_cnt += rejected_cnt;
	sender->totals.other_sent_cnt += span_cnt == 0;
	if (*answer->reason.text && !*sender->totals.reason.text) {
		sender->totals.reason = answer->reason;
		error_set(&sender->sentence, "%s: %s", sender->options.endpoint->place, answer->reason.text);
	}
	pthread_mutex_unlock(&sender->lock);
	if (sender->is_troubled)
		keep_sentence(sender, "%s takes spans again%s", &(struct error){ "" });
	sender->is_troubled = false;
}

static void count_dropped(struct otlp_sender *sender, const struct otlp_request *request,
			  const struct error *reason)
{
	sender->totals.dropped_cnt += request->span_cnt;
	sender->totals.other_dropped_cnt += request->span_cnt == 0;
	if (!*sender->totals.reason.text)
		sender->totals.reason = *reason;
}

/* The message is not sent; and the queue ends with it, if that is so wanted. */
static void drop(struct otlp_sender *sender, const struct otlp_request *request,
		 const struct otlp_answer *answer)
{
	bool ends = sender->options.ends_at_failure &&
		    (answer->outcome == OTLP_AGAIN || answer->outcome == OTLP_HOPELESS);

	pthread_mutex_lock(&sender->lock);
	if (!ends && !*sender->totals.reason.text && answer->outcome != OTLP_STOPPED)
		error_set(&sender->sentence, "%s did not take %s: %s", sender->options.endpoint->place,
			  request->span_cnt > 0 ? "spans" : "a request", answer->reason.text);
	count_dropped(sender, request, &answer->reason);
	sender->totals.has_failed |= ends;
	pthread_mutex_unlock(&sender->lock);
	if (ends)
		otlp_sender_stop(sender);
}

/* ---- sending, by the thread ---- */

/* When to try again: as the receiver asks, or twice as long as before, by chance up to half less. */
static uint64_t next_try_ns(struct otlp_sender *sender, const struct otlp_answer *answer,
			    unsigned int try_cnt)
{
	uint64_t wait_ms = try_cnt < 6 ? FIRST_WAIT_MS << try_cnt : WAIT_MAX_MS;
	uint64_t now_ns = clock_now_ns();

	if (wait_ms > WAIT_MAX_MS)
		wait_ms = WAIT_MAX_MS;
	wait_ms -= (uint64_t)(seeded_random_unit(&sender->random) * (double)wait_ms / 2);
	if (answer->wait_ms) {
		wait_ms = answer->wait_ms < WAIT_ASKED_MAX_MS ? answer->wait_ms : WAIT_ASKED_MAX_MS;
		sender->not_before_ns = now_ns + wait_ms * NS_PER_MS; /* for the others, too */
	}
	return now_ns + wait_ms * NS_PER_MS;
}

/* Until it is taken, refused, or given up. */
static void send_patiently(struct otlp_sender *sender, const struct otlp_request *request,
			   struct otlp_answer *answer)
{
	uint64_t give_up_ns = add_saturating(clock_now_ns(), sender->options.give_up_ns),
		 next_ns = sender->not_before_ns;

	for (unsigned int try_cnt = 0;; try_cnt++) {
		if (!sleep_until(sender, next_ns)) {
			answer->outcome = OTLP_STOPPED;
			if (try_cnt == 0)
				error_set(&answer->reason, "stopped");
			return;
		}
		otlp_client_send(sender->client, request, answer);
		if (answer->outcome != OTLP_AGAIN)
			return;
		next_ns = next_try_ns(sender, answer, try_cnt);
		if (next_ns > give_up_ns)
			return;
		if (!sender->is_troubled)
			keep_sentence(sender, "%s: %s; trying again", &answer->reason);
		sender->is_troubled = true;
	}
}

static void send_request(struct otlp_sender *sender, const struct otlp_request *request);

/* false: it can't be halved. */
static bool send_halves(struct otlp_sender *sender, const struct otlp_request *request)
{
	struct text first = { 0 }, second = { 0 };
	uint32_t span_cnt = request->span_cnt;
	struct otlp_request half = *request;
	bool is_fine = span_cnt > 1 &&
		       !otlp_split(request->bytes, request->length, span_cnt / 2, &first, &second);

	if (is_fine) {
		half.bytes = first.bytes;
		half.length = first.length;
		half.span_cnt = span_cnt / 2;
		send_request(sender, &half);
		half.bytes = second.bytes;
		half.length = second.length;
		half.span_cnt = span_cnt - span_cnt / 2;
		send_request(sender, &half);
	}
	text_release(&first);
	text_release(&second);
	return is_fine;
}

/* One as large as another that was too large is not tried as a whole. */
static void send_request(struct otlp_sender *sender, const struct otlp_request *request)
{
	struct otlp_answer answer;

	if (sender->too_large && request->length >= sender->too_large && send_halves(sender, request))
		return;
	send_patiently(sender, request, &answer);
	if (answer.outcome == OTLP_TOO_LARGE && send_halves(sender, request)) {
		if (!sender->too_large || request->length < sender->too_large)
			sender->too_large = request->length;
		return;
	}
	if (answer.outcome == OTLP_TAKEN)
		count_taken(sender, request, &answer);
	else
		drop(sender, request, &answer);
}

static void free_message(struct message *message)
{
	free(message->request);
	free(message);
}

/* With the lock. */
static void remove_first(struct otlp_sender *sender)
{
	struct message *message = sender->first;

	sender->first = message->next;
	if (!sender->first)
		sender->end = &sender->first;
	sender->message_cnt--;
	sender->byte_cnt -= message->size;
	sender->moved_ns = clock_now_ns();
	pthread_cond_broadcast(&sender->changed);
	free_message(message);
}

static void *send_all(void *context)
{
	struct otlp_sender *sender = context;

	pthread_mutex_lock(&sender->lock);
	for (;;) {
		struct message *message = sender->first;

		if (is_stopped(sender) || (!message && sender->is_closing))
			break;
		if (!message) {
			wait_change(sender, SLICE_NS * 10);
			continue;
		}
		pthread_mutex_unlock(&sender->lock);
		send_request(sender, message->request);
		pthread_mutex_lock(&sender->lock);
		remove_first(sender);
	}
	while (sender->first) {
		count_dropped(sender, sender->first->request, &(struct error){ "stopped" });
		remove_first(sender);
	}
	sender->has_ended = true;
	pthread_cond_broadcast(&sender->changed);
	pthread_mutex_unlock(&sender->lock);
	return NULL;
}

/* ---- for the other thread ---- */

int otlp_sender_open(struct otlp_sender **made, const struct otlp_sender_options *options,
		     struct error *error)
{
	struct otlp_sender *sender = calloc(1, sizeof(*sender));
	pthread_condattr_t attributes;
	int err = -ENOMEM;

	*made = NULL;
	error_set(error, "not enough memory");
	if (!sender)
		return err;
	sender->options = *options;
	sender->end = &sender->first;
	seeded_random_init(&sender->random, clock_now_ns());
	err = otlp_client_open(&sender->client, options->endpoint, &sender->is_stopped, error);
	if (err)
		goto failed;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&sender->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&sender->lock, NULL);
	err = -pthread_create(&sender->thread, NULL, send_all, sender);
	if (err) {
		error_set(error, "can't start a thread: %s", strerror(-err));
		goto failed_locks;
	}
	*made = sender;
	return 0;

failed_locks:
	pthread_mutex_destroy(&sender->lock);
	pthread_cond_destroy(&sender->changed);
failed:
	otlp_client_close(sender->client);
	free(sender);
	return err;
}

/* With the lock, which is open while it is said. */
static void say(struct otlp_sender *sender)
{
	struct error sentence = sender->sentence;

	if (!*sentence.text)
		return;
	sender->sentence.text[0] = '\0';
	pthread_mutex_unlock(&sender->lock);
	sender->options.say(sender->options.context, sentence.text);
	pthread_mutex_lock(&sender->lock);
}

void otlp_sender_look(struct otlp_sender *sender)
{
	pthread_mutex_lock(&sender->lock);
	say(sender);
	pthread_mutex_unlock(&sender->lock);
}

static bool is_full(const struct otlp_sender *sender, size_t length)
{
	return sender->first &&
	       (sender->message_cnt >= OTLP_QUEUE_MESSAGES || sender->byte_cnt + length > OTLP_QUEUE_BYTES);
}

/* With the lock. false: the queue stays full. */
static bool wait_for_room(struct otlp_sender *sender, size_t length)
{
	uint64_t stall_ns = sender->options.stall_ns;

	while (is_full(sender, length) && !sender->has_ended && !is_stopped(sender)) {
		if (stall_ns && clock_now_ns() > sender->moved_ns + stall_ns)
			return false;
		wait_change(sender, SLICE_NS);
		say(sender);
	}
	return true;
}

static void append(struct otlp_sender *sender, struct message *message)
{
	if (!sender->first)
		sender->moved_ns = clock_now_ns();
	*sender->end = message;
	sender->end = &message->next;
	sender->message_cnt++;
	sender->byte_cnt += message->size;
	pthread_cond_broadcast(&sender->changed);
}

static struct message *make_message(const struct otlp_request *request)
{
	struct message *message = calloc(1, sizeof(*message));

	if (message)
		message->request = otlp_request_copy(request, &message->size);
	if (message && !message->request) {
		free(message);
		return NULL;
	}
	return message;
}

bool otlp_sender_has_room(struct otlp_sender *sender, size_t length)
{
	bool has_room;

	pthread_mutex_lock(&sender->lock);
	has_room = !is_full(sender, length);
	pthread_mutex_unlock(&sender->lock);
	return has_room;
}

int otlp_sender_add(struct otlp_sender *sender, const struct otlp_request *request)
{
	struct message *message = make_message(request);
	bool is_ended, has_room;

	if (!message)
		return -ENOMEM;
	pthread_mutex_lock(&sender->lock);
	has_room = wait_for_room(sender, message->size);
	is_ended = sender->has_ended || is_stopped(sender);
	if (is_ended || !has_room)
		count_dropped(sender, request,
			      &(struct error){ "the receiver takes too few, the queue is full" });
	else
		append(sender, message);
	say(sender);
	pthread_mutex_unlock(&sender->lock);
	if (is_ended || !has_room)
		free_message(message);
	return is_ended ? -ECANCELED : 0;
}

void otlp_sender_stop(struct otlp_sender *sender)
{
	atomic_store_explicit(&sender->is_stopped, true, memory_order_relaxed);
}

void otlp_sender_close(struct otlp_sender *sender, uint64_t wait_ns, struct otlp_sender_totals *totals)
{
	uint64_t until_ns = clock_now_ns() + wait_ns;

	pthread_mutex_lock(&sender->lock);
	sender->is_closing = true;
	pthread_cond_broadcast(&sender->changed);
	while (!sender->has_ended) {
		if (wait_ns && clock_now_ns() > until_ns)
			otlp_sender_stop(sender);
		wait_change(sender, SLICE_NS);
		say(sender);
	}
	say(sender);
	pthread_mutex_unlock(&sender->lock);
	pthread_join(sender->thread, NULL);
	*totals = sender->totals;
	otlp_client_close(sender->client);
	pthread_mutex_destroy(&sender->lock);
	pthread_cond_destroy(&sender->changed);
	free(sender);
}
