/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104). Small rather than fast: some 200 MB/s. */
#ifndef SHA256_H
#define SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32
#define SHA256_BLOCK_BYTES 64

struct sha256 {
	uint32_t state[8];
	uint64_t length;                   /* bytes so far */
	uint8_t block[SHA256_BLOCK_BYTES]; /* what of them is no whole block yet */
};

void sha256_init(struct sha256 *sha256);
void sha256_update(struct sha256 *sha256, const void *bytes, size_t length);
void sha256_final(struct sha256 *sha256, uint8_t digest[SHA256_BYTES]);

/* A key, ready for any number of messages. */
struct hmac_sha256 {
	struct sha256 inner;
	struct sha256 outer;
};

void hmac_sha256_init(struct hmac_sha256 *hmac, const void *key, size_t length);
void hmac_sha256(const struct hmac_sha256 *hmac, const void *bytes, size_t length,
		 uint8_t digest[SHA256_BYTES]);

#endif
