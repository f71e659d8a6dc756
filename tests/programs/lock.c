/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two spans and a mutex: "holder" takes it, sees that "waiter" sleeps on it, keeps it for another 5 ms and
 * lets go. So waiter was blocked on the lock for at least 5 ms, and holder slept meanwhile.
 */
#include "truth.h"

struct scene {
	pthread_mutex_t lock;
	atomic_uint_least64_t held_cnt;    /* the holder has it */
	atomic_uint_least64_t waiting_cnt; /* the waiter is about to wait for it */
	atomic_uint_least64_t passed_cnt;  /* the waiter has had it */
	uint64_t repeat_cnt;
	uint32_t waiter_tid;
	struct truth *holders;
	struct truth *waiters;
};

static void hold(struct scene *scene, uint64_t turn)
{
	pthread_mutex_lock(&scene->lock);
	atomic_store(&scene->held_cnt, turn);
	wait_until_count(&scene->waiting_cnt, turn);
	wait_until_state(getpid(), scene->waiter_tid, "S");
	sleep_ns(5 * NS_PER_MS);
	pthread_mutex_unlock(&scene->lock);
}

static void wait_for_lock(struct scene *scene, uint64_t turn)
{
	atomic_store(&scene->waiting_cnt, turn);
	pthread_mutex_lock(&scene->lock);
}

static void *run_holder(void *argument)
{
	struct scene *scene = argument;
	struct witness witness;

	witness_init(&witness);
	for (uint64_t turn = 1; turn <= scene->repeat_cnt; turn++) {
		struct truth *truth = &scene->holders[turn - 1];
		truth->blocked = "sleep";
		truth->asked_ns = 5 * NS_PER_MS;
		WITNESSED(truth, &witness, "holder", hold(scene, turn));
		wait_until_count(&scene->passed_cnt, turn);
	}
	witness_release(&witness);
	return NULL;
}

static void run_waiter(struct scene *scene)
{
	struct witness witness;

	witness_init(&witness);
	for (uint64_t turn = 1; turn <= scene->repeat_cnt; turn++) {
		struct truth *truth = &scene->waiters[turn - 1];
		truth->blocked = "lock";
		truth->asked_ns = 5 * NS_PER_MS;
		wait_until_count(&scene->held_cnt, turn);
		WITNESSED(truth, &witness, "waiter", wait_for_lock(scene, turn));
		pthread_mutex_unlock(&scene->lock);
		atomic_store(&scene->passed_cnt, turn);
	}
	witness_release(&witness);
}

int main(int argc, char **argv)
{
	struct truth_options options =
		truth_options_parse("lock: one span holds a mutex for 5 ms, another waits for it", argc,
				    argv);
	struct scene scene = { .lock = PTHREAD_MUTEX_INITIALIZER, .repeat_cnt = options.repeat_cnt };
	pthread_t holder;

	scene.waiter_tid = (uint32_t)syscall(SYS_gettid);
	scene.holders = truths_new(options.repeat_cnt);
	scene.waiters = truths_new(options.repeat_cnt);
	truth_start(&options);
	start_thread(&holder, run_holder, &scene);
	run_waiter(&scene);
	pthread_join(holder, NULL);
	truths_print(scene.holders, options.repeat_cnt);
	truths_print(scene.waiters, options.repeat_cnt);
	free(scene.holders);
	free(scene.waiters);
	return 0;
}
