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
