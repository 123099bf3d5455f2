# SPDX-License-Identifier: GPL-2.0-or-later
"""Parses the output of `perfvisor script -F comm,pid,ip,sym` (or perf's, without sym), a block for
each sample; machine_pid,vcpu may be added."""
import re

ON_VCPU = re.compile(r"\s*VM: *\d+ VCPU: *(\d+) +")
# Samples of the host belong to its threads.
VMM = re.compile(r"(\s*VM: *\d+ +(VCPU: *\d+ +)?)?\s*qemu-system-x86 ")


def read_blocks(path):
    return open(path).read().rstrip("\n").split("\n\n")


def blocks_of_host(path):
    return [block for block in read_blocks(path) if VMM.match(block)]


def blocks_of_guests(path):
    return [block for block in read_blocks(path) if not VMM.match(block)]


def frames_of(block):
    """(address, name) of each frame, the innermost first; the name is "" if none was printed."""
    lines = [line.split(None, 1) for line in block.strip("\n").split("\n")[1:] if line.strip()]
    return [(int(line[0], 16), line[1].strip() if len(line) > 1 else "") for line in lines]


def comm_of(block):
    return ON_VCPU.sub("", block.lstrip("\n").split("\n", 1)[0]).rsplit(None, 1)[0].strip()


def place_of(block):
    """(vCPU's number, pid); the block must have them."""
    head = block.lstrip("\n").split("\n", 1)[0]
    return int(ON_VCPU.match(head)[1]), int(head.rsplit(None, 1)[1])
