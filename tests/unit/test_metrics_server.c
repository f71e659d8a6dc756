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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/metrics_clients.h"
#include "record/metrics_server.h"

#define PAGE "a_figure 1\n"
#define SLOW_CNT 60

static void write_page(void *context, struct text *text)
{
	(void)context;
	text_append(text, PAGE);
}

/* At a port that is free now; tried again should another one take it. */
static struct metrics_server *open_server(struct sockaddr_in *address)
{
	struct metrics_server *server = NULL;
	struct error error = { "" };

	for (int i = 0; i < 20 && !server; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		socklen_t length = sizeof(*address);
		char text[64];

		*address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		assert_int_equal(bind(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
		assert_int_equal(getsockname(fd, (struct sockaddr *)address, &length), 0);
		close(fd);
		snprintf(text, sizeof(text), "127.0.0.1:%u", ntohs(address->sin_port));
		metrics_server_open(&server, text, write_page, NULL, &error);
	}
	assert_non_null(server);
	return server;
}

static void run_server(struct metrics_server *server)
{
	struct pollfd ready = { .fd = metrics_server_fd(server), .events = POLLIN };

	poll(&ready, 1, 10);
	metrics_server_run(server);
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

static void expect_page(struct metrics_server *server, int fd)
{
	char answer[1024] = "";
	size_t length = 0;

	for (int i = 0; i < 1000 && !strstr(answer, PAGE); i++) {
		ssize_t got;

		run_server(server);
		got = recv(fd, answer + length, sizeof(answer) - 1 - length, MSG_DONTWAIT);
		assert_true(got > 0 || (got < 0 && errno == EAGAIN)); /* neither reset nor closed */
		length += got > 0 ? (size_t)got : 0;
		answer[length] = '\0';
	}
	assert_non_null(strstr(answer, "200 OK"));
	assert_non_null(strstr(answer, PAGE));
}

static void who_asks_is_answered(uint32_t slow, uint32_t good, size_t first_cnt)
{
	struct sockaddr_in address;
	struct metrics_server *server = open_server(&address);
	int fds[SLOW_CNT], asking;

	for (size_t i = 0; i < first_cnt; i++) {
		fds[i] = connect_from(slow, &address, "GET /met");
		run_server(server);
	}
	asking = connect_from(good, &address, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
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
	for (size_t i = 0; i < SLOW_CNT; i++) {
		fds[i] = connect_from(2, &address, "GET /met");
		run_server(server);
	}
	assert_int_equal(send(slow, rest, strlen(rest), MSG_NOSIGNAL), strlen(rest));
	expect_page(server, slow);
	close(slow);
	for (size_t i = 0; i < SLOW_CNT; i++)
		close(fds[i]);
	metrics_server_close(server);
}

static void they_are_no_more_than_that(void **state)
{
	struct sockaddr_in address;
	struct metrics_server *server = open_server(&address);
	int fds[SLOW_CNT];
	size_t open_cnt = 0;

	(void)state;
	for (size_t i = 0; i < SLOW_CNT; i++) {
		fds[i] = connect_from(1, &address, "GET /met");
		run_server(server);
	}
	for (int i = 0; i < 20; i++)
		run_server(server);
	for (size_t i = 0; i < SLOW_CNT; i++) {
		char byte;

		open_cnt += recv(fds[i], &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
		close(fds[i]);
	}
	assert_int_equal(open_cnt, METRICS_CLIENT_MAX);
	metrics_server_close(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_requests_keep_nobody_out),
		cmocka_unit_test(nor_those_of_another_address),
		cmocka_unit_test(nor_those_that_come_with_it),
		cmocka_unit_test(one_of_many_goes_first),
		cmocka_unit_test(they_are_no_more_than_that),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
