# SPDX-License-Identifier: GPL-2.0-or-later
"""hot_a()'s share of the time in a time span, from user7525's output on the guest's console."""
import re


def told_share(before, after):
    """
    BEFORE, AFTER: the console's output at the begin and the end of the span. Returns None if there
    are too few lines in between. Each line has the share since the program began, and is printed
    after a fixed number of calls. Lines therefore stand for equal times, except for noise, which
    matters little because the shares of successive lines hardly differ.
    """
    then, now = (list(map(float, re.findall(r"^SHARE (0\.\d+)\s*$", text, re.M)))
                 for text in (before, after))
    if len(now) < len(then) + 4:
        return None
    return (len(now) * now[-1] - (len(then) * then[-1] if then else 0)) / (len(now) - len(then))
