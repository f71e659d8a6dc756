/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that sleeps in spans, and is woken in ways that are known: "nap" by a timer, "packet" by what
 * another thread, "sender", sends to it through the network of this machine, "pipe" by what "sender" writes.
 * Two threads burn CPU time in user code meanwhile: what interrupts them must not be taken for them.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <time.h>
#include <unistd.h>

#include "txtrace.h"
#include "program_options.h"

#define BURNERS 2

static sem_t turns;
static atomic_bool is_over;
static int sockets[2], pipes[2];

static void *burn(void *argument)
{
	(void)argument;
	pthread_setname_np(pthread_self(), "burner");
	while (!atomic_load_explicit(&is_over, memory_order_relaxed))
		;
	return NULL;
}

/* Two turns each: into the network, into the pipe; when the other one has had the time to fall asleep. */
static void *send_all(void *argument)
{
	struct timespec pause = { .tv_nsec = 3000000 };

	(void)argument;
	pthread_setname_np(pthread_self(), "sender");
	for (bool is_packet = true; !sem_wait(&turns) && !atomic_load(&is_over); is_packet = !is_packet) {
		nanosleep(&pause, NULL);
		if (is_packet ? send(sockets[1], "x", 1, 0) != 1 : write(pipes[1], "x", 1) != 1)
			abort();
	}
	return NULL;
}

static bool connect_sockets(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t length = sizeof(address);

	sockets[0] = socket(AF_INET, SOCK_DGRAM, 0);
	sockets[1] = socket(AF_INET, SOCK_DGRAM, 0);
	return sockets[0] >= 0 && sockets[1] >= 0 && !bind(sockets[0], (struct sockaddr *)&address, length) &&
	       !getsockname(sockets[0], (struct sockaddr *)&address, &length) &&
	       !connect(sockets[1], (struct sockaddr *)&address, length);
}

static void sleep_in_spans(void)
{
	struct timespec nap = { .tv_nsec = 2000000 };
	char byte;

	{
		TXTRACE_SPAN("nap");
		nanosleep(&nap, NULL);
	}
	{
		TXTRACE_SPAN("packet");
		sem_post(&turns);
		if (recv(sockets[0], &byte, 1, 0) != 1)
			abort();
	}
	{
		TXTRACE_SPAN("pipe");
		sem_post(&turns);
		if (read(pipes[0], &byte, 1) != 1)
			abort();
	}
}

int main(int argc, char **argv)
{
	uint64_t repeat_cnt = 50;
	const struct option_spec options[] = {
		{ .name = "repeat",
		  .help = "rounds of a nap, a packet and a pipe",
		  .count = &repeat_cnt,
		  .min = 1,
		  .max = 100000 },
	};
	pthread_t threads[BURNERS + 1];

	options_parse(options, 1, "wakers: sleeps that are ended in known ways", argc, argv);
	if (sem_init(&turns, 0, 0) || !connect_sockets() || pipe(pipes)) {
		perror("wakers");
		return 1;
	}
	for (int i = 0; i <= BURNERS; i++)
		if (pthread_create(&threads[i], NULL, i < BURNERS ? burn : send_all, NULL))
			return 1;
	for (uint64_t i = 0; i < repeat_cnt; i++)
		sleep_in_spans();
	atomic_store(&is_over, true);
	sem_post(&turns);
	for (int i = 0; i <= BURNERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
