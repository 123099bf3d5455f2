# SPDX-License-Identifier: GPL-2.0-or-later
"""A line for each thing that was checked, and whether all of them were good."""
_bad = []
_checked = 0


def check(good, text):
    global _checked
    if hasattr(good, "__next__"):
        raise TypeError(f"neither good nor bad: {text}")  # of a generator that nobody asked all would be good
    _checked += 1
    print("ok  " if good else "FAIL", text)
    if not good:
        _bad.append(text)


def exit_status():
    """For sys.exit(): 1 if anything was not good, or if nothing was checked."""
    if not _checked:
        print("FAIL nothing was checked")
    return int(bool(_bad) or not _checked)
