#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Names in a recording that could control a terminal are escaped before they are printed.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
exec python3 tests/cli/check_terminal.py "$perfvisor" "$(dirname "$perfvisor")/tests/unit"
