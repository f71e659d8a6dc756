/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * id_objects PLUGIN: makes ids in an executable, two shared libraries and a plugin (dlopened, RTLD_LOCAL),
 * each of two translation units, on several threads at once, before and after fork. Exit status 0: in each of
 * the two processes no id came twice, counting those made before the fork. Without a PLUGIN, when linked
 * statically, there is the executable alone.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "id_part.h"
#include "id_set.h"

#define THREAD_CNT 4
#define IDS_PER_TURN 701 /* so that the turns of a thread end anywhere in its blocks */
#define TURN_CNT 8
#define SOURCE_MAX 8
#define ROUND_CNT 2

#ifdef __cplusplus
extern "C" {
#endif
ID_PART_MAKE(program_a);
ID_PART_MAKE(program_b);
ID_PART_TRACE(program_a);
#ifndef IS_STATIC
ID_PART_MAKE(one_a);
ID_PART_MAKE(one_b);
ID_PART_TRACE(one_a);
ID_PART_MAKE(two_a);
ID_PART_MAKE(two_b);
ID_PART_TRACE(two_a);
#endif
#ifdef __cplusplus
}
#endif

static id_make_function *sources[SOURCE_MAX];
static size_t source_cnt;
static id_trace_function *objects[SOURCE_MAX];
static size_t object_cnt;

static void add_object(id_make_function *a, id_make_function *b, id_trace_function *trace)
{
	sources[source_cnt++] = a;
	sources[source_cnt++] = b;
	objects[object_cnt++] = trace;
}

static void find_objects(const char *plugin_path)
{
	add_object(program_a_make, program_b_make, program_a_trace);
#ifdef IS_STATIC
	(void)plugin_path;
#else
	void *plugin = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
	id_make_function *plugin_a, *plugin_b;
	id_trace_function *trace;

	if (!plugin) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	*(void **)&plugin_a = dlsym(plugin, "plugin_a_make");
	*(void **)&plugin_b = dlsym(plugin, "plugin_b_make");
	*(void **)&trace = dlsym(plugin, "plugin_a_trace");
	add_object(one_a_make, one_b_make, one_a_trace);
	add_object(two_a_make, two_b_make, two_a_trace);
	add_object(plugin_a, plugin_b, trace);
#endif
}

static size_t ids_per_thread(void)
{
	return source_cnt * TURN_CNT * IDS_PER_TURN;
}

static void *make_ids(void *argument)
{
	uint64_t *ids = (uint64_t *)argument;
	size_t turn, i;

	for (turn = 0; turn < TURN_CNT; turn++) {
		for (i = 0; i < source_cnt; i++) {
			sources[i](ids, IDS_PER_TURN);
			ids += IDS_PER_TURN;
		}
	}
	return NULL;
}

static void make_ids_on_threads(uint64_t *ids)
{
	pthread_t threads[THREAD_CNT];
	size_t i;

	for (i = 0; i < THREAD_CNT; i++)
		if (pthread_create(&threads[i], NULL, make_ids, ids + i * ids_per_thread()) != 0)
			exit(2);
	for (i = 0; i < THREAD_CNT; i++)
		pthread_join(threads[i], NULL);
}

static int nobody_traces(void)
{
	uint64_t ids[3];
	size_t i;

	for (i = 0; i < source_cnt; i++) {
		sources[i](ids, 3);
		if (ids[0] || ids[1] || ids[2])
			return 0;
	}
	return 1;
}

/* Room for two rounds; a round is one of the first thread and one of each other thread. */
static uint64_t *make_round(uint64_t *end)
{
	make_ids(end);
	make_ids_on_threads(end + ids_per_thread());
	return end + (1 + THREAD_CNT) * ids_per_thread();
}

int main(int argc, char **argv)
{
	uint64_t *ids, *end;
	int status, is_right;
	pid_t child;
	size_t i;

	find_objects(argc > 1 ? argv[1] : NULL);
	if (!nobody_traces())
		return 3;
	for (i = 0; i < object_cnt; i++)
		objects[i]();
	ids = (uint64_t *)calloc(ROUND_CNT * (1 + THREAD_CNT) * ids_per_thread(), sizeof(*ids));
	end = make_round(ids);
	is_right = ids_are_unique("before the fork", ids, (size_t)(end - ids));
	fflush(stdout);
	child = fork();
	end = make_round(end);
	is_right &= ids_are_unique(child == 0 ? "in the child" : "in the parent", ids, (size_t)(end - ids));
	free(ids);
	if (child == 0)
		return !is_right;
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		return 4;
	return !is_right;
}
