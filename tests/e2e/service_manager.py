# SPDX-License-Identifier: BSD-2-Clause
"""Stands in for systemd: service_manager.py SOCKET FILE takes what is sent to SOCKET into FILE, a line each, until STOPPING=1."""
import socket
import sys

listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
with open(sys.argv[2], 'w', encoding='utf-8') as told:
    state = ''
    while state != 'STOPPING=1':
        state = listener.recv(4096).decode()
        print(state.replace('\n', ' '), file=told, flush=True)
