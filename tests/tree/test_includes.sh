#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# src/ includes only what the table in docs/ARCHITECTURE.md allows.
exec python3 tests/tree/check_includes.py
