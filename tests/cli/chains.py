# SPDX-License-Identifier: GPL-2.0-or-later
"""Call chains in the text of `perf report --stdio` and of `perfvisor report`, as values.

    chains.py PERF OURS           compares the two files; what differs is printed, and is status 1
    chains.py --rows PERF OURS    only the rows, and of these only functions that have a name
    chains.py --named PERF OURS   these rows, with their chains, where all functions in them have a name

Order is left out: among equal shares perf's depends on where its memory lies. An address without a name
may have any level in perf. In children of perf's an address without a name is as it was in the
process, in its other rows as it is in the file: only its place in its page is compared. --rows is for recordings
of programs without symbols, --named where what symbols there are depends on the machine (packages with debugging
symbols).
"""
import collections
import re
import sys


def in_page(digits):
    """Of a user's address the place in its page; kernels are where they are."""
    return digits if len(digits) == 16 and digits[0] >= "8" else digits[-3:]


def function_of(text):
    address = re.fullmatch(r"0x([0-9a-f]+)", text)
    return "0x" + in_page(address[1]) if address else text


def parse_chains(lines):
    """The chains below a row: (share, functions in a line, what forks off) for each, unordered."""
    top = [None, [], []]
    stack = [top]
    for line in lines:
        share = re.match(r"^([ |]*)--([\d.]+)%--(.*)$", line)
        if share:
            depth = (len(share[1]) - 13) // 11
            del stack[depth + 1:]
            node = [share[2], [function_of(share[3])], []]
            stack[-1][2].append(node)
            stack.append(node)
        elif line.strip(" |"):
            stack[-1][1].append(function_of(re.sub(r"^[ |]*(---)?", "", line)))

    def freeze(node):
        return (node[0], tuple(node[1]), tuple(sorted(map(freeze, node[2]))))
    return freeze(top)


def parse(path):
    """Row -> the chains of all rows that read so."""
    rows, row, lines = collections.defaultdict(list), None, []

    def finish():
        if row is not None:
            read = re.sub(r"\[[.k]\] (?:0x)?([0-9a-f]{16})$", lambda at: "[.] " + in_page(at[1]).zfill(16), row)
            rows[read].append(parse_chains(lines))

    with open(path, errors="replace") as text:
        for line in text:
            line = line.rstrip()
            if re.match(r"^ {2,6}\d+\.\d\d%  ", line):
                finish()
                row, lines = re.sub(r"\s+", " ", line.strip()), []
            elif line and not line.startswith("#"):
                lines.append(line)
    finish()
    return {row: sorted(chains, key=str) for row, chains in rows.items()}


def only_named_rows(rows):
    return {row: len(chains) for row, chains in rows.items()
            if not re.search(r"\] (0x)?[0-9a-f]{16}$", row)}


def only_named_chains(rows):
    return {row: chains if not re.search(r"'0x[0-9a-f]+'", str(chains)) else len(chains) for row, chains in rows.items()
            if row in only_named_rows(rows)}


def main():
    perf, ours = parse(sys.argv[-2]), parse(sys.argv[-1])
    if sys.argv[1] == "--rows":
        perf, ours = only_named_rows(perf), only_named_rows(ours)
    if sys.argv[1] == "--named":
        perf, ours = only_named_chains(perf), only_named_chains(ours)
    wrong = [row for row in sorted(perf.keys() | ours.keys()) if perf.get(row) != ours.get(row)]
    for row in wrong[:10]:
        print(f"{row}\n  perf: {perf.get(row)}\n  ours: {ours.get(row)}")
    print(f"{len(wrong)} of {len(perf)} rows differ")
    sys.exit(bool(wrong) or len(perf) < 2)


if __name__ == "__main__":
    main()
