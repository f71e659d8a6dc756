/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When the flight recorder writes what it has: on the first span for which a
 * rule holds, or on request; --trigger-after later. What triggers meanwhile
 * leads to the same file. Time comes from outside.
 */
#ifndef FLIGHT_RECORDER_H
#define FLIGHT_RECORDER_H

#include "record/flight/flight_rules.h"

struct flight_recorder;

/* the caller's; NULL: no memory */
struct flight_recorder *flight_recorder_new(const struct flight_rules *rules);
void flight_recorder_free(struct flight_recorder *flight);                     /* NULL is allowed */

/* A span is written. */
void flight_recorder_see(struct flight_recorder *flight, const struct txtrace_span *span);

/* Somebody asks for a file. */
void flight_recorder_request(struct flight_recorder *flight, uint64_t now_ns);

/* The recording ends: whether what is left is to be written. */
bool flight_recorder_end(struct flight_recorder *flight, uint64_t now_ns);

/* Whether the time has come; lag_ns: how far what is attributed may be behind the clock. */
bool flight_recorder_is_due(const struct flight_recorder *flight, uint64_t now_ns, uint64_t lag_ns);

/* The record that says why, for the file that is written now; its strings live until the next call. */
void flight_recorder_take(struct flight_recorder *flight, struct txtrace_record *record);

/* Triggers that led to no file, as there had been too many. */
uint64_t flight_recorder_missed_cnt(const struct flight_recorder *flight);

#endif
