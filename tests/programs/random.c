/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server that nobody planned: workers take jobs from a queue, and what a job does is drawn from a seed. It
 * says of every span what it measured.
 *
 *	"plain"      one worker: spins and sleeps
 *	"locked"     the same, and takes a mutex that others want, too
 *	"passed"     worked for by up to six workers, one after the other, with stays in the queue between
 *	             them; some are begun detached
 *	"keyed"      likewise, named by a key
 *	"nested"     children, up to three deep, some of which outlive their parents: a later job ends them
 *	"shared"     several workers are in it at once; the last one out ends it, no longer being in it
 *	"reentered"  entered again and again by the one worker, and not exited as often
 *	"exits"      a thread is made for it, enters it and exits without leaving it
 *	"ended"      a thread is made for it, enters it and falls asleep; it is ended while that sleeps in it
 *
 * Meanwhile another thread does to its own spans all that must not be done (random_mischief.h), and says how
 * often.
 */
#include <semaphore.h>

#include "random_mischief.h"
#include "truth.h"

#define WORKER_MAX 64
#define QUEUE_MAX 65536
#define STEP_MAX 4
#define HOLDERS 2 /* mutexes */

enum story { PLAIN, LOCKED, PASSED, KEYED, NESTED, SHARED, REENTERED, EXITS, ENDED, STORY_COUNT };

/* One transaction, in one worker's hands or in the queue. */
struct job {
	struct truth *truth;
	struct truth *children; /* NESTED: room for three */
	uint64_t random;
	enum story story;
	unsigned stays_left;
	unsigned sleep_cnt;
	unsigned key_length;
	char key[32];
	bool has_begun;
	atomic_uint inside_cnt; /* SHARED: who has yet to leave it */
	atomic_uint stay_idx;   /* SHARED: the next stay to fill */
};

struct scene {
	pthread_mutex_t lock; /* of the queue */
	pthread_cond_t is_filled;
	struct job *queue[QUEUE_MAX];
	size_t head, tail;
	uint64_t left_cnt; /* transactions that have not ended */
	pthread_mutex_t holders[HOLDERS];
};

/* ---- chance ---- */

static uint64_t draw(uint64_t *random)
{
	uint64_t z = *random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static unsigned below(uint64_t *random, unsigned limit)
{
	return draw(random) % limit;
}

/* ---- the queue ---- */

static void put_job(struct scene *scene, struct job *job)
{
	pthread_mutex_lock(&scene->lock);
	scene->queue[scene->tail++ % QUEUE_MAX] = job;
	pthread_cond_signal(&scene->is_filled);
	pthread_mutex_unlock(&scene->lock);
}

/* NULL: all is done. */
static struct job *take_job(struct scene *scene)
{
	struct job *job = NULL;

	pthread_mutex_lock(&scene->lock);
	while (scene->head == scene->tail && scene->left_cnt)
		pthread_cond_wait(&scene->is_filled, &scene->lock);
	if (scene->head != scene->tail)
		job = scene->queue[scene->head++ % QUEUE_MAX];
	pthread_mutex_unlock(&scene->lock);
	return job;
}

static void finish_job(struct scene *scene)
{
	pthread_mutex_lock(&scene->lock);
	if (!--scene->left_cnt)
		pthread_cond_broadcast(&scene->is_filled);
	pthread_mutex_unlock(&scene->lock);
}

/* ---- steps ---- */

static void hold(struct scene *scene, struct witness *witness, uint64_t *random)
{
	pthread_mutex_t *mutex = &scene->holders[below(random, HOLDERS)];

	pthread_mutex_lock(mutex);
	spin_cpu_ns(witness, 20000 + below(random, 100000));
	pthread_mutex_unlock(mutex);
}

static void step(struct scene *scene, struct witness *witness, struct job *job)
{
	unsigned what = below(&job->random, job->story == LOCKED ? 3 : 2);
	uint64_t ns = 20000 + below(&job->random, below(&job->random, 10) ? 200000 : 2000000);

	if (what == 0) {
		spin_cpu_ns(witness, ns / 2);
	} else if (what == 1) {
		sleep_ns(ns);
		job->sleep_cnt++;
	} else {
		hold(scene, witness, &job->random);
	}
}

static void steps(struct scene *scene, struct witness *witness, struct job *job)
{
	for (unsigned cnt = below(&job->random, STEP_MAX + 1); cnt > 0; cnt--)
		step(scene, witness, job);
}

/* ---- stories ---- */

/*
 * A plain one that was switched out as often as it slept, and never otherwise, was blocked for nothing else.
 */
static void run_alone(struct scene *scene, struct witness *witness, struct job *job)
{
	struct truth *truth = job->truth;
	const struct stay *stay = &truth->stays[0];

	if (job->story == PLAIN)
		WITNESSED(truth, witness, "plain", steps(scene, witness, job));
	else
		WITNESSED(truth, witness, "locked", steps(scene, witness, job));
	if (job->story == PLAIN && job->sleep_cnt &&
	    stay->left.nvcsw - stay->entering.nvcsw == job->sleep_cnt)
		truth->blocked = "sleep";
}

/* It has been begun, or is now; and it ends here, or goes on to the next worker. */
static void run_passed(struct scene *scene, struct witness *witness, struct job *job)
{
	struct truth *truth = job->truth;
	bool is_last = !--job->stays_left;

	truth->label = "passed";
	if (!job->has_begun && below(&job->random, 2)) {
		TRUTH_EDGE(truth->begin_ns, truth->id = TXTRACE_BEGIN_DETACHED("passed", 0));
		job->has_begun = true;
	}
	if (job->has_begun && is_last)
		TRUTH_STAY(truth, witness, TXTRACE_ENTER(truth->id), steps(scene, witness, job),
			   TXTRACE_END(truth->id));
	else if (job->has_begun)
		TRUTH_STAY(truth, witness, TXTRACE_ENTER(truth->id), steps(scene, witness, job),
			   TXTRACE_EXIT(truth->id));
	else if (is_last)
		WITNESSED(truth, witness, "passed", steps(scene, witness, job));
	else
		TRUTH_STAY(truth, witness, truth->id = TXTRACE_BEGIN("passed"), steps(scene, witness, job),
			   TXTRACE_EXIT(truth->id));
	job->has_begun = true;
}

#define KEYED(probe, job) probe((job)->key, (job)->key_length)

static void run_keyed(struct scene *scene, struct witness *witness, struct job *job)
{
	struct truth *truth = job->truth;
	bool is_last = !--job->stays_left;

	truth->label = "keyed";
	truth->key = job->key;
	if (job->has_begun && is_last)
		TRUTH_STAY(truth, witness, KEYED(TXTRACE_KEY_ENTER, job), steps(scene, witness, job),
			   KEYED(TXTRACE_KEY_END, job));
	else if (job->has_begun)
		TRUTH_STAY(truth, witness, KEYED(TXTRACE_KEY_ENTER, job), steps(scene, witness, job),
			   KEYED(TXTRACE_KEY_EXIT, job));
	else if (is_last)
		TRUTH_STAY(truth, witness, TXTRACE_KEY_BEGIN("keyed", job->key, job->key_length),
			   steps(scene, witness, job), KEYED(TXTRACE_KEY_END, job));
	else
		TRUTH_STAY(truth, witness, TXTRACE_KEY_BEGIN("keyed", job->key, job->key_length),
			   steps(scene, witness, job), KEYED(TXTRACE_KEY_EXIT, job));
	job->has_begun = true;
}

static void run_child(struct scene *scene, struct witness *witness, struct job *job, txtrace_span_t parent,
		      unsigned depth)
{
	struct truth *truth = &job->children[depth];

	WITNESSED_CHILD(truth, witness, "child", parent, {
		steps(scene, witness, job);
		if (depth < 2 && below(&job->random, 2))
			run_child(scene, witness, job, truth->id, depth + 1);
	});
}

/* The first child is detached in its parent and ended when that is over. */
static void run_nested(struct scene *scene, struct witness *witness, struct job *job)
{
	struct truth *truth = job->truth, *heir = &job->children[3];

	WITNESSED(truth, witness, "nested", {
		heir->label = "heir";
		heir->parent = truth->id;
		TRUTH_EDGE(heir->begin_ns, heir->id = TXTRACE_BEGIN_DETACHED("heir", truth->id));
		run_child(scene, witness, job, truth->id, 0);
	});
	TRUTH_STAY(heir, witness, TXTRACE_ENTER(heir->id), steps(scene, witness, job), TXTRACE_END(heir->id));
}

/*
 * One of those who are in it; each has a random number of its own, as they are at it together. False: it was
 * the last one.
 */
static bool run_shared(struct scene *scene, struct witness *witness, struct job *job)
{
	struct truth *truth = job->truth;
	unsigned idx = atomic_fetch_add(&job->stay_idx, 1);
	struct job mine = { .random = job->random + idx, .story = SHARED };
	struct stay *stay = &truth->stays[idx];

	stay->tid = witness->tid;
	stay->entering = witness_read(witness);
	TXTRACE_ENTER(truth->id);
	stay->entered = witness_read(witness);
	steps(scene, witness, &mine);
	stay->leaving = witness_read(witness);
	TXTRACE_EXIT(truth->id);
	stay->left = witness_read(witness);
	if (atomic_fetch_sub(&job->inside_cnt, 1) > 1)
		return true;
	TRUTH_EDGE(truth->end_ns, TXTRACE_END(truth->id));
	return false;
}

static bool share(struct scene *scene, struct witness *witness, struct job *job)
{
	struct truth *truth = job->truth;
	unsigned cnt = 2 + below(&job->random, 3);

	if (job->has_begun)
		return run_shared(scene, witness, job);
	truth->label = "shared";
	truth->stay_cnt = cnt;
	job->has_begun = true;
	atomic_store(&job->inside_cnt, cnt);
	TRUTH_EDGE(truth->begin_ns, truth->id = TXTRACE_BEGIN_DETACHED("shared", 0));
	while (cnt-- > 0)
		put_job(scene, job);
	return true;
}

static void reenter(struct scene *scene, struct witness *witness, struct job *job)
{
	for (unsigned cnt = 1 + below(&job->random, 3); cnt > 0; cnt--) {
		TXTRACE_ENTER(job->truth->id);
		TXTRACE_ENTER(job->truth->id);
		steps(scene, witness, job);
		TXTRACE_EXIT(job->truth->id);
	}
}

static void *exit_inside(void *argument)
{
	struct job *job = argument;
	struct stay *stay = &job->truth->stays[1];
	struct witness witness;

	witness_init(&witness);
	stay->tid = witness.tid;
	stay->entering = witness_read(&witness);
	TXTRACE_ENTER(job->truth->id);
	stay->entered = witness_read(&witness);
	spin_cpu_ns(&witness, 1000 + below(&job->random, 300000));
	stay->leaving = witness_read(&witness);
	witness_release(&witness);
	return NULL;
}

static void run_exits(struct witness *witness, struct job *job)
{
	struct truth *truth = job->truth;
	pthread_t thread;

	WITNESSED(truth, witness, "exits", {
		start_thread(&thread, exit_inside, job);
		pthread_join(thread, NULL);
	});
	stay_ended_with_thread(&truth->stays[1]);
	truth->stay_cnt = 2;
}

struct sleeper {
	struct truth *truth;
	uint64_t random;
	sem_t is_ready, is_ended;
};

static void *sleep_inside(void *argument)
{
	struct sleeper *sleeper = argument;
	struct stay *stay = &sleeper->truth->stays[1];
	struct witness witness;

	witness_init(&witness);
	stay->tid = witness.tid;
	stay->entering = witness_read(&witness);
	TXTRACE_ENTER(sleeper->truth->id);
	stay->entered = witness_read(&witness);
	spin_cpu_ns(&witness, 1000 + below(&sleeper->random, 300000));
	stay->leaving = witness_read(&witness);
	sem_post(&sleeper->is_ready);
	while (sem_wait(&sleeper->is_ended))
		;
	stay->left = witness_read(&witness);
	witness_release(&witness);
	return NULL;
}

/*
 * What the sleeper said of itself last, it still is; its switches are counted while it sleeps. Its stay ends
 * when the span is ended.
 */
static void run_ended(struct witness *witness, struct job *job)
{
	struct truth *truth = job->truth;
	struct sleeper sleeper = { .truth = truth, .random = job->random };
	pthread_t thread;

	sem_init(&sleeper.is_ready, 0, 0);
	sem_init(&sleeper.is_ended, 0, 0);
	WITNESSED(truth, witness, "ended", {
		start_thread(&thread, sleep_inside, &sleeper);
		while (sem_wait(&sleeper.is_ready))
			;
		wait_until_switched_out(&truth->stays[1]);
	});
	sem_post(&sleeper.is_ended);
	pthread_join(thread, NULL);
	truth->stays[1].leaving.mono_ns = truth->stays[0].leaving.mono_ns;
	truth->stays[1].left.mono_ns = truth->stays[0].left.mono_ns;
	truth->stay_cnt = 2;
	sem_destroy(&sleeper.is_ready);
	sem_destroy(&sleeper.is_ended);
}

/* False: it has ended. */
static bool run_job(struct scene *scene, struct witness *witness, struct job *job)
{
	switch (job->story) {
	case PASSED:
		run_passed(scene, witness, job);
		return job->stays_left > 0;
	case KEYED:
		run_keyed(scene, witness, job);
		return job->stays_left > 0;
	case NESTED:
		run_nested(scene, witness, job);
		return false;
	case SHARED:
		return share(scene, witness, job);
	case REENTERED:
		WITNESSED(job->truth, witness, "reentered", reenter(scene, witness, job));
		return false;
	case EXITS:
		run_exits(witness, job);
		return false;
	case ENDED:
		run_ended(witness, job);
		return false;
	default:
		run_alone(scene, witness, job);
		return false;
	}
}

static void *run_worker(void *argument)
{
	struct scene *scene = argument;
	struct witness witness;
	struct job *job;

	witness_init(&witness);
	while ((job = take_job(scene))) {
		bool is_shared = job->story == SHARED;

		if (!run_job(scene, &witness, job))
			finish_job(scene);
		else if (!is_shared)
			put_job(scene, job);
	}
	witness_release(&witness);
	return NULL;
}

/* ---- the whole ---- */

#define TRUTHS_EACH 5 /* a nested one has three generations of children and an heir */

static void draw_job(struct job *job, struct truth *truths, uint64_t *random, uint64_t number)
{
	*job = (struct job){ .truth = truths,
			     .children = truths + 1,
			     .random = draw(random),
			     .story = below(random, STORY_COUNT) };
	job->stays_left = 1 + below(random, 6);
	job->key_length = snprintf(job->key, sizeof(job->key), "job-%llu", (unsigned long long)number);
}

static void run_all(struct scene *scene, unsigned worker_cnt, uint64_t seed)
{
	pthread_t threads[WORKER_MAX], mischief_thread;
	struct mischief mischief = { .seed = seed };

	start_thread(&mischief_thread, mischief_run, &mischief);
	for (unsigned i = 0; i < worker_cnt; i++)
		start_thread(&threads[i], run_worker, scene);
	for (unsigned i = 0; i < worker_cnt; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&mischief.is_over, true);
	pthread_join(mischief_thread, NULL);
	mischief_print(&mischief);
}

int main(int argc, char **argv)
{
	static struct scene scene = { .lock = PTHREAD_MUTEX_INITIALIZER,
				      .is_filled = PTHREAD_COND_INITIALIZER,
				      .holders = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER } };
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	uint64_t seed = 1, worker_cnt = 4, random;
	const struct option_spec table[] = {
		TRUTH_WAIT_SPEC(&options),
		{ .name = "spans",
		  .help = "how many transactions",
		  .count = &options.repeat_cnt,
		  .min = 1,
		  .max = 10000 },
		{ .name = "seed", .help = "what they do", .count = &seed, .max = 1e15 },
		{ .name = "threads",
		  .help = "how many workers",
		  .count = &worker_cnt,
		  .min = 1,
		  .max = WORKER_MAX },
	};
	struct job *jobs;

	options_parse(table, sizeof(table) / sizeof(table[0]), "random: a server that nobody planned", argc,
		      argv);
	struct truth *truths = truths_new(options.repeat_cnt * TRUTHS_EACH);
	jobs = calloc(options.repeat_cnt, sizeof(*jobs));
	must(jobs, "no memory");
	random = seed;
	scene.left_cnt = options.repeat_cnt;
	for (uint64_t i = 0; i < options.repeat_cnt; i++) {
		draw_job(&jobs[i], &truths[i * TRUTHS_EACH], &random, i);
		put_job(&scene, &jobs[i]);
	}
	truth_start(&options);
	run_all(&scene, worker_cnt, seed);
	truths_print(truths, options.repeat_cnt * TRUTHS_EACH);
	free(truths);
	free(jobs);
	return 0;
}
