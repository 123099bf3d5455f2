# SPDX-License-Identifier: GPL-2.0-or-later
"""The functions of a guest's kernel and modules, from its own /proc/kallsyms."""
import bisect


class Functions:
    def __init__(self, path):
        self.names = {}
        self.modules = {}
        for line in open(path):
            words = line.split()
            if words[1] in "tTwW":
                start = int(words[0], 16)
                self.names.setdefault(start, []).append(words[2])
                if len(words) > 3:
                    self.modules[start] = words[3].strip("[]")
        self.starts = sorted(self.names)

    def at(self, address):
        """The start of the function that contains ADDRESS."""
        index = bisect.bisect_right(self.starts, address) - 1
        return self.starts[index] if index >= 0 else 0

    def end_of(self, start):
        index = bisect.bisect_right(self.starts, start)
        return self.starts[index] if index < len(self.starts) else start

    def name(self, address):
        """All names of the function, because some have several."""
        return "/".join(self.names.get(self.at(address), ["?"]))

    def module(self, address):
        return self.modules.get(self.at(address))
