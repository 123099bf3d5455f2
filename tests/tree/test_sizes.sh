#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Lines, functions and files are not too long (CONTRIBUTING.md).
exec python3 tests/tree/check_sizes.py
