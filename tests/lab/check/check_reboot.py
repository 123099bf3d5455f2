#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest reboots and its kernel moves: each name must be from the boot in
which the sample was taken.

chacha_permute is a page-aligned loop of less than 4 KiB; the guest reports its address in each
boot. A sample in it may have no name if it was taken before perfvisor noticed the new kernel.
"""
import re
import sys

from script_text import comm_of, frames_of, read_blocks
from verdict import check, exit_status

folder = sys.argv[1]


def contacts_of(said):
    return re.findall(r" runs Linux \S+, (.*);", said)


with open(f"{folder}/truth") as file:
    truth = file.read()
boots = [(int(pid), int(address, 16))
         for pid, address in re.findall(r"TRUTH reader (\d+) ([0-9a-f]{16})", truth)]
check(len(boots) >= 2, f"the guest booted {len(boots)} times")
check("TRUTH module virtio_blk" in truth, "it reloaded a module")
check(boots[0][1] != boots[1][1],
      f"its kernel was at another address: {[hex(address) for _, address in boots]}")

rows = []
with open(f"{folder}/script") as file:
    for line in file:
        found = re.match(r"\s*(.+?)\s+(-?\d+)\s+([\d.]+):\s+([0-9a-f]+) (\S+)", line)
        check(found is not None, f"a line that cannot be parsed: {line!r}") if not found else None
        if found:
            comm, pid, time, ip, name = found.groups()
            rows.append((comm, int(pid), float(time), int(ip, 16), name))
named = [row for row in rows if row[4].startswith("chacha_permute")]
for number, (pid, address) in enumerate(boots[:2]):
    inside = range(address, address + 0x200)
    mine = [row for row in rows if row[3] in inside]
    right = sum(row[4].startswith("chacha_permute") for row in mine)
    wrong = [row[4] for row in mine if not row[4].startswith(("chacha_permute", "[unknown]"))]
    unnamed = [i for i, row in enumerate(mine) if row[4].startswith("[unknown]")]
    check(right >= 50,
          f"boot {number + 1}: {right} of {len(mine)} samples in chacha_permute have its name")
    check(len(unnamed) <= 0.25 * len(mine),
          f"boot {number + 1}: {len(unnamed)} of {len(mine)} left out, which have none, because "
          "the new kernel was not noticed yet: at most a quarter")
    check(not wrong, f"boot {number + 1}: none has another name: {wrong[:5]}")
    of_reader = sum(row[0] == "reader" and row[1] == pid for row in mine)
    check(of_reader >= 50 and all(row[1] in (pid, -1) or row[0] != "reader" for row in mine),
          f"boot {number + 1}: {of_reader} of them belong to reader in this boot")
elsewhere = [row for row in named
             if not any(address <= row[3] < address + 0x1000 for _, address in boots)]
check(not elsewhere, f"no other sample has that name: {elsewhere[:3]}")
text = open(f"{folder}/err").read()
check(text.count("symbols now") >= 3,
      f"symbols were read {text.count('symbols now')} times: boot, module, boot")
contacts = contacts_of(text)
check(contacts[:1] == ["already known"],
      f"its kernel was in the cache before the recording: {contacts}")
# The first recorder to read the new kernel caches it for the other.
then = contacts[1:] + contacts_of(open(f"{folder}/ended.err").read())
check(len(then) == 2 and "new" in then, f"the kernel of the second boot was not: {then}")

text = open(f"{folder}/ended.err").read()
check(open(f"{folder}/ended.status").read() == "0\n" and "perfvisor: wrote " in text,
      f"the recorder ended with the guest: {text.splitlines()[-1]}")
blocks = read_blocks(f"{folder}/ended")
perfs = read_blocks(f"{folder}/ended.perf")
check(len(blocks) >= 500 and len(blocks) == len(perfs),
      f"{len(blocks)} samples are readable, {len(perfs)} by stock perf")
chains = [" ".join(name for _, name in frames_of(block))
          for block in blocks if comm_of(block) == "reader"]
reading = [chain for chain in chains if chain.startswith("chacha_")]
whole = [chain for chain in reading
         if re.search("get_random_bytes_user .*vfs_read ksys_read .*do_syscall_64 "
                      "entry_SYSCALL_64", chain)]
check(len(whole) >= 100 and len(whole) >= 0.99 * len(reading),
      f"{len(whole)} of {len(reading)} chains in reader's read are complete")
sys.exit(exit_status())
