/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sui's transaction trace: the numbers of the format, and how a log holds it,
 * for the import and the export.
 *
 * A transaction is a keyed span "transaction", whose key is the digest. An
 * OPEN_SPAN record comes at its first event, so that the key is known before the
 * span's own record. Each event is an instant of that span, named by its stage.
 *
 * Each batch is an instant without a span, before its events in time and in the
 * log: "batch NUMBER EVENTS", its number in the file and how many events it has.
 * Batches may overlap in time. So those of one have a tid of their own, from
 * SUI_LANE_TID on; it is used again when all of them have come. Events of
 * SUI_TID belong to no batch that is known.
 *
 * Where it is known which objects a transaction takes, each execution has a
 * span "object" for each of them, of the thread SUI_OBJECT_TID, on the track
 * that is called as the object; a counter of that name and thread is how many
 * execute with the object.
 *
 * Each file is an instant "file NUMBER BATCH" in front of its first batch,
 * whose number BATCH is.
 *
 * The instant's time is the batch's absolute time if the batch is as Sui's
 * writer makes it of these events. Else all its records follow in the name, a
 * word for each: aSECONDS.NANOS an absolute time, dMICROSECONDS a delta,
 * lSECONDS.NANOS a large delta, e an event; and in front of them cNANOSECONDS,
 * what their clock says before. Nanoseconds are a number, not a fraction.
 */
#ifndef SUI_MARKS_H
#define SUI_MARKS_H

#define SUI_DIGEST_BYTES 32
#define SUI_DELTA_US_MAX 65535u		/* of a delta; what is longer is a large delta */
#define SUI_BATCH_BYTES_MAX (64u << 20) /* a longer payload is neither read nor written; Sui's: 0.3 MiB */

enum sui_record_kind { /* the variant of a record */
		       SUI_ABSOLUTE = 0,
		       SUI_DELTA = 1,
		       SUI_LARGE_DELTA = 2,
		       SUI_EVENT = 3,
};

/* Numbered as in files with four event types; those with two have the last two, as 0 and 1. */
enum sui_stage {
	SUI_ENQUEUED = 0,
	SUI_SCHEDULED = 1,
	SUI_BEGIN = 2,
	SUI_COMPLETE = 3,
	SUI_STAGE_CNT = 4,
};

#define SUI_PID 1 /* the format has neither pid nor tid */
#define SUI_TID 1
#define SUI_LANE_TID 2
#define SUI_LANE_CNT 64	     /* batches that can overlap */
#define SUI_OBJECT_TID (SUI_LANE_TID + SUI_LANE_CNT)
#define SUI_OBJECT_THREAD "objects"
#define SUI_OBJECT "object"
#define SUI_FILE "file"
#define SUI_THREAD "unknown" /* SUI_TID: whatever thread executes */
#define SUI_LANE_THREAD "batches"
#define SUI_BATCH "batch"
#define SUI_EXECUTING "executing" /* a counter: executions that have begun and are not complete */
#define SUI_TRANSACTION "transaction"
#define SUI_EXECUTION "execution"
#define SUI_WAIT_FOR_INPUTS "waiting for inputs"
#define SUI_WAIT_FOR_EXECUTOR "waiting for an executor"

/* The name of its instant. Static. */
static inline const char *sui_stage_name(enum sui_stage stage)
{
	static const char *const names[SUI_STAGE_CNT] = { "enqueued", "scheduled", "execution begin",
							  "execution complete" };

	return names[stage];
}

#endif
