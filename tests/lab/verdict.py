# SPDX-License-Identifier: GPL-2.0-or-later
"""A line for each thing that was checked, and whether all of them were good."""
_bad = []


def check(good, text):
    print("ok  " if good else "FAIL", text)
    if not good:
        _bad.append(text)


def exit_status():
    """For sys.exit(): 1 if anything was not good."""
    return int(bool(_bad))
