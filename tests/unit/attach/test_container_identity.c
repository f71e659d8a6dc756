/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of cgroups as container runtimes make them, and others that only look like these. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach/process/container_identity.h"
#include "base/seeded_random.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define POD "12345678-9abc-def0-1234-56789abcdef0"
#define POD_IN_SLICE "12345678_9abc_def0_1234_56789abcdef0"
#define STATIC_POD "00112233445566778899aabbccddeeff"
#define IN_POD "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_IN_SLICE ".slice/"

static const struct {
	const char *what;
	const char *text;
	const char *container;
	const char *pod;
} cases[] = {
	{ "no container", "0::/user.slice/user-1000.slice/session-2.scope\n", "", "" },
	{ "the root", "0::/\n", "", "" },
	{ "nothing", "", "", "" },
	{ "Docker with systemd", "0::/system.slice/docker-" ID ".scope\n", ID, "" },
	{ "Docker, v1", "12:pids:/docker/" ID "\n1:name=systemd:/docker/" ID "\n0::/\n", ID, "" },
	{ "Docker with systemd inside", "0::/system.slice/docker-" ID ".scope/init.scope\n", ID, "" },
	{ "Docker in Docker", "0::/docker/" OTHER "/docker/" ID "\n", ID, "" },
	{ "containerd of Kubernetes, with systemd", "0::" IN_POD "cri-containerd-" ID ".scope\n", ID, POD },
	{ "containerd of Kubernetes", "0::/kubepods/besteffort/pod" POD "/" ID "\n", ID, POD },
	{ "containerd of Kubernetes, guaranteed",
	  "0::/kubepods.slice/kubepods-pod" POD_IN_SLICE ".slice/cri-containerd-" ID ".scope\n", ID, POD },
	{ "containerd that does not know systemd",
	  "0::/system.slice/containerd.service/kubepods-besteffort-pod" POD_IN_SLICE
	  ".slice:cri-containerd:" ID "\n",
	  ID, POD },
	{ "a static pod", "0::/kubepods/burstable/pod" STATIC_POD "/" ID "\n", ID, STATIC_POD },
	{ "CRI-O", "0::" IN_POD "crio-" ID ".scope\n", ID, POD },
	{ "CRI-O, a cgroup below", "0::" IN_POD "crio-" ID ".scope/container\n", ID, POD },
	{ "CRI-O's monitor", "0::" IN_POD "crio-conmon-" ID ".scope\n", "", POD },
	{ "Podman", "0::/machine.slice/libpod-" ID ".scope/container\n", ID, "" },
	{ "Podman's monitor", "0::/machine.slice/libpod-conmon-" ID ".scope\n", "", "" },
	{ "Podman of a user",
	  "0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope\n", ID, "" },
	{ "a node that is a container",
	  "0::/docker/" OTHER "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" POD_IN_SLICE
	  ".slice/cri-containerd-" ID ".scope\n",
	  ID, POD },
	{ "seen from another cgroup namespace", "0::/../../pod" POD "/" ID "\n", ID, POD },
	{ "v1, where only one hierarchy has it",
	  "3:cpuset:/\n2:memory:/kubepods/pod" POD "/" ID "\n0::/system.slice/kubelet.service\n", ID, POD },
	{ "the pod's own cgroup", "0::/kubepods/besteffort/pod" POD "\n", "", POD },
	{ "without a newline", "0::/docker/" ID, ID, "" },
	{ "a digit too few", "0::/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n",
	  "", "" },
	{ "a digit too many", "0::/docker/0" ID "\n", "", "" },
	{ "capital letters", "0::/docker/0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef\n",
	  "", "" },
	{ "a pod in the midst of a word", "0::/tripod" POD "/x\n", "", "" },
	{ "a pod with another digit", "0::/pod" POD "0/x\n", "", "" },
	{ "a line without a path", "0:" ID "\n", "", "" },
	{ "an id as a controller", "0:" ID ":/\n", "", "" },
};

static void names_are_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct container_identity identity;

		container_identity_parse(&identity, cases[i].text, strlen(cases[i].text));
		if (strcmp(identity.container, cases[i].container) || strcmp(identity.pod, cases[i].pod))
			fail_msg("%s: '%s' in pod '%s'", cases[i].what, identity.container, identity.pod);
	}
}

static size_t clean_length(const char *text, size_t room)
{
	size_t length = strnlen(text, room);

	assert_true(length < room);
	for (size_t i = 0; i < length; i++)
		assert_true(strchr("0123456789abcdef-", text[i]));
	return length;
}

/* What is found is an id, whatever it is found in: texts that were cut, and changed. */
static void nonsense_is_no_identity(void **state)
{
	struct container_identity identity;
	struct seeded_random random;
	char text[512];

	(void)state;
	seeded_random_init(&random, 1803);
	for (int round = 0; round < 200000; round++) {
		const char *from = cases[seeded_random_below(&random, sizeof(cases) / sizeof(cases[0]))].text;
		size_t length = strlen(from);

		memcpy(text, from, length);
		for (uint32_t i = seeded_random_below(&random, 4); length && i > 0; i--)
			text[seeded_random_below(&random, (uint32_t)length)] =
				"/:-_.\n\0z0a"[seeded_random_below(&random, 10)];
		length = seeded_random_below(&random, (uint32_t)length + 1);
		container_identity_parse(&identity, text, length);
		length = clean_length(identity.container, sizeof(identity.container));
		assert_true(length == 0 || length == 64);
		length = clean_length(identity.pod, sizeof(identity.pod));
		assert_true(length == 0 || length == 32 || length == 36);
	}
}

static void own_can_be_read(void **state)
{
	struct container_identity identity;

	(void)state;
	assert_int_equal(container_identity_read(&identity, getpid()), 0);
	clean_length(identity.container, sizeof(identity.container));
	assert_true(container_identity_read(&identity, 0x7ffffffe) < 0);
	assert_string_equal(identity.container, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_known),
		cmocka_unit_test(nonsense_is_no_identity),
		cmocka_unit_test(own_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
