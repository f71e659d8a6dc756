/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one table of system calls: what the kernel side makes of a block in them,
 * and what readers call them.
 *
 * TXTRACE_BLOCKING_SYSCALLS(CALL): the calls that can block for a reason that
 * they tell. CALL(name, x86-64 number, aarch64 number, reason, what its first
 * argument is). -1: the architecture lacks the call. Reason BY_FD: what the
 * descriptor refers to decides. First argument: FD a descriptor, ADDRESS a
 * futex, DURATION a pointer to how long to sleep; MOMENT: what
 * clock_nanosleep() takes; POLLED: what poll() takes; SETS: what select()
 * takes; RING: of io_uring; NOTHING of interest.
 *
 * TXTRACE_OTHER_SYSCALLS(CALL): all others, whose blocks are `other`.
 * CALL(name, x86-64 number, aarch64 number).
 */
#ifndef TXTRACE_SYSCALLS_H
#define TXTRACE_SYSCALLS_H

#define TXTRACE_BLOCKING_SYSCALLS(CALL) \
	CALL(read, 0, 63, BY_FD, FD) \
	CALL(write, 1, 64, BY_FD, FD) \
	CALL(open, 2, -1, BLOCK_DISK, NOTHING) \
	CALL(close, 3, 57, BLOCK_DISK, FD) \
	CALL(stat, 4, -1, BLOCK_DISK, NOTHING) \
	CALL(fstat, 5, 80, BLOCK_DISK, FD) \
	CALL(lstat, 6, -1, BLOCK_DISK, NOTHING) \
	CALL(poll, 7, -1, BLOCK_POLL, POLLED) \
	CALL(ioctl, 16, 29, BY_FD, FD) \
	CALL(pread64, 17, 67, BY_FD, FD) \
	CALL(pwrite64, 18, 68, BY_FD, FD) \
	CALL(readv, 19, 65, BY_FD, FD) \
	CALL(writev, 20, 66, BY_FD, FD) \
	CALL(select, 23, -1, BLOCK_POLL, SETS) \
	CALL(msync, 26, 227, BLOCK_DISK, NOTHING) \
	CALL(pause, 34, -1, BLOCK_WAIT, NOTHING) \
	CALL(nanosleep, 35, 101, BLOCK_SLEEP, DURATION) \
	CALL(sendfile, 40, 71, BY_FD, FD) \
	CALL(connect, 42, 203, BLOCK_NETWORK, FD) \
	CALL(accept, 43, 202, BLOCK_NETWORK, FD) \
	CALL(sendto, 44, 206, BLOCK_NETWORK, FD) \
	CALL(recvfrom, 45, 207, BLOCK_NETWORK, FD) \
	CALL(sendmsg, 46, 211, BLOCK_NETWORK, FD) \
	CALL(recvmsg, 47, 212, BLOCK_NETWORK, FD) \
	CALL(shutdown, 48, 210, BLOCK_NETWORK, FD) \
	CALL(clone, 56, 220, BLOCK_WAIT, NOTHING) \
	CALL(fork, 57, -1, BLOCK_WAIT, NOTHING) \
	CALL(vfork, 58, -1, BLOCK_WAIT, NOTHING) \
	CALL(wait4, 61, 260, BLOCK_WAIT, NOTHING) \
	CALL(semop, 65, 193, BLOCK_LOCK, NOTHING) \
	CALL(msgsnd, 69, 189, BLOCK_PIPE, NOTHING) \
	CALL(msgrcv, 70, 188, BLOCK_PIPE, NOTHING) \
	CALL(fcntl, 72, 25, BLOCK_LOCK, FD) \
	CALL(flock, 73, 32, BLOCK_LOCK, FD) \
	CALL(fsync, 74, 82, BLOCK_DISK, FD) \
	CALL(fdatasync, 75, 83, BLOCK_DISK, FD) \
	CALL(truncate, 76, 45, BLOCK_DISK, NOTHING) \
	CALL(ftruncate, 77, 46, BLOCK_DISK, FD) \
	CALL(getdents, 78, -1, BLOCK_DISK, FD) \
	CALL(rename, 82, -1, BLOCK_DISK, NOTHING) \
	CALL(mkdir, 83, -1, BLOCK_DISK, NOTHING) \
	CALL(unlink, 87, -1, BLOCK_DISK, NOTHING) \
	CALL(rt_sigtimedwait, 128, 137, BLOCK_WAIT, NOTHING) \
	CALL(rt_sigsuspend, 130, 133, BLOCK_WAIT, NOTHING) \
	CALL(sync, 162, 81, BLOCK_DISK, NOTHING) \
	CALL(futex, 202, 98, BLOCK_LOCK, ADDRESS) \
	CALL(io_getevents, 208, 4, BLOCK_DISK, NOTHING) \
	CALL(getdents64, 217, 61, BLOCK_DISK, FD) \
	CALL(semtimedop, 220, 192, BLOCK_LOCK, NOTHING) \
	CALL(clock_nanosleep, 230, 115, BLOCK_SLEEP, MOMENT) \
	CALL(epoll_wait, 232, -1, BLOCK_POLL, FD) \
	CALL(mq_timedsend, 242, 182, BLOCK_PIPE, FD) \
	CALL(mq_timedreceive, 243, 183, BLOCK_PIPE, FD) \
	CALL(waitid, 247, 95, BLOCK_WAIT, NOTHING) \
	CALL(openat, 257, 56, BLOCK_DISK, NOTHING) \
	CALL(newfstatat, 262, 79, BLOCK_DISK, NOTHING) \
	CALL(unlinkat, 263, 35, BLOCK_DISK, NOTHING) \
	CALL(renameat, 264, 38, BLOCK_DISK, NOTHING) \
	CALL(pselect6, 270, 72, BLOCK_POLL, SETS) \
	CALL(ppoll, 271, 73, BLOCK_POLL, POLLED) \
	CALL(splice, 275, 76, BY_FD, FD) \
	CALL(tee, 276, 77, BY_FD, FD) \
	CALL(sync_file_range, 277, 84, BLOCK_DISK, FD) \
	CALL(vmsplice, 278, 75, BY_FD, FD) \
	CALL(epoll_pwait, 281, 22, BLOCK_POLL, FD) \
	CALL(fallocate, 285, 47, BLOCK_DISK, FD) \
	CALL(accept4, 288, 242, BLOCK_NETWORK, FD) \
	CALL(preadv, 295, 69, BY_FD, FD) \
	CALL(pwritev, 296, 70, BY_FD, FD) \
	CALL(recvmmsg, 299, 243, BLOCK_NETWORK, FD) \
	CALL(syncfs, 306, 267, BLOCK_DISK, FD) \
	CALL(sendmmsg, 307, 269, BLOCK_NETWORK, FD) \
	CALL(renameat2, 316, 276, BLOCK_DISK, NOTHING) \
	CALL(copy_file_range, 326, 285, BLOCK_DISK, FD) \
	CALL(preadv2, 327, 286, BY_FD, FD) \
	CALL(pwritev2, 328, 287, BY_FD, FD) \
	CALL(statx, 332, 291, BLOCK_DISK, NOTHING) \
	CALL(io_pgetevents, 333, 292, BLOCK_DISK, NOTHING) \
	CALL(io_uring_enter, 426, 426, BLOCK_POLL, RING) \
	CALL(clone3, 435, 435, BLOCK_WAIT, NOTHING) \
	CALL(openat2, 437, 437, BLOCK_DISK, NOTHING) \
	CALL(epoll_pwait2, 441, 441, BLOCK_POLL, FD) \
	CALL(futex_waitv, 449, 449, BLOCK_LOCK, NOTHING) \
	CALL(futex_wait, 455, 455, BLOCK_LOCK, ADDRESS)

#define TXTRACE_OTHER_SYSCALLS(CALL) \
	CALL(lseek, 8, 62) \
	CALL(mmap, 9, 222) \
	CALL(mprotect, 10, 226) \
	CALL(munmap, 11, 215) \
	CALL(brk, 12, 214) \
	CALL(rt_sigaction, 13, 134) \
	CALL(rt_sigprocmask, 14, 135) \
	CALL(rt_sigreturn, 15, 139) \
	CALL(access, 21, -1) \
	CALL(pipe, 22, -1) \
	CALL(sched_yield, 24, 124) \
	CALL(mremap, 25, 216) \
	CALL(mincore, 27, 232) \
	CALL(madvise, 28, 233) \
	CALL(shmget, 29, 194) \
	CALL(shmat, 30, 196) \
	CALL(shmctl, 31, 195) \
	CALL(dup, 32, 23) \
	CALL(dup2, 33, -1) \
	CALL(getitimer, 36, 102) \
	CALL(alarm, 37, -1) \
	CALL(setitimer, 38, 103) \
	CALL(getpid, 39, 172) \
	CALL(socket, 41, 198) \
	CALL(bind, 49, 200) \
	CALL(listen, 50, 201) \
	CALL(getsockname, 51, 204) \
	CALL(getpeername, 52, 205) \
	CALL(socketpair, 53, 199) \
	CALL(setsockopt, 54, 208) \
	CALL(getsockopt, 55, 209) \
	CALL(execve, 59, 221) \
	CALL(exit, 60, 93) \
	CALL(kill, 62, 129) \
	CALL(uname, 63, 160) \
	CALL(semget, 64, 190) \
	CALL(semctl, 66, 191) \
	CALL(shmdt, 67, 197) \
	CALL(msgget, 68, 186) \
	CALL(msgctl, 71, 187) \
	CALL(getcwd, 79, 17) \
	CALL(chdir, 80, 49) \
	CALL(fchdir, 81, 50) \
	CALL(rmdir, 84, -1) \
	CALL(creat, 85, -1) \
	CALL(link, 86, -1) \
	CALL(symlink, 88, -1) \
	CALL(readlink, 89, -1) \
	CALL(chmod, 90, -1) \
	CALL(fchmod, 91, 52) \
	CALL(chown, 92, -1) \
	CALL(fchown, 93, 55) \
	CALL(lchown, 94, -1) \
	CALL(umask, 95, 166) \
	CALL(gettimeofday, 96, 169) \
	CALL(getrlimit, 97, 163) \
	CALL(getrusage, 98, 165) \
	CALL(sysinfo, 99, 179) \
	CALL(times, 100, 153) \
	CALL(ptrace, 101, 117) \
	CALL(getuid, 102, 174) \
	CALL(syslog, 103, 116) \
	CALL(getgid, 104, 176) \
	CALL(setuid, 105, 146) \
	CALL(setgid, 106, 144) \
	CALL(geteuid, 107, 175) \
	CALL(getegid, 108, 177) \
	CALL(setpgid, 109, 154) \
	CALL(getppid, 110, 173) \
	CALL(getpgrp, 111, -1) \
	CALL(setsid, 112, 157) \
	CALL(setreuid, 113, 145) \
	CALL(setregid, 114, 143) \
	CALL(getgroups, 115, 158) \
	CALL(setgroups, 116, 159) \
	CALL(setresuid, 117, 147) \
	CALL(getresuid, 118, 148) \
	CALL(setresgid, 119, 149) \
	CALL(getresgid, 120, 150) \
	CALL(getpgid, 121, 155) \
	CALL(setfsuid, 122, 151) \
	CALL(setfsgid, 123, 152) \
	CALL(getsid, 124, 156) \
	CALL(capget, 125, 90) \
	CALL(capset, 126, 91) \
	CALL(rt_sigpending, 127, 136) \
	CALL(rt_sigqueueinfo, 129, 138) \
	CALL(sigaltstack, 131, 132) \
	CALL(utime, 132, -1) \
	CALL(mknod, 133, -1) \
	CALL(uselib, 134, -1) \
	CALL(personality, 135, 92) \
	CALL(ustat, 136, -1) \
	CALL(statfs, 137, 43) \
	CALL(fstatfs, 138, 44) \
	CALL(sysfs, 139, -1) \
	CALL(getpriority, 140, 141) \
	CALL(setpriority, 141, 140) \
	CALL(sched_setparam, 142, 118) \
	CALL(sched_getparam, 143, 121) \
	CALL(sched_setscheduler, 144, 119) \
	CALL(sched_getscheduler, 145, 120) \
	CALL(sched_get_priority_max, 146, 125) \
	CALL(sched_get_priority_min, 147, 126) \
	CALL(sched_rr_get_interval, 148, 127) \
	CALL(mlock, 149, 228) \
	CALL(munlock, 150, 229) \
	CALL(mlockall, 151, 230) \
	CALL(munlockall, 152, 231) \
	CALL(vhangup, 153, 58) \
	CALL(modify_ldt, 154, -1) \
	CALL(pivot_root, 155, 41) \
	CALL(_sysctl, 156, -1) \
	CALL(prctl, 157, 167) \
	CALL(arch_prctl, 158, -1) \
	CALL(adjtimex, 159, 171) \
	CALL(setrlimit, 160, 164) \
	CALL(chroot, 161, 51) \
	CALL(acct, 163, 89) \
	CALL(settimeofday, 164, 170) \
	CALL(mount, 165, 40) \
	CALL(umount2, 166, 39) \
	CALL(swapon, 167, 224) \
	CALL(swapoff, 168, 225) \
	CALL(reboot, 169, 142) \
	CALL(sethostname, 170, 161) \
	CALL(setdomainname, 171, 162) \
	CALL(iopl, 172, -1) \
	CALL(ioperm, 173, -1) \
	CALL(create_module, 174, -1) \
	CALL(init_module, 175, 105) \
	CALL(delete_module, 176, 106) \
	CALL(get_kernel_syms, 177, -1) \
	CALL(query_module, 178, -1) \
	CALL(quotactl, 179, 60) \
	CALL(nfsservctl, 180, 42) \
	CALL(getpmsg, 181, -1) \
	CALL(putpmsg, 182, -1) \
	CALL(afs_syscall, 183, -1) \
	CALL(tuxcall, 184, -1) \
	CALL(security, 185, -1) \
	CALL(gettid, 186, 178) \
	CALL(readahead, 187, 213) \
	CALL(setxattr, 188, 5) \
	CALL(lsetxattr, 189, 6) \
	CALL(fsetxattr, 190, 7) \
	CALL(getxattr, 191, 8) \
	CALL(lgetxattr, 192, 9) \
	CALL(fgetxattr, 193, 10) \
	CALL(listxattr, 194, 11) \
	CALL(llistxattr, 195, 12) \
	CALL(flistxattr, 196, 13) \
	CALL(removexattr, 197, 14) \
	CALL(lremovexattr, 198, 15) \
	CALL(fremovexattr, 199, 16) \
	CALL(tkill, 200, 130) \
	CALL(time, 201, -1) \
	CALL(sched_setaffinity, 203, 122) \
	CALL(sched_getaffinity, 204, 123) \
	CALL(set_thread_area, 205, -1) \
	CALL(io_setup, 206, 0) \
	CALL(io_destroy, 207, 1) \
	CALL(io_submit, 209, 2) \
	CALL(io_cancel, 210, 3) \
	CALL(get_thread_area, 211, -1) \
	CALL(lookup_dcookie, 212, 18) \
	CALL(epoll_create, 213, -1) \
	CALL(epoll_ctl_old, 214, -1) \
	CALL(epoll_wait_old, 215, -1) \
	CALL(remap_file_pages, 216, 234) \
	CALL(set_tid_address, 218, 96) \
	CALL(restart_syscall, 219, 128) \
	CALL(fadvise64, 221, 223) \
	CALL(timer_create, 222, 107) \
	CALL(timer_settime, 223, 110) \
	CALL(timer_gettime, 224, 108) \
	CALL(timer_getoverrun, 225, 109) \
	CALL(timer_delete, 226, 111) \
	CALL(clock_settime, 227, 112) \
	CALL(clock_gettime, 228, 113) \
	CALL(clock_getres, 229, 114) \
	CALL(exit_group, 231, 94) \
	CALL(epoll_ctl, 233, 21) \
	CALL(tgkill, 234, 131) \
	CALL(utimes, 235, -1) \
	CALL(vserver, 236, -1) \
	CALL(mbind, 237, 235) \
	CALL(set_mempolicy, 238, 237) \
	CALL(get_mempolicy, 239, 236) \
	CALL(mq_open, 240, 180) \
	CALL(mq_unlink, 241, 181) \
	CALL(mq_notify, 244, 184) \
	CALL(mq_getsetattr, 245, 185) \
	CALL(kexec_load, 246, 104) \
	CALL(add_key, 248, 217) \
	CALL(request_key, 249, 218) \
	CALL(keyctl, 250, 219) \
	CALL(ioprio_set, 251, 30) \
	CALL(ioprio_get, 252, 31) \
	CALL(inotify_init, 253, -1) \
	CALL(inotify_add_watch, 254, 27) \
	CALL(inotify_rm_watch, 255, 28) \
	CALL(migrate_pages, 256, 238) \
	CALL(mkdirat, 258, 34) \
	CALL(mknodat, 259, 33) \
	CALL(fchownat, 260, 54) \
	CALL(futimesat, 261, -1) \
	CALL(linkat, 265, 37) \
	CALL(symlinkat, 266, 36) \
	CALL(readlinkat, 267, 78) \
	CALL(fchmodat, 268, 53) \
	CALL(faccessat, 269, 48) \
	CALL(unshare, 272, 97) \
	CALL(set_robust_list, 273, 99) \
	CALL(get_robust_list, 274, 100) \
	CALL(move_pages, 279, 239) \
	CALL(utimensat, 280, 88) \
	CALL(signalfd, 282, -1) \
	CALL(timerfd_create, 283, 85) \
	CALL(eventfd, 284, -1) \
	CALL(timerfd_settime, 286, 86) \
	CALL(timerfd_gettime, 287, 87) \
	CALL(signalfd4, 289, 74) \
	CALL(eventfd2, 290, 19) \
	CALL(epoll_create1, 291, 20) \
	CALL(dup3, 292, 24) \
	CALL(pipe2, 293, 59) \
	CALL(inotify_init1, 294, 26) \
	CALL(rt_tgsigqueueinfo, 297, 240) \
	CALL(perf_event_open, 298, 241) \
	CALL(fanotify_init, 300, 262) \
	CALL(fanotify_mark, 301, 263) \
	CALL(prlimit64, 302, 261) \
	CALL(name_to_handle_at, 303, -1) \
	CALL(open_by_handle_at, 304, -1) \
	CALL(clock_adjtime, 305, 266) \
	CALL(setns, 308, 268) \
	CALL(getcpu, 309, 168) \
	CALL(process_vm_readv, 310, 270) \
	CALL(process_vm_writev, 311, 271) \
	CALL(kcmp, 312, 272) \
	CALL(finit_module, 313, 273) \
	CALL(sched_setattr, 314, 274) \
	CALL(sched_getattr, 315, 275) \
	CALL(seccomp, 317, 277) \
	CALL(getrandom, 318, 278) \
	CALL(memfd_create, 319, 279) \
	CALL(kexec_file_load, 320, 294) \
	CALL(bpf, 321, 280) \
	CALL(execveat, 322, 281) \
	CALL(userfaultfd, 323, 282) \
	CALL(membarrier, 324, 283) \
	CALL(mlock2, 325, 284) \
	CALL(pkey_mprotect, 329, 288) \
	CALL(pkey_alloc, 330, 289) \
	CALL(pkey_free, 331, 290) \
	CALL(rseq, 334, 293) \
	CALL(pidfd_send_signal, 424, 424) \
	CALL(io_uring_setup, 425, 425) \
	CALL(io_uring_register, 427, 427) \
	CALL(open_tree, 428, 428) \
	CALL(move_mount, 429, 429) \
	CALL(fsopen, 430, 430) \
	CALL(fsconfig, 431, 431) \
	CALL(fsmount, 432, 432) \
	CALL(fspick, 433, 433) \
	CALL(pidfd_open, 434, 434) \
	CALL(close_range, 436, 436) \
	CALL(pidfd_getfd, 438, 438) \
	CALL(faccessat2, 439, 439) \
	CALL(process_madvise, 440, 440) \
	CALL(mount_setattr, 442, 442) \
	CALL(quotactl_fd, 443, 443) \
	CALL(landlock_create_ruleset, 444, 444) \
	CALL(landlock_add_rule, 445, 445) \
	CALL(landlock_restrict_self, 446, 446) \
	CALL(memfd_secret, 447, 447) \
	CALL(process_mrelease, 448, 448) \
	CALL(set_mempolicy_home_node, 450, 450) \
	CALL(cachestat, 451, 451) \
	CALL(fchmodat2, 452, 452) \
	CALL(map_shadow_stack, 453, 453) \
	CALL(futex_wake, 454, 454) \
	CALL(futex_requeue, 456, 456) \
	CALL(statmount, 457, 457) \
	CALL(listmount, 458, 458)

#endif
