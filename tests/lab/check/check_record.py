#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the results that record_host.sh left in a folder.

Shares: samples are taken by a timer, not independently, so the bound is 5 standard deviations of a
binomial share plus 0.01, for N samples. N is printed and must be at least 300.
"""
import json
import os
import re
import subprocess
import sys

from told_share import told_share
from verdict import check, exit_status

folder, scope = sys.argv[1:]
HOST_MODES, GUEST_KERNEL, GUEST_USER = (0, 1, 2, 3), 4, 5


def read(name):
    with open(f"{folder}/{name}", errors="replace") as file:
        return file.read()


def samples(name):
    """(cpumode, pid, thread, ip, time) of each sample, as stock perf reads them. For a VM's
    sample these are the VM's pid and the vCPU's thread, if list.json has it, because the
    sample's own are the guest's."""
    threads = {(vm["pid"], vcpu["number"]): vcpu["tid"]
               for vm in json.loads(read("list.json"))["vms"] for vcpu in vm["vcpus"]}
    rows = []
    for line in read(f"{name}.samples").splitlines():
        misc, pid, tid, ip, time, vm, vcpu = line.split()
        if vm != "-" and int(vcpu) < 0: # neither the vCPU nor guest processes are known
            pid, vm = vm, "-"
        if vm != "-":
            pid, tid = vm, threads.get((int(vm), int(vcpu)), f"{vm}/{vcpu}")
        rows.append((int(misc, 16) & 7, int(pid), tid if vm != "-" else int(tid),
                     int(ip, 16), int(time)))
    return rows


def said(name):
    """The numbers in the summary: written, guest kernel, guest user, host, lost, not written."""
    found = re.search(r"wrote \S+: [\d.]+ MB, (\d+) samples "
                      r"\(guest kernel (\d+), guest user (\d+), host (\d+)\), "
                      r"(\d+) lost; (?:of the host )?(\d+) not written", read(f"{name}.err"))
    check(found is not None, f"{name}: it ends with a summary")
    told, size = (re.search(r"wrote \S+: ([\d.]+) MB", read(f"{name}.err")),
                  os.path.getsize(f"{folder}/{name}.data"))
    check(told and abs(float(told[1]) - size / 1e6) < 0.001,
          f"{name}: it reports its size: {told and told[1]} of {size / 1e6:.3f} MB")
    return [int(number) for number in found.groups()] if found else [0] * 6


def check_share(name, count, total, share):
    bound = 5 * (share * (1 - share) / max(total, 1)) ** 0.5 + 0.01
    got = count / max(total, 1)
    check(total >= 300 and abs(got - share) <= bound,
          f"{name}: share {got:.3f} of {total} samples, expected {share} +-{bound:.3f}")


def functions(path):
    """Returns: name -> (start, end) of a program's functions."""
    found = {}
    for line in subprocess.run(["nm", "-S", path], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        words = line.split()
        if len(words) == 4:
            found[words[3]] = (int(words[0], 16), int(words[0], 16) + int(words[1], 16))
    return found


def kernel_symbol(path, wanted):
    """The range from this symbol to the next one in kallsyms."""
    rows = sorted((int(line.split()[0], 16), line.split()[2]) for line in open(path))
    for index, (address, name) in enumerate(rows):
        if name == wanted:
            return address, next(other for other, _ in rows[index:] if other > address)
    return 0, 0


def inside(row, bounds):
    return bounds[0] <= row[3] < bounds[1]


def check_common(name, status=0):
    """perfvisor, stock perf and the recorder agree on the number of samples and their modes."""
    rows = samples(name)
    written, guest_kernel, guest_user, host, lost, dropped = said(name)
    ended = int(read(f"{name}.status"))
    check(ended == status, f"{name}: exit status {ended}" +
          ("" if ended == status else ": " + " / ".join(read(f"{name}.err").splitlines()[-5:])))
    check(len(rows) == written,
          f"{name}: stock perf reads {len(rows)} samples, {written} were written")
    modes = [sum(row[0] == GUEST_KERNEL for row in rows), sum(row[0] == GUEST_USER for row in rows),
             sum(row[0] in HOST_MODES for row in rows)]
    check(modes == [guest_kernel, guest_user, host], f"{name}: by modes {modes}")
    ips = [int(ip, 16) for ip in read(f"{name}.ips").split()]
    check(sorted(ips) == sorted(row[3] for row in rows),
          f"{name}: perfvisor script reads the same IPs")
    check(sorted(int(ip, 16) for ip in read(f"{name}.perf_ips").split()) == sorted(ips),
          f"{name}: perf script reads the same IPs")
    totals = re.search(r"Totals: (\d+) samples", read(f"{name}.report"))
    check(totals and int(totals[1]) == written + lost + dropped,
          f"{name}: the report's total includes all samples: {totals and totals[1]}")
    return rows


def check_perfs_recording():
    """perfvisor reads the same samples as stock perf from stock perf's
    recording of the same guest."""
    rows = samples("perf")
    ips = [int(ip, 16) for ip in read("perf.ips").split()]
    check(len(rows) >= 300 and len(ips) == len(rows),
          f"perf: {len(rows)} samples read by perf, {len(ips)} by perfvisor")
    check(sorted(ips) == sorted(row[3] for row in rows), "perf: perfvisor reads the same IPs")


def check_own_kernels(name, rows, guests):
    """No guest has samples in the other one's kernel: each boot has its kernel
    at another address."""
    texts = []
    for number in 1, 2:
        symbols = dict(reversed(line.split()[:3:2])
                       for line in read(f"guest{number}.kallsyms").splitlines())
        texts.append(range(int(symbols["_stext"], 16), int(symbols["_etext"], 16)))
    first, second = texts
    if first[0] in second or second[0] in first:
        print(f"skipped: {name}: the check by kernel addresses, because both kernels are "
              "at the same place")
        return
    for guest, own, others in (guests[0], first, second), (guests[1], second, first):
        kernel = [row for row in rows if row[1] == guest and row[3] >> 63]
        right, wrong = (sum(row[3] in text for row in kernel) for text in (own, others))
        check(right >= 0.9 * len(kernel) and len(kernel) >= 20 and not wrong,
              f"{name}: {right} of {len(kernel)} kernel samples of a guest are in its own kernel's "
              f"text (modules are elsewhere): at least 0.9 of 20; {wrong} in the other guest's")


def check_chacha(name, rows, guest2):
    """chacha has the same share in two simultaneous recordings of guest2's kernel."""
    kallsyms = f"{folder}/guest2.kallsyms"
    parts = [kernel_symbol(kallsyms, function)
             for function in ("chacha_permute", "chacha_block_generic")]
    kernels = [[row for row in some if row[1] == guest2 and row[3] >> 63]
               for some in (rows, samples("perf"))]
    begin, end = (max(min(row[4] for row in some) for some in kernels),
                  min(max(row[4] for row in some) for some in kernels))
    both = [[row for row in some if begin <= row[4] <= end] for some in kernels]
    ours, theirs = (sum(inside(row, part) for row in some for part in parts) / max(len(some), 1)
                    for some in both)
    counts = [len(some) for some in both]
    # perf's recording is the shorter one; all of it but its ends is compared.
    check(min(counts) >= 300 and counts[1] >= 0.9 * len(kernels[1]),
          f"{name}: guest2's kernel samples while both recorded: {counts[0]} of {len(kernels[0])}, "
          f"stock perf's {counts[1]} of {len(kernels[1])}: at least 300, and 0.9 of perf's")
    bound = 5 * sum(0.25 / max(count, 1) for count in counts) ** 0.5 + 0.01
    # Most of guest2's time; 0.35 was seen when two recorders' interrupts took
    # the time of a busy host.
    check(ours >= 0.2 and abs(ours - theirs) <= bound,
          f"{name}: chacha has {ours:.3f} of {counts[0]} of these; stock perf: "
          f"{theirs:.3f} of {counts[1]}; bound {bound:.3f}")


def check_workloads(name, rows, guest1, guest2):
    hot = functions(f"{folder}/user7525")
    in_a = sum(inside(row, hot["hot_a"]) for row in rows if row[1] == guest1)
    in_b = sum(inside(row, hot["hot_b"]) for row in rows if row[1] == guest1)
    # hot_a has three of four calls. Its share of the time comes from the guest's own clock, because
    # the two functions are not equally fast in emulation.
    share = told_share(read("guest1.before"), read("guest1.console"))
    check(share and 0.6 <= share <= 0.9, f"{name}: hot_a's share by guest1's own clock: {share}")
    check_share(f"{name}: hot_a of hot_a and hot_b", in_a, in_a + in_b, share or 0)
    check(all(row[0] == GUEST_USER for row in rows
              if inside(row, hot["hot_a"]) and row[1] == guest1),
          f"{name}: hot_a is always in user mode")
    user = [row for row in rows if row[1] == guest1 and row[0] == GUEST_USER]
    in_program = in_a + in_b + sum(inside(row, hot["main"]) for row in user)
    check(in_program >= 0.98 * len(user),
          f"{name}: of guest1's {len(user)} user samples {in_program} are in user7525")
    # The others are in its kernel, in timer interrupts, of which two recorders cause more.
    of_guest1 = sum(row[1] == guest1 for row in rows)
    check(len(user) >= 0.5 * of_guest1, f"{name}: guest1's user code: {len(user)} of {of_guest1}")
    check_own_kernels(name, rows, (guest1, guest2))
    check_chacha(name, rows, guest2)
    high_user = sum(row[0] == GUEST_USER and row[3] >> 63 for row in rows)
    check(high_user == 0, f"{name}: user samples at kernel addresses: {high_user}")
    report = read(f"{name}.report")
    check(re.search(r"guest1\s+guest user", report) and re.search(r"guest2\s+guest kernel", report),
          f"{name}: the report distinguishes the guests by name")


def check_tracepoints(name):
    """Samples with a fixed period: every one that is due by the kernel's counts
    was taken or lost."""
    rows = samples(name)
    written, _, _, _, lost, dropped = said(name)
    found = re.search(r"(\d+) samples were due according to the kernel's counts",
                      read(f"{name}.err"))
    due = int(found[1]) if found else -1
    check(due == written + dropped + lost, f"{name}: due {due}, written {written}, lost {lost}")
    check(len(rows) == written > 0, f"{name}: stock perf reads {len(rows)}")
    return lost


def vcpu_threads():
    """Of each guest its vCPU 0: the guests have put the other one offline."""
    return {vcpu["tid"]: vm for vm in json.loads(read("list.json"))["vms"] for vcpu in vm["vcpus"]
            if vcpu["number"] == 0}


def check_shares():
    guest1, guest2 = (int(pid) for pid in read("pids").split())
    rows = check_common("two")
    threads = vcpu_threads()
    check({row[2] for row in rows} == set(threads),
          f"two: only the threads of online vCPUs {sorted(threads)}")
    check(all(row[0] in (GUEST_KERNEL, GUEST_USER) for row in rows), "two: guest samples only")
    check_workloads("two", rows, guest1, guest2)


def check_kernel_ids():
    """Of guests that run the host's kernel, whose id is in its /sys/kernel/notes."""
    ids = {name: found for found, name in (line.split() for line in
                                           read("build_ids").splitlines())}
    found = [ids.get(f"[guest.kernel.kallsyms.{pid}]") for pid in read("same_kernel").split()]
    if not found:
        print("skipped: two: build-ids of guests' kernels, because none is the host's kernel")
        return
    check(all(one and len(one) == 40 and one in read("notes") for one in found),
          f"two: perf buildid-list shows the build-ids of {len(found)} guest kernels")


def check_host():
    check(read("perf_report.status").strip() == "0", "two: perf kvm --guest report reads it")
    check_kernel_ids()
    rows = check_common("host")
    check(all(row[0] in HOST_MODES for row in rows) and rows,
          f"host: {len(rows)} host samples only")
    rows = check_common("both")
    check({row[0] for row in rows} & set(HOST_MODES) and {row[0] for row in rows} & {GUEST_USER},
          "both: host and guest samples")
    check_common("tracepoint")
    check(check_tracepoints("tracepoint") == 0, "tracepoint: nothing lost")
    text = read("tracepoint.text")
    check(re.search(r"kvm:kvm_exit: vcpu \d+ reason \S+ rip 0x", text),
          "tracepoint: perf script prints fields")
    check(check_tracepoints("lost") > 0, "lost: some samples were lost")
    check("limit of locked memory" in read("lost.err"), "lost: a message explains the small rings")


def costs_at(look):
    """What record_host.sh wrote at a look: {what: number}, and of threads {tid: ns that it ran}."""
    words = [line.split() for line in read(f"budget.{look}").splitlines()]
    return ({word[0].rstrip(":"): float(word[1]) for word in words if len(word) == 2} |
            {int(word[1]): int(word[2]) for word in words if len(word) == 3})


def check_budget():
    """Compares the BPF program's cost with the kernel's accounting, and the
    periods with the vCPU's time.

    Three times in a row: an emulated CPU that waits for a real one makes a program seem
    long, and loses ticks. What the rate was lowered to holds for all three, so a rate that
    is wrong is wrong in each.
    """
    looks = [costs_at(look) for look in range(4)]
    changes = [(int(now), int(then)) for now, then in
               re.findall(r"sampling at (\d+) Hz: at (\d+) Hz it took", read("budget.err"))]
    check(changes and changes[0][1] == 997 and all(now < then for now, then in changes) and
          all(a[0] == b[1] for a, b in zip(changes, changes[1:])),
          f"budget: the rate comes down: {changes}")
    shares = [(after["run_time_ns"] - before["run_time_ns"])
              / (after["uptime"] - before["uptime"]) / 1e9
              for before, after in zip(looks, looks[1:])]
    # The recorder's next check may be half a second away, and the cost varies.
    check(0 < min(shares) <= 0.015,
          f"budget: then it takes {[round(share, 4) for share in shares]} of a core, by the "
          "kernel; 0.01 was allowed")
    found = re.search(r"took its vCPU's thread (\d+) ns \(p50\), (\d+) ns \(p99\), "
                      r"(\d+) ns on average", read("budget.err"))
    p50, p99, average = map(int, found.groups()) if found else (0, 0, 0)
    kernels = looks[-1]["run_time_ns"] / looks[-1]["run_cnt"]
    check(0 < p50 <= p99 and kernels / 2 <= average <= kernels * 2,
          f"budget: {average} ns a sample, p50 {p50}, p99 {p99}; {kernels:.0f} by the kernel")
    rows = [(float(time.rstrip(":")), int(period)) for time, period in
            (line.split() for line in read("budget.periods").splitlines() if line)]
    allowed = {10**9 // 997} | {10**9 // now for now, _ in changes}
    check({period for _, period in rows} <= allowed,
          f"budget: samples have the periods {sorted(allowed)}")
    threads = vcpu_threads()
    ratios = []
    for before, after in zip(looks, looks[1:]):
        ran = sum(after[tid] - before.get(tid, 0) for tid in after if tid in threads)
        ratios.append(sum(period for time, period in rows
                          if before["uptime"] <= time < after["uptime"]) / ran)
    check(0.7 <= max(ratios) <= 1.1,
          f"budget: samples stand for {[round(ratio, 2) for ratio in ratios]} of the vCPU's "
          "time: 0.7 to 1.1")


def check_side():
    guest1, guest2 = (int(pid) for pid in read("pids").split())
    rows = check_common("side")
    first, second = int(read("first.pid")), int(read("second.pid"))
    for name, pid in (("guest1", guest1), ("guest2", guest2), ("a VM that ends", first),
                      ("a VM that starts later", second)):
        count = sum(row[1] == pid for row in rows)
        check(count >= 100, f"side: {name}: {count} samples")
    last = [row[1] for row in rows[-200:]]
    check(guest1 in last and first not in last, "side: it continues when a VM has ended")


def check_busy():
    rows = check_common("many")
    text = read("many.err")
    busy = [int(pid) for pid in read("busy.pids").split()]
    check(re.search(r"recording 302 VMs", text), "many: 300 tinyvms and two guests")
    check("an event per CPU, filtered by BPF" in text, "many: by an event per CPU")
    for pid in busy:
        count = sum(row[1] == pid for row in rows)
        check(count >= 50, f"many: a busy VM has {count} samples")
    rows = samples("plain")
    check(len(rows) == said("plain")[0] > 0 and
          "an event per CPU, filtered by thread" in read("plain.err"), "plain: without BPF")
    strangers = ({row[1] for row in rows}
                 - {vm["pid"] for vm in json.loads(read("many.json"))["vms"]})
    check(not strangers, f"plain: samples of VMs only: {strangers}")
    rows = samples("many")
    threads = len({row[2] for row in rows})
    check(threads > 2, f"many: samples of {threads} threads")


def check_rights():
    guest1 = int(read("pids").split()[0])
    vcpus = {tid for tid, vm in vcpu_threads().items() if vm["pid"] == guest1}
    for name in ("least", "debugfs", "unknown"):
        rows = samples(name)
        check(int(read(f"{name}.status")) == 0 and len(rows) == said(name)[0] and
              {row[2] for row in rows if row[0] in (GUEST_KERNEL, GUEST_USER)} == vcpus,
              f"{name}: {len(rows)} samples, guests' of the vCPUs only")
    check("which threads are vCPUs is not known" in read("unknown.err"),
          "unknown: a message says so")
    check(int(read("no_numbers.status")) == 1 and "none can be chosen" in read("no_numbers.err"),
          "no_numbers: an error says why --vcpu finds none")
    check(int(read("level3.status")) == 1 and "requires CAP_SYS_ADMIN" in read("level3.err"),
          "level3: a message says what Debian's kernel needs")
    check(int(read("none.status")) == 1 and "perf_event_paranoid" in read("none.err") and
          "run as root" in read("none.err"), "none: a message says what is missing")


def check_parts():
    rows, thread = check_common("chosen", 143), int(read("chosen.thread"))
    check({row[2] for row in rows} == {thread},
          f"chosen: {len(rows)} samples, of thread {thread} only")
    size = os.path.getsize(f"{folder}/chosen.data")
    check("has reached --max-size 700K" in read("chosen.err") and size >= 700 << 10,
          f"chosen: it ends with {size} bytes")
    delay = min((row[4] for row in rows), default=0) / 1e9 - float(read("chosen.begin"))
    # The delay begins before the command does, which may take its time on a busy machine.
    check(delay >= 1, f"chosen: {delay:.2f} s after the command looked at the clock: at least half "
          "of 2 s")
    check("rings of 8 KiB" in read("chosen.err"), "chosen: its rings have two pages")
    check("recording 1 VM (guest1), 2 vCPU threads" in read("both_vcpus.err"), "both_vcpus: two")
    check(int(read("no_vcpu.status")) == 1 and "no vCPU has the number" in read("no_vcpu.err"),
          "no_vcpu: an error")


def check_life():
    check_parts()
    check_side()
    rows = check_common("named")
    check(len(rows) > 100, f"named: {len(rows)} samples, and it ended by itself")
    check_killed()
    check_common("command", 3)
    check(int(read("missing.status")) == 1
          and "could not run the command '/no/such/command'" in read("missing.err"),
          "missing: a command that does not exist")
    check(int(read("unwritable.status")) == 1 and "could not" in read("unwritable.err") and
          len(read("unwritable.err").splitlines()) <= 4, "unwritable: one reason")
    check_common("signal", 128 + 15)  # the signal was perfvisor's alone; it ends the command
    check_busy()


def check_nothing_unnamed(name):
    names = read(f"{name}.names")
    check("qemu-system" not in names, f"{name}: no VM has the name of a process")
    unnamed = sum(float(row.split("%")[0]) for row in names.splitlines() if "[g] 0x" in row)
    check(unnamed < 5,
          f"{name}: {unnamed} % of the samples are of a kernel's addresses without names")


def check_names(name):
    """Both VMs have their names, and what runs in them has, too."""
    names = read(f"{name}.names")
    check(re.search(r"^ .* guest1 +\[u\] hot_[ab]$", names, re.M),
          f"{name}: guest1's function has its name: {names[:1500]}")
    check(re.search(r"^ .* guest2 +\[g\] [a-z_]", names, re.M),
          f"{name}: guest2's kernel has names: {names[:1500]}")
    check_nothing_unnamed(name)


def check_killed():
    """Whatever the moment, what is there can be read, by both readers, and has names."""
    check(len(samples("killed")) > 100, f"killed: {len(samples('killed'))} samples are readable")
    check_names("killed")
    there = [name for name in ["killed"] + [f"random{number}" for number in range(1, 4)]
             if os.path.exists(f"{folder}/{name}.data")]
    for name in there:
        ips = [int(ip, 16) for ip in read(f"{name}.ips").split()]
        check(sorted(ips) == sorted(row[3] for row in samples(name)),
              f"{name}: both readers read the same {len(ips)} samples")
        check(re.search(r"was cut off at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, [\d.]+ s after it began",
                        read(f"{name}.names")),
              f"{name}: it is said to be cut off, and when: {read(f'{name}.names')[:300]}")
        check_nothing_unnamed(name)
    check_names("piped")
    ips = read("piped.ips").split()
    check(len(ips) > 100 and sorted(ips) == sorted(read("piped.perf_ips").split()),
          f"piped: {len(ips)} samples, by both readers")
    check("from the command" in read("piped.err") and "cut off" not in read("piped.names"),
          "piped: the recording alone")


def check_views():
    """More guests than perfvisor looks at at a time: each has names, and
    processes with their files."""
    names = read("views.names")
    said = read("views.err")
    check(said.count(" runs Linux ") == 2,
          "views: two kernels were read: " + said[-1000:].replace("\n", " / "))
    check(re.search(r"guest1\s+user7525\s+user7525\s+\[u\] hot_[ab]\b", names),
          "views: guest1's process has its file, which was read after guest2's kernel")
    check(re.search(r"guest2\s+reader\s.*\[g\] chacha_permute\b", names),
          "views: guest2's has its kernel")


def check_top():
    """The first row of each guest in the screens of top, of which one has both names."""
    rows = [[re.search(rf"%  {guest}  .*", screen) for guest in ("guest1", "guest2")]
            for screen in read("top.txt").split(" samples in ")]
    both = [(first[0].split(), second[0].split()) for first, second in rows if first and second]
    check((["%", "guest1", "user7525", "user7525", "[u]", "hot_a"],
           ["%", "guest2", "reader", "[guest.kernel.kallsyms]", "[g]", "chacha_permute"]) in both,
          f"top: what keeps the guests busy comes first: {both}")
    check(read("top.status") == "0\n" and read("top.err") == "" and read("top.left") == "",
          f"top ends, and its recorder: {read('top.status')}{read('top.err')}{read('top.left')}")


check_shares()
check_perfs_recording()
if scope != "shares":
    check_host()
    check_top()
    check_budget()
if scope == "all":
    check_rights()
    check_views()
    check_life()
sys.exit(exit_status())
