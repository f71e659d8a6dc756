/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a command prints as text, as a page of HTML or as Markdown: its lines
 * become paragraphs, and its tables become tables.
 *
 *	err = document_begin(cli, DOCUMENT_HTML);
 *	print(cli);                                 to cli->out, as for a terminal
 *	err = document_end(cli, "txtrace report");
 */
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include "cli/cli.h"

enum document_kind {
	DOCUMENT_HTML = 0,
	DOCUMENT_MARKDOWN = 1,
};

/* 0 or -ENOMEM: then all stays as it was. */
int document_begin(struct cli *cli, enum document_kind kind);

/*
 * Writes it to where the output went before. title: our words. 0 or -ENOMEM;
 * write errors stay in the file.
 */
int document_end(struct cli *cli, const char *title);

#endif
