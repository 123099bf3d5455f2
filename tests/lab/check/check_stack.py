#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares perfvisor stack --tasks with the guest's own /proc/PID/stack, frame by
frame; and perfvisor stack, that is, what the vCPUs run, with the source of a program
and what is known about the load.

Threads are compared that did not run between one of the guest's rounds before and one after
perfvisor's run: their numbers of context switches are equal. The stacks of all these
threads must be equal, too.
"""
import json
import re
import sys

from verdict import check, exit_status

folder = sys.argv[1]


def read(name):
    with open(f"{folder}/{name}", errors="replace") as file:
        return file.read()


def guest_round(number):
    """tid -> (frames, context switches)"""
    text = re.search(rf"^ROUND {number}\s*$(.*?)^END {number}\s*$", read("told.log"), re.M | re.S)
    threads, frames, counts, last = {}, [], [], None
    for line in text.group(1).splitlines():
        words = line.split()
        if len(words) == 1 and words[0].isdigit():
            counts.append(int(words[0]))
            if len(counts) == 2:
                # An empty stack prints no line; then it is not known whose counts these are.
                if last:
                    threads[last] = (frames, counts)
                frames, counts, last = [], [], None
        elif words:
            last = int(words[0].split("/")[4])
            frames.append(" ".join(words[1:]))
    return threads


def perfvisor_stacks():
    """tid -> (heading, frames)"""
    stacks = {}
    for block in read("stacks").strip().split("\n\n"):
        heading, *frames = block.splitlines()
        tid = int(re.match(r"\d+/(\d+) ", heading).group(1))
        stacks[tid] = (heading, [frame.strip() for frame in frames])
    return stacks


before, after = map(int, read("rounds").split())
first, second = guest_round(before), guest_round(after)
still = {tid for tid in first if second.get(tid) == first[tid]}
stacks = perfvisor_stacks()
wrong = [(stacks.get(tid), first[tid][0]) for tid in sorted(still)
         if tid not in stacks or stacks[tid][1] != first[tid][0]]
for ours, guests in wrong[:5]:
    print("     perfvisor:", ours, "\n     guest:    ", guests)
check(len(still) >= 40 and len(still) >= 0.5 * len(first),
      f"{len(first) - len(still)} of {len(first)} threads left out, which ran in the meantime: "
      f"at most half; {len(still)} did not run")
check(not wrong, f"{len(still) - len(wrong)} of them have the same frames as in the guest")
frames = sum(len(first[tid][0]) for tid in still)
check(frames >= 3 * len(still), f"{frames} frames")

of_users = [heading for tid, (heading, _) in stacks.items() if tid in still and "[" not in heading]
for wanted in (r"S (busybox|sleep)$", r"S dd$", r"S (busybox|cat)$",
               r"T user7525$", r"T user32$", r"T dynamic$"):
    check(any(re.search(wanted, heading) for heading in of_users), f"among them '{wanted}'")
in_fuse = [frame for tid in still for frame in first[tid][0]
           if frame.startswith("fuse_dev_do_read")]
of_module = "[fuse]" in read("fuse")  # built in, in some kernels
check(in_fuse and all(("[fuse]" in frame) == of_module for frame in in_fuse),
      f"one sleeps in fuse{', a module' if of_module else ''}")

tasks = json.loads(read("stacks.json"))
by_tid = {task["tid"]: task for task in tasks}
ends = {task["end"] for task in tasks if task["stack"] == "asleep"}
check(ends == {"complete"}, f"all chains are complete: {ends}")
running = [task for task in tasks if task["stack"] == "running"]
# Threads are read one after another, so more of them than vCPUs may have been running.
check(all(task["tid"] not in still for task in running),
      f"running: {[task['comm'] for task in running]}, none of those that did not run")
check(all(task["state"] == "R" or task["comm"] != "reader" for task in running),
      "running threads are in state R")
check(any(task["comm"] == "reader" and task["state"] == "R" for task in tasks),
      "reader is running or runnable")
flat = {tid: ["%s+0x%x/0x%x%s" % (frame["function"], frame["offset"], frame["bytes"],
                                   f" [{frame['module']}]" if frame["module"] else "")
              for frame in by_tid[tid]["frames"] if not frame["waiting"]] for tid in still}
check(all(flat[tid] == stacks[tid][1] for tid in still), "JSON: the same frames")
check(all(by_tid[tid]["frames"][0]["waiting"] or first[tid][0][:1] == flat[tid][:1]
          for tid in still),
      "JSON: has frames of the scheduler, too")
check({task["tid"] for task in json.loads(read("ps.json"))} >= still, "each thread is in ps")


def vcpus():
    """What the vCPUs ran, in all runs of perfvisor."""
    decoder, text, items = json.JSONDecoder(), read("vcpus.json").strip(), []
    while text:
        item, end = decoder.raw_decode(text)
        items += item
        text = text[end:].strip()
    return items


def functions(vcpu):
    return [frame["function"] for frame in vcpu["frames"]]


looks = vcpus()
chains = [vcpu for vcpu in looks if "frames" in vcpu]
check(len(chains) >= 0.9 * len(looks), f"{len(chains)} of {len(looks)} vCPU states have a chain")
# Unwind data are missing for parts of busybox, and for blake2s in Linux 5.10, but for nothing else.
whole = [vcpu for vcpu in chains if vcpu["end"] == "complete" or vcpu["end"] == "no unwind data" and
         (vcpu["frames"][-1]["user"] or functions(vcpu)[-1].startswith("blake2s_compress")) and
         vcpu["end_address"] == vcpu["frames"][-1]["address"]]
odd = [(vcpu["end"], vcpu.get("end_address"), functions(vcpu))
       for vcpu in chains if vcpu not in whole]
check(not odd, f"{len(whole)} of them are complete, or end in such code {odd[:2]}")
start = ["main", "__libc_start_call_main", "__libc_start_main_impl", "_start"]


def user_frames(vcpu):
    return [frame for frame in vcpu["frames"] if frame["user"]]


# In its own code, or in an interrupt of it.
known = [vcpu for vcpu in whole if vcpu.get("comm") == "user7525" and
         user_frames(vcpu)[:1] and user_frames(vcpu)[0]["function"] in ("hot_a", "hot_b", "main")]
right = [vcpu for vcpu in known
         if [frame["function"] for frame in user_frames(vcpu)]
         in (start, ["hot_a"] + start, ["hot_b"] + start)
         and all(frame["module"] == "/lab/bin/user7525" for frame in user_frames(vcpu))
         and vcpu["vcpu"] == 0 and vcpu["stack"] == "running" and vcpu["end"] == "complete"]
check(known and right and len(right) == len(known),
      f"{len(right)} of {len(known)} in user7525 are its source's chain")
in_kernel = [functions(vcpu) for vcpu in whole if vcpu["vcpu"] == 1 and vcpu["mode"] == "kernel"
             and vcpu.get("comm") == "reader"]
check(any("vfs_read" in names and any(name and name.startswith("entry_SYSCALL") for name in names)
          for names in in_kernel), f"{len(in_kernel)} in the kernel under reader; some in its read")
halted = [vcpu for vcpu in chains if vcpu["stack"] == "halted"]
idle = [vcpu for vcpu in halted if vcpu.get("comm", "").startswith("swapper/") and vcpu["tid"] == 0
        and "cpu_startup_entry" in functions(vcpu) and vcpu["end"] == "complete"]
check(halted and len(idle) == len(halted),
      f"{len(idle)} of {len(halted)} halted vCPUs are in the idle task")
addresses = {int(line.split()[0], 16): line.split()[2] for line in read("kallsyms").splitlines()}
placed = [frame for vcpu in chains for frame in vcpu["frames"]
          if not frame["user"] and frame["function"] and not frame["module"]]
check(placed and all(int(frame["address"], 16) - frame["offset"] in addresses for frame in placed),
      f"the offsets of {len(placed)} kernel frames are from symbols of the guest")
text = read("vcpus.text")
check(re.search(r"^vCPU 0: (running|halted|not running|kept running)", text, re.M) and
      re.search(r"^vCPU 1: running, \d+/\d+ reader, in (kernel|user) mode\n        \S+\+0x",
                text, re.M),
      "as text: " + " / ".join(text.splitlines())[:400])
check([vcpu["vcpu"] for vcpu in json.loads(read("vcpu1.json"))] == [1], "--vcpu 1 prints one vCPU")
check("has no vCPU 2" in read("vcpu2.error") and "its vCPUs are 0, 1" in read("vcpu2.error"),
      f"a third vCPU is an error that names the others: {read('vcpu2.error')}")
sys.exit(exit_status())
