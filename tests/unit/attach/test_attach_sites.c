/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of an object's notes are probed and at which of their nops; what others have; what a kernel lacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/version.h>
#include <unistd.h>

#include "attach/probes/kernel_features.h"
#include "attach/probes/probe_sites.h"
#include "unit/elf_image.h"

/* nop; nop5; nop10; ret */
#define SITE "\x90\x0f\x1f\x44\x00\x00\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00\xc3"

struct site_file {
	struct elf_image image;
	struct elf_notes notes;
	int fd;
};

static void add_note(struct site_file *file, uint64_t offset, const char *provider, const char *name)
{
	char strings[128] = "";
	size_t provider_size = strlen(provider) + 1, name_size = strlen(name) + 1;

	memcpy(strings, provider, provider_size);
	memcpy(strings + provider_size, name, name_size);
	elf_image_add_note(&file->image, ELF_TEXT_ADDRESS + offset, ELF_BASE_ADDRESS, ELF_DATA_ADDRESS,
			   strings, provider_size + name_size + 1);
}

static void add_site(struct site_file *file, uint64_t offset, const char *name)
{
	memcpy(file->image.bytes + ELF_TEXT_OFFSET + offset, SITE, sizeof(SITE) - 1);
	add_note(file, offset, "txtrace", name);
}

static void finish(struct site_file *file)
{
	file->fd = elf_image_file(&file->image, sizeof(file->image));
	assert_int_equal(elf_notes_read(&file->notes, file->fd), 0);
}

static void release(struct site_file *file)
{
	elf_notes_release(&file->notes);
	close(file->fd);
}

static void the_fastest_nop_of_the_kernel_is_chosen(void **state)
{
	static const struct {
		enum fast_nop nop;
		uint64_t offset;
	} cases[] = { { FAST_NOP_NONE, 0 }, { FAST_NOP_5, 1 }, { FAST_NOP_10, 6 } };
	struct site_file file;
	struct probe_sites sites;

	(void)state;
	elf_image_init(&file.image);
	add_site(&file, 0x40, "end");
	add_site(&file, 0x20, "begin");
	finish(&file);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(probe_sites_find(&sites, &file.notes, file.fd, cases[i].nop), 0);
		assert_int_equal(sites.cnt, 2);
		assert_int_equal(sites.skipped_cnt, 0);
		assert_string_equal(sites.sites[0].probe, "begin");
		assert_int_equal(sites.sites[0].offset, ELF_TEXT_OFFSET + 0x20);
		assert_int_equal(sites.sites[0].fast_offset, ELF_TEXT_OFFSET + 0x20 + cases[i].offset);
		assert_int_equal(sites.sites[0].semaphore_offset, ELF_DATA_OFFSET);
		assert_string_equal(sites.sites[1].probe, "end");
		assert_int_equal(sites.sites[1].fast_offset, ELF_TEXT_OFFSET + 0x40 + cases[i].offset);
		probe_sites_release(&sites);
	}
	release(&file);
}

/*
 * A site that has another byte anywhere is not probed behind its first nop, and not at all where there is no
 * nop.
 */
static void every_byte_of_a_site_counts(void **state)
{
	(void)state;
	for (size_t at = 0; at < sizeof(SITE) - 1; at++) {
		struct site_file file;
		struct probe_sites sites;

		elf_image_init(&file.image);
		add_site(&file, 0x20, "begin");
		file.image.bytes[ELF_TEXT_OFFSET + 0x20 + at] ^= 0x01;
		finish(&file);
		assert_int_equal(probe_sites_find(&sites, &file.notes, file.fd, FAST_NOP_10), 0);
		assert_int_equal(sites.cnt, at == 0 ? 0 : 1);
		assert_int_equal(sites.skipped_cnt, at == 0 ? 1 : 0);
		if (at > 0)
			assert_int_equal(sites.sites[0].fast_offset, sites.sites[0].offset);
		probe_sites_release(&sites);
		release(&file);
	}
}

static void aarch64_has_one_nop(void **state)
{
	struct site_file file;
	struct probe_sites sites;

	(void)state;
	elf_image_init(&file.image);
	file.image.header.e_machine = EM_AARCH64;
	memcpy(file.image.bytes + ELF_TEXT_OFFSET + 0x20, "\x1f\x20\x03\xd5\xc0\x03\x5f\xd6", 8);
	add_note(&file, 0x20, "txtrace", "begin");
	add_note(&file, 0x24, "txtrace", "end"); /* ret */
	finish(&file);
	assert_int_equal(probe_sites_find(&sites, &file.notes, file.fd, FAST_NOP_NONE), 0);
	assert_int_equal(sites.cnt, 1);
	assert_int_equal(sites.skipped_cnt, 1);
	assert_int_equal(sites.sites[0].fast_offset, ELF_TEXT_OFFSET + 0x20);
	probe_sites_release(&sites);
	release(&file);
}

static void two_notes_about_one_site_are_one_site(void **state)
{
	struct site_file file;
	struct probe_sites sites;

	(void)state;
	elf_image_init(&file.image);
	add_site(&file, 0x20, "begin");
	add_site(&file, 0x60, "begin"); /* a second copy, in an object that was linked in a strange way */
	add_site(&file, 0x20, "begin");
	finish(&file);
	assert_int_equal(probe_sites_find(&sites, &file.notes, file.fd, FAST_NOP_NONE), 0);
	assert_int_equal(sites.cnt, 2);
	assert_int_equal(sites.sites[0].offset, ELF_TEXT_OFFSET + 0x20);
	assert_int_equal(sites.sites[1].offset, ELF_TEXT_OFFSET + 0x60);
	probe_sites_release(&sites);
	release(&file);
}

static void probes_of_others_are_counted_not_probed(void **state)
{
	struct probe_providers providers = { 0 };
	struct probe_sites sites;
	struct site_file file;
	char text[256];

	(void)state;
	elf_image_init(&file.image);
	add_note(&file, 0x10, "postgresql", "transaction__start");
	add_note(&file, 0x18, "postgresql", "transaction__start"); /* another site of the same probe */
	add_note(&file, 0x11, "postgresql", "transaction__commit");
	add_site(&file, 0x20, "begin");
	add_site(&file, 0x40, "a_probe_of_a_later_version");
	add_note(&file, 0x12, "libc", "setjmp");
	add_note(&file, 0x20, "txtracer", "begin");
	finish(&file);
	probe_providers_text(&providers, text, sizeof(text));
	assert_string_equal(text, "");
	assert_int_equal(probe_sites_find(&sites, &file.notes, file.fd, FAST_NOP_NONE), 0);
	assert_int_equal(sites.cnt, 1);
	assert_int_equal(sites.skipped_cnt, 1);
	assert_int_equal(probe_providers_add(&providers, &file.notes), 0);
	probe_providers_text(&providers, text, sizeof(text));
	assert_string_equal(text, "libc (1 probe), postgresql (2 probes), txtracer (1 probe)");
	probe_providers_text(&providers, text, 20);
	assert_string_equal(text, "libc (1 probe), pos");
	probe_sites_release(&sites);
	release(&file);
}

static void many_providers_are_summed_up(void **state)
{
	struct probe_providers providers = { 0 };
	struct site_file file;
	char text[512];

	(void)state;
	elf_image_init(&file.image);
	for (int i = 0; i < PROBE_PROVIDER_MAX + 5; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%d", i);
		add_note(&file, 0x10, name, "x");
	}
	finish(&file);
	assert_int_equal(probe_providers_add(&providers, &file.notes), 0);
	assert_int_equal(providers.cnt, PROBE_PROVIDER_MAX);
	assert_int_equal(providers.others_cnt, 5);
	probe_providers_text(&providers, text, sizeof(text));
	assert_non_null(strstr(text, " (1 probe), and 5 probes of others"));
	release(&file);
}

/* ---- what a kernel lacks ---- */

static const struct kernel_features good = {
	.release = "6.18.0",
	.version = KERNEL_VERSION(6, 18, 0),
	.has_btf = true,
	.can_load = true,
	.has_uprobe_multi = true,
	.has_uprobe_multi_pid = true,
	.sched_switch_arg_cnt = 4,
	.is_root = true,
	.has_cap_sys_admin = true,
	.has_cap_bpf = true,
	.has_cap_perfmon = true,
};

static void each_obstacle_has_its_sentence(void **state)
{
	struct kernel_features features[] = { good, good, good, good, good, good };
	static const char *const parts[] = {
		"with sudo",	      "CONFIG_DEBUG_INFO_BTF", "lockdown=integrity",
		"CONFIG_BPF_SYSCALL", "uprobe_multi",	       "CONFIG_BPF_EVENTS",
	};
	struct error sentences[8];

	(void)state;
	assert_int_equal(kernel_features_missing(&good, sentences, 8), 0);
	features[0].is_root = features[0].has_cap_sys_admin = features[0].has_cap_bpf = features[0].can_load =
		false;
	features[1].has_btf = false;
	features[2].lockdown = LOCKDOWN_CONFIDENTIALITY;
	features[2].can_load = false;
	features[3].can_load = false;
	features[3].load_errno = ENOSYS;
	features[4].has_cap_sys_admin = features[4].has_uprobe_multi = false;
	features[5].can_load = false;
	features[5].load_errno = EINVAL;
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		assert_int_equal(kernel_features_missing(&features[i], sentences, 8), 1);
		if (!strstr(sentences[0].text, parts[i]))
			fail_msg("no '%s' in '%s'", parts[i], sentences[0].text);
		assert_null(strstr(sentences[0].text, "...")); /* fits */
	}
}

static void what_is_worst_comes_first(void **state)
{
	struct kernel_features features = { .release = "5.4.0" };
	struct error sentences[2];

	(void)state;
	assert_int_equal(kernel_features_missing(&features, sentences, 2), 2);
	assert_non_null(strstr(sentences[0].text, "root"));
	assert_non_null(strstr(sentences[1].text, "BTF"));
	assert_int_equal(kernel_features_missing(&features, NULL, 0), 2);
}

/* What can be known of any kernel on which this runs, privileged or not. */
static void this_kernel_is_asked(void **state)
{
	struct kernel_features features;

	(void)state;
	kernel_features_probe(&features);
	assert_true(features.version >= KERNEL_VERSION(3, 0, 0));
	assert_int_equal(features.is_root, geteuid() == 0);
	assert_int_equal(features.has_btf, access("/sys/kernel/btf/vmlinux", R_OK) == 0);
	if (features.has_btf)
		assert_in_range(features.sched_switch_arg_cnt, 3, 4);
	if (features.has_uprobe_multi)
		assert_true(features.version >= KERNEL_VERSION(6, 6, 0));
	if (features.fast_nop != FAST_NOP_NONE)
		/* 6.18, and what others have ported back */
		assert_true(features.version >= KERNEL_VERSION(6, 12, 0));
	if (features.can_load)
		assert_int_equal(features.load_errno, 0);
	else
		assert_int_not_equal(features.load_errno, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fastest_nop_of_the_kernel_is_chosen),
		cmocka_unit_test(every_byte_of_a_site_counts),
		cmocka_unit_test(aarch64_has_one_nop),
		cmocka_unit_test(two_notes_about_one_site_are_one_site),
		cmocka_unit_test(probes_of_others_are_counted_not_probed),
		cmocka_unit_test(many_providers_are_summed_up),
		cmocka_unit_test(each_obstacle_has_its_sentence),
		cmocka_unit_test(what_is_worst_comes_first),
		cmocka_unit_test(this_kernel_is_asked),
	};

	return cmocka_run_group_tests_name("attach_sites", tests, NULL, NULL);
}
