/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/analysis_frame.h"

#include "cli/files/capture_info.h"

void analysis_print_title(struct cli *cli, const struct log_input *input)
{
	struct text title = { 0 };

	capture_append_title(&title, &input->info, &input->census);
	fprintf(cli->out.file, "%s\n\n", text_string(&title));
	text_release(&title);
}

int analysis_print_losses(struct cli *cli, const struct log_input *input)
{
	static const struct table_column columns[] = { { NULL, TABLE_LEFT, NULL },
						       { NULL, TABLE_LEFT, NULL } };
	struct table *table = table_new(columns, 2);
	int err;

	capture_add_losses(table, &input->census);
	err = screen_print_table(&cli->out, table);
	table_free(table);
	return err;
}
