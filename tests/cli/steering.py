# SPDX-License-Identifier: GPL-2.0-or-later
"""What text may not have that goes to a terminal."""
import unicodedata


def find_steering(text):
    """What is around the first place in TEXT, bytes, that has no place in lines of text; None: there is none."""
    try:
        lines = text.decode()
    except UnicodeDecodeError as error:
        return text[max(error.start - 20, 0):error.start + 20]
    for at, character in enumerate(lines):
        if character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp"):
            return lines[max(at - 20, 0):at + 20]
    return None
