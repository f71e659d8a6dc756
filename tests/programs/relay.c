/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client and a server, two processes, that work for one request after the other under its key: "request" is
 * begun by the client, which works 1 ms and leaves it to the server; that works 2 ms and leaves it, too; 2 ms
 * later the client works 1 ms more and ends it. What each measured of itself lies in memory that they share,
 * and the client prints it.
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "truth.h"

#define ON_THE_WAY_NS (2 * NS_PER_MS)

struct request {
	struct truth truth;
	char key[32];
};

static void must_pass(int fd, bool is_out)
{
	char byte = 0;

	must((is_out ? write(fd, &byte, 1) : read(fd, &byte, 1)) == 1, "the other process has gone");
}

static void serve(struct request *requests, const struct truth_options *options, int in_fd, int out_fd)
{
	struct witness witness;

	end_with_parent(SIGKILL);
	witness_init(&witness);
	wait_until_traced(options->wait_traced_s);
	must_pass(out_fd, true);
	for (uint64_t i = 0; i < options->repeat_cnt; i++) {
		const char *key = requests[i].key;

		must_pass(in_fd, false);
		TRUTH_STAY(&requests[i].truth, &witness, TXTRACE_KEY_ENTER(key, strlen(key)),
			   spin_cpu_ns(&witness, 2 * NS_PER_MS), TXTRACE_KEY_EXIT(key, strlen(key)));
		must_pass(out_fd, true);
	}
	_exit(0);
}

static void ask(struct request *request, struct witness *witness, uint64_t number, int in_fd, int out_fd)
{
	struct truth *truth = &request->truth;

	snprintf(request->key, sizeof(request->key), "request-%d-%llu", getpid(), (unsigned long long)number);
	truth->label = "request";
	truth->key = request->key;
	TRUTH_STAY(truth, witness, TXTRACE_KEY_BEGIN("request", request->key, strlen(request->key)),
		   spin_cpu_ns(witness, NS_PER_MS), TXTRACE_KEY_EXIT(request->key, strlen(request->key)));
	must_pass(out_fd, true);
	must_pass(in_fd, false);
	sleep_ns(ON_THE_WAY_NS);
	TRUTH_STAY(truth, witness, TXTRACE_KEY_ENTER(request->key, strlen(request->key)),
		   spin_cpu_ns(witness, NS_PER_MS), TXTRACE_KEY_END(request->key, strlen(request->key)));
}

int main(int argc, char **argv)
{
	struct truth_options options =
		truth_options_parse("relay: requests that two processes work for, by their keys", argc, argv);
	struct request *requests = mmap(NULL, options.repeat_cnt * sizeof(*requests), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int to_server[2], to_client[2], status;
	struct witness witness;
	pid_t server;

	must(requests != MAP_FAILED, "no memory");
	must(!pipe(to_server) && !pipe(to_client), "cannot make pipes");
	server = fork();
	must(server >= 0, "cannot fork");
	if (!server) {
		close(to_server[1]);
		close(to_client[0]);
		serve(requests, &options, to_server[0], to_client[1]);
	}
	close(to_server[0]);
	close(to_client[1]);
	witness_init(&witness);
	truth_start(&options);
	must_pass(to_client[0], false); /* the server is traced, too */
	for (uint64_t i = 0; i < options.repeat_cnt; i++)
		ask(&requests[i], &witness, i, to_client[0], to_server[1]);
	must(waitpid(server, &status, 0) == server && !status, "the server failed");
	for (uint64_t i = 0; i < options.repeat_cnt; i++)
		truth_print(&requests[i].truth);
	return 0;
}
