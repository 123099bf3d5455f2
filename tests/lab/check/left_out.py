# SPDX-License-Identifier: GPL-2.0-or-later
"""What a comparison of call chains leaves out: it is of one form, counted, told and bounded.

A program's mappings and unwind data are read by a thread once it was sampled. Until they are there, a chain has the
innermost of the program's frames alone.

Where recordings are made (record_known.sh), they are made again for twice as long while less than three in five
chains are whole: half is what may be left out. In seven seconds that was at most 0.3 of a program's chains.
"""
from verdict import check

MOST = 1 / 2
# Samples of several vCPUs come through a ring each, and rings are drained in turns: when a process has whole chains
# on one vCPU, another may be behind by a round. What was seen were 300 of 6000.
MOST_BEHIND = 1 / 20


def from_first_whole(what, chains, user_of, is_whole, place_of, most=MOST):
    """
    Of CHAINS, in the order of time, those of each process on each vCPU from the first on that is whole: all of
    these are to be right. USER_OF tells a chain's user frames, PLACE_OF (vCPU, pid).
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
    check(len(left_out) <= most * len(chains) and behind <= MOST_BEHIND * len(chains) and not longer,
          f"{what}: {len(left_out)} of {len(chains)} chains left out, from before the program's unwind data were read "
          f"(at most {most}; {behind} of them behind other vCPUs), with one user frame; with more: {longer[:2]}")
    return kept
