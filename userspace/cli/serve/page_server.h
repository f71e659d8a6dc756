/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages for the user's own browser: an HTTP server on the loopback address. A
 * log may hold secrets, and others may have accounts on the machine: all
 * addresses begin with a random word, which only the output of the command
 * tells. Requests that name another host are refused, so that no web page can
 * reach it by a name of its own. One request is answered after the other.
 *
 *	status = page_server_run(cli, "127.0.0.1:8080", &site);     until SIGINT, SIGTERM or SIGHUP
 */
#ifndef PAGE_SERVER_H
#define PAGE_SERVER_H

#include <stddef.h>

#include "cli/cli.h"

struct page_request;

/* What is asked behind the `?`; NULL: it is not there. Until the answer. */
const char *page_request_value(const struct page_request *request, const char *name);

struct page_reply {
	const char *type; /* "text/html; charset=utf-8" */
	char *bytes;	  /* from malloc; the server's */
	size_t length;
	int fd; /* instead of bytes, if it is not 0: so many bytes of a file; stays the site's */
};

struct page_site {
	const char *what; /* "the page": for messages */
	/*
	 * path: behind the random word and a slash. 0; -ENOENT: there is no such page; other errors go to the
	 * browser.
	 */
	int (*answer)(void *context, const char *path, const struct page_request *request,
		      struct page_reply *reply);
	/* It listens: the address of the first page. May be NULL. */
	void (*started)(void *context, const char *address);
	void *context;
};

/*
 * address: "127.0.0.1:PORT", "[::1]:PORT" or "PORT"; port 0: any. Returns enum
 * cli_status; a sentence was said if it is not CLI_OK.
 */
int page_server_run(struct cli *cli, const char *address, const struct page_site *site);

#endif
