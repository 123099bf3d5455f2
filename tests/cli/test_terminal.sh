#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# No name in a recording comes to a terminal as it is, if it could steer that.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
exec python3 tests/cli/check_terminal.py "$perfvisor" "$(dirname "$perfvisor")/tests/unit"
