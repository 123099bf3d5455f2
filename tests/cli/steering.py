# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds characters in a text that could control a terminal."""
import unicodedata


def find_steering(text):
    """The surroundings of the first such character in TEXT, which is bytes;
    None if there is none."""
    try:
        lines = text.decode()
    except UnicodeDecodeError as error:
        return text[max(error.start - 20, 0):error.start + 20]
    for at, character in enumerate(lines):
        if character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp"):
            return lines[max(at - 20, 0):at + 20]
    return None
