#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
echo "hello"
