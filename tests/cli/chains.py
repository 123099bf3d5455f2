# SPDX-License-Identifier: GPL-2.0-or-later
"""Parses the call chains in the output of `perf report --stdio` and `perfvisor
report`, and compares them.

    chains.py PERF OURS           compares the two files; prints the differences, then exits with 1
    chains.py --rows PERF OURS    compares only the rows of functions that have a name
    chains.py --named PERF OURS   compares these rows, with chains of functions that all have a name

Order is ignored, because perf's order of equal shares depends on its memory layout. In perf, an
address without a name may have any level. In perf's children it is the address in the process, in
other rows the address in the file, so only its place in its page is compared. --rows is for
recordings of programs without symbols. --named is for programs whose available symbols depend on
the machine (packages with debugging symbols).
"""
import collections
import re
import sys


def in_page(digits):
    """The place of a user address in its page; kernel addresses unchanged."""
    return digits if len(digits) == 16 and digits[0] >= "8" else digits[-3:]


def function_of(text):
    address = re.fullmatch(r"0x([0-9a-f]+)", text)
    return "0x" + in_page(address[1]) if address else text


def parse_chains(lines):
    """The chains below a row: (share, consecutive functions, branches) for each, unordered."""
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
    """Returns: row -> the chains of all rows with this text."""
    rows, row, lines = collections.defaultdict(list), None, []

    def finish():
        if row is not None:
            read = re.sub(r"\[[.k]\] (?:0x)?([0-9a-f]{16})$",
                          lambda at: "[.] " + in_page(at[1]).zfill(16), row)
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
    return {row: chains if not re.search(r"'0x[0-9a-f]+'", str(chains)) else len(chains)
            for row, chains in rows.items() if row in only_named_rows(rows)}


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
