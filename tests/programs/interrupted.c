/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans that compute for 10 ms each on one CPU while packets arrive there: each turn sends one to itself over
 * the loopback, which the kernel delivers in a softirq on top of the sender. Prints what the others of this
 * folder print, so what the spans had of the CPU is known.
 */
#include <arpa/inet.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "truth.h"

#define COMPUTED_NS (10 * NS_PER_MS)

static int open_socket(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) } };
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	must(fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof(address)) &&
		     !getsockname(fd, (struct sockaddr *)&address, &length) &&
		     !connect(fd, (struct sockaddr *)&address, length),
	     "cannot open a socket");
	return fd;
}

static void compute_and_send(struct witness *witness, int fd)
{
	char packet[64] = "packet";

	for (int turn = 0; turn < 10; turn++) {
		spin_cpu_ns(witness, COMPUTED_NS / 10);
		for (int i = 0; i < 20; i++) {
			must(send(fd, packet, sizeof(packet), 0) == sizeof(packet), "cannot send");
			must(recv(fd, packet, sizeof(packet), 0) == sizeof(packet), "cannot receive");
		}
	}
}

int main(int argc, char **argv)
{
	struct truth_options options =
		truth_options_parse("interrupted: spans that compute while packets arrive", argc, argv);
	struct truth *truths = truths_new(options.repeat_cnt);
	struct witness witness;
	int fd = open_socket();

	witness_init(&witness);
	truth_start(&options);
	for (uint64_t i = 0; i < options.repeat_cnt; i++)
		WITNESSED(&truths[i], &witness, "interrupted", compute_and_send(&witness, fd));
	truths_print(truths, options.repeat_cnt);
	free(truths);
	close(fd);
	return 0;
}
