# SPDX-License-Identifier: GPL-2.0-or-later
r"""Folds the output of perf script as stackcollapse-perf.pl does
(github.com/brendangregg/FlameGraph).

    perf script | collapse.py
    write_chains … | collapse.py --truth       the same for the report of write_chains
    write_chains … | collapse.py --vms         each line begins with the VM
    write_chains … | collapse.py --escaped     with invalid UTF-8 as \xNN, as perfvisor prints it

The rules, for its default options: only the first event; blanks in a command become '_'; a function
without a name is its file in brackets; ';' becomes ':'; quotes and arguments are removed, but not
those of Go's methods and not "(anonymous namespace)". Lines are sorted by bytes.
"""
import collections
import re
import sys

# Unlike the script, this parses "/memfd:name (deleted)" correctly.
LINE = re.compile(r"\s*(\w+)\s*(.+) \(((?:[^()]|\(deleted\))*)\)$")


def tidy(name):
    name = name.replace(";", ":")
    if not re.search(r"\.\(.*\)\.", name):
        name = re.sub(r"\((?!anonymous namespace\)).*", "", name)
    return name.replace('"', "").replace("'", "")


def from_script(lines):
    """Yields (command, event, period, frames with the outermost first) of each sample."""
    head, frames = None, []
    for line in lines:
        line = line.rstrip("\n")
        if not line:
            if head:
                yield (*head, frames[::-1])
            head, frames = None, []
        elif line.startswith("\t"):
            _, function, file = LINE.match(line).groups()
            function = re.sub(r"\+0x[0-9a-f]+$", "", function)
            if function == "[unknown]" != file:
                function = "[" + file.split("/")[-1].removesuffix(" (deleted)") + "]"
            frames.append(tidy(function))
        else:
            command = re.match(r"(\S.+?)\s+(-?\d+)/*(\d+)*\s+", line)[1]
            period, event = re.search(r":\s*(\d+)\s+(\S+):\s*$", line).groups()
            head = command.replace(" ", "_"), event, int(period)


def from_truth(lines, escaped, vms):
    for line in lines:
        period, vm, _, command, *frames = line.rstrip("\n").split("\t")
        names = [tidy(frame.split(" ", 2)[2].replace("\x1b", "?")) for frame in frames]
        if escaped:
            names = [name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
                     for name in names]
        if vms:
            command = vm.replace(";", ":") + ";" + command
        yield command.replace(" ", "_"), "cpu-clock", int(period), names


def main():
    lines = open(0, encoding="utf-8", errors="surrogateescape")
    if sys.argv[1:]:
        samples = from_truth(lines, "--escaped" in sys.argv, "--vms" in sys.argv)
    else:
        samples = from_script(lines)
    counts, first = collections.Counter(), None
    for command, event, period, frames in samples:
        first = first or event
        if event == first:
            counts[";".join([command, *frames])] += period
    folded = sorted(f"{stack} {period}".encode("utf-8", "surrogateescape")
                    for stack, period in counts.items())
    sys.stdout.buffer.write(b"".join(line + b"\n" for line in folded))


if __name__ == "__main__":
    main()
