#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A guest's memory and registers through QEMU's monitor, with real QEMUs that are started but never
# run the guest (TCG, no KVM needed), and with hostile stand-ins. check_qmp.py has the cases.
set -u
command -v qemu-system-x86_64 >/dev/null || { echo "no qemu-system-x86_64: make setup"; exit 77; }
folder=$(dirname "${PERFVISOR:-build/release/perfvisor}")
exec python3 tests/cli/check_qmp.py "$(realpath "$folder/tests/unit")"
