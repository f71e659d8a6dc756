/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pseudonyms: what stands for a string of which nobody may know what it was.
 * The same string has the same one wherever it stands, in every log that is
 * made with the same salt; without the salt nobody can find out whether a guess
 * is right (HMAC-SHA-256, of which 60 bits are kept: among a million strings
 * two have the same pseudonym once in two million times).
 */
#ifndef PSEUDONYM_H
#define PSEUDONYM_H

#include "base/text.h"
#include "txtrace/log.h"

#define PSEUDONYM_LENGTH 12 /* letters and the digits 2 to 7 */
#define PSEUDONYM_TEXT_MAX (1 << 20) /* the longest string that a log can hold */

struct pseudonyms;

struct pseudonyms *pseudonyms_new(const void *salt, size_t length); /* NULL: no memory */
void pseudonyms_free(struct pseudonyms *pseudonyms);

/* Nothing for an empty string. */
void pseudonym_append(struct pseudonyms *pseudonyms, struct text *text, const char *bytes, size_t length);

/*
 * A tag, by convention key=value,key=value: commas and the first = between two
 * of them stay, what stands between them is replaced. A result longer than
 * PSEUDONYM_TEXT_MAX ends at the last comma that fits.
 */
void pseudonym_append_tag(struct pseudonyms *pseudonyms, struct text *text, const char *bytes, size_t length);

/* 16 bytes for 16 bytes; all zero, which is "unknown", stays. */
void pseudonym_of_id(const struct pseudonyms *pseudonyms, uint8_t id[16]);

#endif
