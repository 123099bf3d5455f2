# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Several kinds of kernel load, and a user program: random bytes (chacha), small system calls, and
# user7525's loop.
syscalls &
user7525 &
exec reader
