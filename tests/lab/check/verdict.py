# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints a line for each check, and computes the exit status."""
_bad = []
_checked = 0


def check(good, text):
    global _checked
    if hasattr(good, "__next__"):
        raise TypeError(f"neither good nor bad: {text}")  # an unused generator would always be true
    _checked += 1
    print("ok  " if good else "FAIL", text)
    if not good:
        _bad.append(text)


def exit_status():
    """For sys.exit(): 1 if a check failed, or if nothing was checked."""
    if not _checked:
        print("FAIL nothing was checked")
    return int(bool(_bad) or not _checked)
