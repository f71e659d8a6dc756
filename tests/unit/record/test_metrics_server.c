/* SPDX-License-Identifier: BSD-2-Clause */
/* The metrics are served whoever else is connected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/sandbox/confinement.h"
#include "record/service/metrics_clients.h"
#include "record/service/metrics_server.h"
#include "unit/skip.h"

#define PAGE "a_figure 1\n"
#define OPEN_PAGE "an_open_figure 1\n# EOF\n"
#define REQUEST "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"
#define SLOW_CNT 60
#define LARGE_LINES 100000

static void write_page(void *context, enum metrics_format format, struct text *text)
{
	(void)context;
	text_append(text, format == METRICS_OPEN ? OPEN_PAGE : PAGE);
}

/* As the recorder has it: what HTTP takes is allowed. */
static void settle(void *context)
{
	(void)context;
	confinement_begin_metrics();
}

/* At a port that is free now; tried again should another one take it. */
static struct metrics_server *open_server_of(struct sockaddr_in *address, metrics_page page)
{
	struct metrics_server *server = NULL;
	struct error error = { "" };

	if (geteuid() == 0 && !can_become_nobody())
		skip_because(
			"root's rights cannot be given up: there is no other user in this user namespace");
	for (int i = 0; i < 20 && !server; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		socklen_t length = sizeof(*address);
		char text[64];

		*address = (struct sockaddr_in){ .sin_family = AF_INET,
						 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		assert_int_equal(bind(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
		assert_int_equal(getsockname(fd, (struct sockaddr *)address, &length), 0);
		close(fd);
		snprintf(text, sizeof(text), "127.0.0.1:%u", ntohs(address->sin_port));
		metrics_server_open(&server,
				    &(struct metrics_server_options){ text, page, NULL, { settle, NULL } },
				    &error);
	}
	assert_non_null(server);
	return server;
}

static struct metrics_server *open_server(struct sockaddr_in *address)
{
	return open_server_of(address, write_page);
}

/* From an address of its own on this machine: 127.0.0.last. */
static int connect_from(uint32_t last, const struct sockaddr_in *address, const char *request)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000000 + last) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *)&own, sizeof(own)), 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	return fd;
}

static void expect_this_page(struct metrics_server *server, int fd, const char *page, const char *type)
{
	struct pollfd ready[] = { { .fd = metrics_server_fd(server), .events = POLLIN },
				  { .fd = fd, .events = POLLIN } };
	char answer[1024] = "";
	size_t length = 0;

	while (!strstr(answer, page)) {
		ssize_t got;

		assert_true(poll(ready, 2, 600000) > 0);
		metrics_server_run(server);
		got = recv(fd, answer + length, sizeof(answer) - 1 - length, MSG_DONTWAIT);
		assert_true(got > 0 || (got < 0 && errno == EAGAIN)); /* neither reset nor closed */
		length += got > 0 ? (size_t)got : 0;
		answer[length] = '\0';
	}
	assert_non_null(strstr(answer, "200 OK"));
	assert_non_null(strstr(answer, type));
}

static void expect_page(struct metrics_server *server, int fd)
{
	expect_this_page(server, fd, PAGE, "Content-Type: text/plain; version=0.0.4;");
}

/* As Prometheus asks, with and without the storage for exemplars, and as others do. */
static void formats_are_those_asked_for(void **state)
{
	static const struct {
		const char *accept;
		bool is_open;
	} requests[] = {
		{ "application/openmetrics-text;version=1.0.0,application/"
		  "openmetrics-text;version=0.0.1;q=0.75,"
		  "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		  true },
		{ "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", false },
		{ "text/html", false },
	};
	struct sockaddr_in address;
	struct metrics_server *server = open_server(&address);

	(void)state;
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		char request[512];
		int fd;

		snprintf(request, sizeof(request), "GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: %s\r\n\r\n",
			 requests[i].accept);
		fd = connect_from(1, &address, request);
		if (requests[i].is_open)
			expect_this_page(server, fd, OPEN_PAGE,
					 "Content-Type: application/openmetrics-text; version=1.0.0;");
		else
			expect_page(server, fd);
		close(fd);
	}
	metrics_server_close(server);
}

static void who_asks_is_answered(uint32_t slow, uint32_t good, size_t first_cnt)
{
	struct sockaddr_in address;
	struct metrics_server *server = open_server(&address);
	int fds[SLOW_CNT], asking;

	for (size_t i = 0; i < first_cnt; i++)
		fds[i] = connect_from(slow, &address, "GET /met");
	asking = connect_from(good, &address, REQUEST);
	for (size_t i = first_cnt; i < SLOW_CNT; i++)
		fds[i] = connect_from(slow, &address, "GET /met");
	expect_page(server, asking);
	close(asking);
	for (size_t i = 0; i < SLOW_CNT; i++)
		close(fds[i]);
	metrics_server_close(server);
}

static void half_requests_keep_nobody_out(void **state)
{
	(void)state;
	who_asks_is_answered(1, 1, SLOW_CNT);
}

static void nor_those_of_another_address(void **state)
{
	(void)state;
	who_asks_is_answered(2, 1, SLOW_CNT);
}

static void nor_those_that_come_with_it(void **state)
{
	(void)state;
	who_asks_is_answered(2, 1, 20);
	who_asks_is_answered(1, 1, 50);
}

/* A slow client with one connection is not disconnected for those of somebody with many. */
static void one_of_many_goes_first(void **state)
{
	static const char rest[] = "rics HTTP/1.1\r\nHost: a\r\n\r\n";
	struct sockaddr_in address;
	struct metrics_server *server = open_server(&address);
	int fds[SLOW_CNT], slow = connect_from(1, &address, "GET /met");

	(void)state;
	for (size_t i = 0; i < SLOW_CNT; i++)
		fds[i] = connect_from(2, &address, "GET /met");
	assert_int_equal(send(slow, rest, strlen(rest), MSG_NOSIGNAL), strlen(rest));
	expect_page(server, slow);
	close(slow);
	for (size_t i = 0; i < SLOW_CNT; i++)
		close(fds[i]);
	metrics_server_close(server);
}

/* The last one that comes is one of them. When it is answered, all have come. */
static void they_are_no_more_than_that(void **state)
{
	struct sockaddr_in address;
	struct metrics_server *server = open_server(&address);
	int fds[SLOW_CNT], asking;
	size_t open_cnt = 0;

	(void)state;
	for (size_t i = 0; i < SLOW_CNT; i++)
		fds[i] = connect_from(1, &address, "GET /met");
	asking = connect_from(1, &address, REQUEST);
	expect_page(server, asking);
	for (size_t i = 0; i < SLOW_CNT; i++) {
		char byte;

		open_cnt += recv(fds[i], &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
		close(fds[i]);
	}
	assert_int_equal(open_cnt, METRICS_CLIENT_MAX - 1);
	close(asking);
	metrics_server_close(server);
}

/* More than a socket holds at once. */
static void write_large_page(void *context, enum metrics_format format, struct text *text)
{
	(void)format;
	(void)context;
	for (int i = 0; i < LARGE_LINES; i++)
		text_append(text, "a line of a page that is one of very many lines\n");
	text_append(text, PAGE);
}

static void large_pages_come_whole(void **state)
{
	struct sockaddr_in address;
	struct metrics_server *server = open_server_of(&address, write_large_page);
	int fd = connect_from(1, &address, REQUEST);
	struct pollfd ready[] = { { .fd = metrics_server_fd(server), .events = POLLIN },
				  { .fd = fd, .events = POLLIN } };
	struct text expected = { 0 }, got = { 0 };

	(void)state;
	write_large_page(NULL, METRICS_TEXT, &expected);
	while (!strstr(text_string(&got) + (got.length > 100 ? got.length - 100 : 0), PAGE)) {
		char bytes[65536];
		ssize_t size;

		assert_true(poll(ready, 2, 600000) > 0);
		metrics_server_run(server);
		size = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		assert_true(size > 0 || (size < 0 && errno == EAGAIN));
		if (size > 0)
			text_append_bytes(&got, bytes, (size_t)size);
	}
	assert_true(got.length > expected.length);
	assert_string_equal(text_string(&got) + (got.length - expected.length), text_string(&expected));
	close(fd);
	text_release(&got);
	text_release(&expected);
	metrics_server_close(server);
}

/* Of those that have this name, the youngest: others may have ended just now. */
static pid_t process_of(const char *name)
{
	char path[64], line[256] = "";
	FILE *children;
	pid_t pid = 0, found = 0;
	int at;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	children = fopen(path, "re");
	if (!children || !fgets(line, sizeof(line), children))
		line[0] = '\0';
	if (children)
		fclose(children);
	for (const char *rest = line; sscanf(rest, "%d%n", &pid, &at) == 1; rest += at) {
		char comm[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
		file = fopen(path, "re");
		if (file && fgets(comm, sizeof(comm), file))
			comm[strcspn(comm, "\n")] = '\0';
		if (file)
			fclose(file);
		if (strcmp(comm, name) == 0)
			found = pid;
	}
	return found;
}

/* Whatever happens to the process, we do not wait for it; once it has gone we know. */
static void a_killed_process_is_noticed(void **state)
{
	struct sockaddr_in address;
	struct metrics_server *server = open_server_of(&address, write_large_page);
	struct pollfd ready = { .fd = metrics_server_fd(server), .events = POLLIN };
	pid_t pid = process_of("txtrace-metrics");
	int fd = connect_from(1, &address, REQUEST);

	(void)state;
	assert_true(pid > 0);
	assert_int_equal(poll(&ready, 1, 600000), 1); /* it has asked for the page */
	assert_int_equal(kill(pid, SIGSTOP), 0);
	for (int i = 0; i < 10; i++)
		metrics_server_run(server); /* sends what there is room for */
	assert_false(metrics_server_is_gone(server));
	assert_int_equal(kill(pid, SIGKILL), 0);
	while (!metrics_server_is_gone(server)) {
		assert_int_equal(poll(&ready, 1, 600000), 1);
		metrics_server_run(server);
	}
	assert_int_equal(metrics_server_fd(server), -1);
	metrics_server_run(server); /* nothing */
	close(fd);
	metrics_server_close(server);
}

static void a_port_that_is_taken_is_said(void **state)
{
	struct sockaddr_in address;
	struct metrics_server *server = open_server(&address), *second = NULL;
	struct error error = { "" };
	char text[64], sentence[128];

	(void)state;
	snprintf(text, sizeof(text), "127.0.0.1:%u", ntohs(address.sin_port));
	snprintf(sentence, sizeof(sentence), "cannot serve metrics at '%s': Address already in use", text);
	assert_int_equal(metrics_server_open(&second,
					     &(struct metrics_server_options){ .address = text,
									       .page = write_page },
					     &error),
			 -EADDRINUSE);
	assert_string_equal(error.text, sentence);
	metrics_server_close(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_are_those_asked_for),
		cmocka_unit_test(half_requests_keep_nobody_out),
		cmocka_unit_test(nor_those_of_another_address),
		cmocka_unit_test(nor_those_that_come_with_it),
		cmocka_unit_test(one_of_many_goes_first),
		cmocka_unit_test(they_are_no_more_than_that),
		cmocka_unit_test(large_pages_come_whole),
		cmocka_unit_test(a_killed_process_is_noticed),
		cmocka_unit_test(a_port_that_is_taken_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
