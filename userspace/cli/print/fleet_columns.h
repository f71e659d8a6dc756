/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of what `txtrace fleet` prints. */
#ifndef FLEET_COLUMNS_H
#define FLEET_COLUMNS_H

#include "cli/print/column.h"

extern const struct column fleet_report_columns[]; /* of a struct fleet_report_row */
extern const struct column fleet_span_columns[];   /* of a struct fleet_span */
extern const struct column fleet_diff_columns[];   /* of a struct fleet_diff_row */

#endif
