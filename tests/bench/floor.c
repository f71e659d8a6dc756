/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * floor probes|fast-probes|switches PID: attaches empty BPF programs to the process' txtrace probes (on the
 * same nops, by the same kind of link as the recorder) or to sched_switch, says "ready", and stays until it
 * is ended.
 */
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/attach.h"
#include "floor_bpf.skel.h"

#define PROBE_MAX 32

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "floor: %s: %s\n", what, why);
	return 2;
}

static int attach_probes(struct floor_bpf *bpf, const struct kernel_features *features, pid_t pid)
{
	struct probe_program programs[PROBE_MAX];
	struct attach_options options = { .features = features, .programs = programs };
	struct error error = { "" };
	struct attach *attach;

	for (; options.program_cnt < PROBE_MAX && probe_name(options.program_cnt); options.program_cnt++)
		programs[options.program_cnt] = (struct probe_program){
			.probe = probe_name(options.program_cnt),
			.prog = bpf->progs.on_probe,
			.prog_fd = bpf_program__fd(bpf->progs.on_probe),
		};
	if (attach_new(&attach, &options))
		return fail("attach", "no memory");
	return attach_scan(attach, pid, &error) > 0 ? 0 : fail("attach", error.text);
}

int main(int argc, char **argv)
{
	struct kernel_features features;
	struct floor_bpf *bpf;
	bool wants_probes;
	int status = 0;

	if (argc != 3)
		return fail("usage", "floor probes|fast-probes|switches PID");
	wants_probes = strcmp(argv[1], "switches") != 0;
	kernel_features_probe(&features);
	if (!strcmp(argv[1], "fast-probes"))
		features.fast_nop = features.reckless_nop;
	bpf = floor_bpf__open();
	if (!bpf || probe_program_prepare(bpf->progs.on_probe, &features) || floor_bpf__load(bpf))
		return fail("load", "the kernel does not accept the programs");
	if (wants_probes)
		status = attach_probes(bpf, &features, atoi(argv[2]));
	else if (!bpf_program__attach(bpf->progs.on_switch))
		status = fail("attach", "sched_switch");
	if (status)
		return status;
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
