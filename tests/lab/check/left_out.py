# SPDX-License-Identifier: GPL-2.0-or-later
"""The chains that a comparison leaves out: they have a known form, are counted and
printed, and have a limit.

A thread reads a program's mappings and unwind data after its first sample. Until they are read, a
chain has only the innermost of the program's frames.

Recordings are repeated for twice as long (record_known.sh) if less than three in five chains are
complete; a comparison may leave out half. In seven seconds, at most 0.3 of a program's chains were
left out.
"""
from verdict import check

MOST = 1 / 2
# Each vCPU has a ring, and rings are drained in turns: when a process has complete chains on one
# vCPU, another may be behind by one round. 300 of 6000 were seen.
MOST_BEHIND = 1 / 20


def from_first_whole(what, chains, user_of, is_whole, place_of, most=MOST):
    """
    Returns the part of CHAINS (in the order of time) that has to be right: for each process on each
    vCPU, its first complete chain and all later ones. USER_OF returns a chain's user frames,
    PLACE_OF its (vCPU, pid).
    """
    kept, left_out, behind, begun = [], [], 0, set()
    for chain in chains:
        place = place_of(chain)
        if is_whole(chain):
            begun.add(place)
        if place in begun:
            kept.append(chain)
        else:
            left_out.append(chain)
            behind += any(pid == place[1] for _, pid in begun)
    longer = [user_of(chain) for chain in left_out if len(user_of(chain)) > 1]
    check(len(left_out) <= most * len(chains) and behind <= MOST_BEHIND * len(chains)
          and not longer,
          f"{what}: {len(left_out)} of {len(chains)} chains left out, from before the program's "
          f"unwind data were read (at most {most}; {behind} of them behind other vCPUs), "
          f"with one user frame; with more frames: {longer[:2]}")
    return kept
