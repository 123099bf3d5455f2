# SPDX-License-Identifier: GPL-2.0-or-later
"""Which share of its time hot_a() took in a span of time, by what user7525 said on its guest's console."""
import re


def told_share(before, after):
    """
    BEFORE, AFTER: the console at the span's begin and end; None: it said too little in between. Each share is that
    since the program began, of as many calls for each line: lines stand for times that are equal but for noise, which
    counts for little as shares of successive lines hardly differ.
    """
    then, now = (list(map(float, re.findall(r"^SHARE (0\.\d+)\s*$", text, re.M))) for text in (before, after))
    if len(now) < len(then) + 4:
        return None
    return (len(now) * now[-1] - (len(then) * then[-1] if then else 0)) / (len(now) - len(then))
