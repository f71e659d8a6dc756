/* SPDX-License-Identifier: BSD-2-Clause */
/* The vectors of FIPS 180-4 and RFC 4231. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256.h"

static void assert_hex(const uint8_t digest[SHA256_BYTES], const char *expected)
{
	char hex[2 * SHA256_BYTES + 1];

	for (unsigned int i = 0; i < SHA256_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	assert_string_equal(hex, expected);
}

static void digests_of_the_standard(void **state)
{
	static const struct {
		const char *message;
		const char *digest;
	} vectors[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
		{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlm"
		  "nopqrsmnopqrstnopqrstu",
		  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
	};
	uint8_t digest[SHA256_BYTES];
	struct sha256 sha256;

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		sha256_init(&sha256);
		sha256_update(&sha256, vectors[i].message, strlen(vectors[i].message));
		sha256_final(&sha256, digest);
		assert_hex(digest, vectors[i].digest);
	}
}

/* A million times "a", in pieces that end everywhere in a block. */
static void a_million_in_pieces(void **state)
{
	uint8_t digest[SHA256_BYTES];
	struct sha256 sha256;
	char piece[257];
	size_t left = 1000000;

	(void)state;
	memset(piece, 'a', sizeof(piece));
	sha256_init(&sha256);
	for (size_t size = 1; left > 0; size = size % sizeof(piece) + 1) {
		size_t part = size < left ? size : left;

		sha256_update(&sha256, piece, part);
		left -= part;
	}
	sha256_final(&sha256, digest);
	assert_hex(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void codes_of_the_rfc(void **state)
{
	uint8_t digest[SHA256_BYTES], key[131], data[50];
	struct hmac_sha256 hmac;

	(void)state;
	memset(key, 0x0b, sizeof(key));
	hmac_sha256_init(&hmac, key, 20);
	hmac_sha256(&hmac, "Hi There", 8, digest);
	assert_hex(digest, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");

	hmac_sha256_init(&hmac, "Jefe", 4);
	hmac_sha256(&hmac, "what do ya want for nothing?", 28, digest);
	assert_hex(digest, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");

	memset(key, 0xaa, sizeof(key));
	memset(data, 0xdd, sizeof(data));
	hmac_sha256_init(&hmac, key, 20);
	hmac_sha256(&hmac, data, sizeof(data), digest);
	assert_hex(digest, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");

	hmac_sha256_init(&hmac, key, 131);
	hmac_sha256(&hmac, "Test Using Larger Than Block-Size Key - Hash Key First", 54, digest);
	assert_hex(digest, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
	hmac_sha256(&hmac,
		    "This is a test using a larger than block-size key and a larger than block-size data. "
		    "The key needs to be hashed before "
		    "being used by the HMAC algorithm.",
		    152, digest);
	assert_hex(digest, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests_of_the_standard),
		cmocka_unit_test(a_million_in_pieces),
		cmocka_unit_test(codes_of_the_rfc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
