/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells a service manager such as systemd how it goes, in the words of
 * sd_notify(3): "READY=1", "STOPPING=1". Its socket is in NOTIFY_SOCKET;
 * without that, nothing happens.
 */
#ifndef SERVICE_MANAGER_H
#define SERVICE_MANAGER_H

/*
 * Takes the address out of the environment, so that a traced command does not
 * have it. The descriptor, -1: there is nobody to tell.
 */
int service_manager_open(void);

/* Never waits; nobody minds if it does not arrive. -1 is allowed. */
void service_manager_tell(int fd, const char *state);

#endif
