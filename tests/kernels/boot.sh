#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/kernels/boot.sh NAME TEST...
#
# Boots the kernel NAME of kernels.table, which fetch.sh has fetched, in QEMU and
# runs the tests of tests.table in it. Prints the guest's console
# (tests/kernels/guest/init), which is kept in build/kernels/NAME/console. Fails if
# the guest did not reach its end. TXTRACE_FEW=1: tests that support it do less.
#
# KVM is never used: where it can be opened but does not work, a guest hangs.
set -u
cd "$(dirname "$0")/../.." || exit 1
name=${1:?which kernel}
shift
kernels=$PWD/build/kernels
folder=$kernels/$name
read -r _ arch _ < <(grep "^$name " tests/kernels/kernels.table)

# Two CPUs that may run in parallel. The interrupts of an emulated machine take long: their time is not to be kept apart from the threads'. A kernel is not to
# give up because they come late when it tries its timer.
slowness=1
case $arch in
amd64)
	qemu=(qemu-system-x86_64 -M q35 -cpu max)
	console="ttyS0 reboot=t tsc=reliable tsc=noirqtime no_timer_check"
	machine=x86_64
	;;
arm64)
	qemu=(qemu-system-aarch64 -M virt -cpu cortex-a57)
	console=ttyAMA0
	machine=aarch64
	slowness=2
	;;
esac
build=build root=/ busybox=$kernels/busybox/bin/busybox
if [ "$machine" != "$(uname -m)" ]; then
	build=build/$machine-linux-gnu root=$kernels/root-$arch busybox=$kernels/root-$arch/bin/busybox
fi
if [ -x "$kernels/qemu/usr/bin/${qemu[0]}" ]; then
	libraries=$kernels/qemu/usr/lib/$(uname -m)-linux-gnu:$kernels/qemu/lib/$(uname -m)-linux-gnu
	qemu=(env LD_LIBRARY_PATH="$libraries" "$kernels/qemu/usr/bin/${qemu[0]}" -L "$kernels/qemu/usr/share/qemu" -L "$kernels/qemu/usr/share/seabios" "${qemu[@]:1}")
fi

# A test's limit is for this machine when it is loaded, and for an emulated x86-64; the boot takes its time, too. The guest measures how fast its clock is while
# it boots, and if something else has the CPU then, its clock is several times too fast.
clock_error=4
: >"$folder/todo"
limit=300
for test; do
	read -r _ seconds _ < <(grep "^$test " tests/kernels/tests.table)
	echo "$test $((seconds * slowness * clock_error))" >>"$folder/todo"
	limit=$((limit + seconds * slowness))
done
python3 tests/kernels/guest_image.py --machine $machine --root "$root" --busybox "$busybox" --build $build --todo "$folder/todo" --output "$folder/initramfs" || exit

timeout --kill-after=10 $limit "${qemu[@]}" -accel tcg -m 1024 -smp 2 -kernel "$folder/image" -initrd "$folder/initramfs" \
	-append "console=$console panic=-1 quiet${TXTRACE_FEW:+ txtrace_few}" -nodefaults -nographic -no-reboot -serial stdio -monitor none </dev/null 2>&1 |
	sed -u "s,\\r,,g" | tee "$folder/console"
grep -q '^@@ done' "$folder/console"
