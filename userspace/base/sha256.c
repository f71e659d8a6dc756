/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/sha256.h"

#include <string.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t word, unsigned int by)
{
	return word >> by | word << (32 - by);
}

static uint32_t get_word(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void put_word(uint8_t *bytes, uint32_t word)
{
	for (unsigned int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(word >> (24 - 8 * i));
}

static void compress(uint32_t state[8], const uint8_t *block)
{
	uint32_t w[64], v[8];

	for (unsigned int i = 0; i < 16; i++)
		w[i] = get_word(block + 4 * i);
	for (unsigned int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
		       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
	memcpy(v, state, sizeof(v));
	for (unsigned int i = 0; i < 64; i++) {
		uint32_t t1 = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) +
			      ((v[4] & v[5]) ^ (~v[4] & v[6])) + round_constants[i] + w[i];
		uint32_t t2 = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) +
			      ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (unsigned int i = 0; i < 8; i++)
		state[i] += v[i];
}

void sha256_init(struct sha256 *sha256)
{
	/* The first 32 bits of the fractional parts of the square roots of the first 8 primes. */
	static const uint32_t start[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memset(sha256, 0, sizeof(*sha256));
	memcpy(sha256->state, start, sizeof(start));
}

void sha256_update(struct sha256 *sha256, const void *bytes, size_t length)
{
	const uint8_t *from = bytes;

	while (length > 0) {
		size_t used = sha256->length % SHA256_BLOCK_BYTES, part = SHA256_BLOCK_BYTES - used;

		part = part < length ? part : length;
		memcpy(sha256->block + used, from, part);
		sha256->length += part;
		from += part;
		length -= part;
		if (used + part == SHA256_BLOCK_BYTES)
			compress(sha256->state, sha256->block);
	}
}

void sha256_final(struct sha256 *sha256, uint8_t digest[SHA256_BYTES])
{
	static const uint8_t padding[SHA256_BLOCK_BYTES] = { 0x80 };
	uint64_t bits = sha256->length * 8;
	size_t used = sha256->length % SHA256_BLOCK_BYTES;
	uint8_t end[8];

	sha256_update(sha256, padding,
		      (used < SHA256_BLOCK_BYTES - 8 ? SHA256_BLOCK_BYTES : 2 * SHA256_BLOCK_BYTES) - 8 -
			      used);
	put_word(end, (uint32_t)(bits >> 32));
	put_word(end + 4, (uint32_t)bits);
	sha256_update(sha256, end, sizeof(end));
	for (unsigned int i = 0; i < 8; i++)
		put_word(digest + 4 * i, sha256->state[i]);
}

static void start_with(struct sha256 *sha256, const uint8_t key[SHA256_BLOCK_BYTES], uint8_t mask)
{
	uint8_t block[SHA256_BLOCK_BYTES];

	for (unsigned int i = 0; i < SHA256_BLOCK_BYTES; i++)
		block[i] = key[i] ^ mask;
	sha256_init(sha256);
	sha256_update(sha256, block, sizeof(block));
}

void hmac_sha256_init(struct hmac_sha256 *hmac, const void *key, size_t length)
{
	uint8_t block[SHA256_BLOCK_BYTES] = { 0 };

	if (length > sizeof(block)) {
		sha256_init(&hmac->inner);
		sha256_update(&hmac->inner, key, length);
		sha256_final(&hmac->inner, block);
	} else if (length > 0) {
		memcpy(block, key, length);
	}
	start_with(&hmac->inner, block, 0x36);
	start_with(&hmac->outer, block, 0x5c);
}

void hmac_sha256(const struct hmac_sha256 *hmac, const void *bytes, size_t length,
		 uint8_t digest[SHA256_BYTES])
{
	struct sha256 sha256 = hmac->inner;

	sha256_update(&sha256, bytes, length);
	sha256_final(&sha256, digest);
	sha256 = hmac->outer;
	sha256_update(&sha256, digest, SHA256_BYTES);
	sha256_final(&sha256, digest);
}
