/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a text that says which objects Sui's transactions take: it is
 * refused with a sentence, or each transaction in it has objects with names.
 */
#include <errno.h>

#include "fuzz/fuzz_laws.h"
#include "import/sui_lanes.h"

static void law_of_lanes(struct sui_lanes *lanes, const uint8_t digest[SUI_DIGEST_BYTES])
{
	size_t cnt;
	const uint32_t *objects = sui_lanes_of(lanes, digest, &cnt);

	LAW((objects != NULL) == (cnt > 0));
	for (size_t i = 0; i < cnt; i++) {
		struct txtrace_string name = sui_lanes_name(lanes, objects[i]);

		LAW(name.length > 0 && name.length <= 255 && !memchr(name.bytes, ' ', name.length));
		LAW(*sui_lanes_executing(lanes, objects[i]) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;
	uint8_t digest[SUI_DIGEST_BYTES] = { 0 };
	struct error error = { "" };
	struct sui_lanes *lanes = NULL;
	int err = sui_lanes_read(&lanes, fuzz_file_set(&file, data, size), &error);

	LAW(err == 0 || err == -EINVAL);
	LAW((err == 0) == (error.text[0] == '\0') && (err == 0) == (lanes != NULL));
	if (lanes) {
		law_of_lanes(lanes, digest);
		memset(digest, 1, sizeof(digest));
		law_of_lanes(lanes, digest);
	}
	sui_lanes_free(lanes);
	return 0;
}
