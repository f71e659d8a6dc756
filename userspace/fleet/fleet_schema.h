/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables on a server: they are made once, and have a version, which is
 * compared before anything is sent or asked.
 */
#ifndef FLEET_SCHEMA_H
#define FLEET_SCHEMA_H

#include "fleet/clickhouse.h"

/*
 * Makes what is not there yet. cluster: of the server's configuration; then the
 * rows are in tables NAME_local, and NAME is a Distributed table over those of
 * all its servers; to be called for each of them. NULL: a server on its own. 0,
 * or a negative errno and a sentence, as those of clickhouse.h.
 */
int fleet_schema_create(struct clickhouse *server, const char *cluster, struct error *error);

/* -EPROTONOSUPPORT: the tables are of another version. */
int fleet_schema_check(struct clickhouse *server, struct error *error);

#endif
