#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a folder of src/ may include is part of the design (docs/ARCHITECTURE.md).
exec python3 tests/tree/check_includes.py
