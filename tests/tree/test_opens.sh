#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Files that somebody else names are opened in one way only.
exec python3 tests/tree/check_opens.py
