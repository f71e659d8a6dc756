/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as an ELF file with probes, and with a variable of each thread: what is found in it lies in it.
 */
#include <errno.h>

#include "attach/elf/elf_notes.h"
#include "attach/elf/elf_request.h"
#include "attach/elf/elf_tls.h"
#include "fuzz/fuzz.h"

static void look_for_variable(int fd)
{
	struct elf_tls tls;
	int err = elf_tls_read(&tls, fd, ELF_CONTEXT_NAME, ELF_CONTEXT_BYTES);

	LAW(err == 0 || err == -ENOEXEC || err == -EBADMSG);
	LAW(err || tls.way == ELF_TLS_NONE ||
	    (tls.way < ELF_TLS_WAY_COUNT && tls.value < tls.bytes && !(tls.align & (tls.align - 1))));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;
	struct elf_notes notes;
	size_t bytes = 0;
	int err;

	fuzz_file_set(&file, data, size);
	look_for_variable(file.fd);
	err = elf_notes_read(&notes, file.fd);
	LAW(err == 0 || err == -ENOEXEC || err == -EBADMSG);
	if (err)
		return 0;
	LAW(notes.cnt <= ELF_NOTE_MAX);
	for (size_t i = 0; i < notes.cnt; i++) {
		const struct elf_note *note = &notes.notes[i];

		bytes += strlen(note->provider) + strlen(note->name) + strlen(note->args) + 3;
		LAW(note->provider[0] && note->name[0]);
		LAW(note->offset > 0 && note->offset < size && note->semaphore_offset < size - 1);
	}
	LAW(bytes <= size);
	elf_notes_release(&notes);
	return 0;
}
