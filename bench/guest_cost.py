# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of recording: for the guest, for the recorder and for the disk.

The guest: how much work a lab guest with one vCPU completes per second while it is not recorded,
recorded with the default budget, recorded without a budget, and recorded by stock perf without call
chains, in turns. In the lab's emulation a sample costs a hundred times as much as on hardware. So
does the exit from the guest for the sample's interrupt, which no profiler can avoid and which the
budget does not include. The CPU time that the recorder's own processes take on another core is
printed, too.

The recorder: how many chains per second one core can unwind and write, and how many samples are
lost at 20 kHz, fed from a replay of the saved guests' stacks (replay_chains.c).

The disk: bytes per sample, for the lab's guest and for the replay, compared with perf record
--call-graph dwarf. That does the same for host programs, but writes the copy of the stack (8 KiB)
that perfvisor unwinds.
"""
import os
import re
import shutil
import statistics
import struct
import subprocess

import guest_contact
import guest_unwind

ROUNDS = 3
SECONDS = 5

# Prints a line on the console for each piece of work, which takes about 20 ms.
WORKLOAD = """\
# SPDX-License-Identifier: GPL-2.0-or-later
while :; do
    dd if=/dev/urandom of=/dev/null bs=64k count=8 2>/dev/null
    echo WORK >/dev/console
done
"""

HOST = r"""
guest=/run/lab/guest1
work() {
    grep -ac WORK $guest/console.log
}
# CPU time of the recorder and its children, in ticks of 10 ms
ticks() {
    sum=0
    for pid in $recorder ${recorder:+$(cat /proc/$recorder/task/*/children)}; do
        sum=$((sum + $(sed 's/.*) //' /proc/$pid/stat 2>/dev/null |
            awk '{ t = $12 + $13 } END { print t + 0 }')))
    done
    echo $sum
}
# NAME COMMAND…: the work done while COMMAND runs, the microseconds, and the recorder's ticks
measure() {
    name=$1
    shift
    recorder=
    if [ $# != 0 ]; then
        "$@" 2>/tmp/cost.err &
        recorder=$!
        for _ in $(seq 300); do
            grep -q '^perfvisor: recording' /tmp/cost.err && break
            [ "$1" = perf ] && break
            sleep 0.2
        done
        sleep 4 # until the guest has been read, and the budget has had its effect
    fi
    begin=${EPOCHREALTIME/./} before=$(work) used=$(ticks)
    sleep SECONDS
    echo "$name $(($(work) - before)) $((${EPOCHREALTIME/./} - begin)) $(($(ticks) - used))" \
        >>$OUT/work
    if [ "$recorder" ]; then
        kill -INT $recorder
        wait $recorder
        sed "s/^/$name: /" /tmp/cost.err >>$OUT/said
    fi
}
for _ in $(seq ROUNDS); do
    measure off
    measure budget perfvisor record -v -g -o /tmp/cost
    measure all perfvisor record -v -g --max-overhead 100 -o /tmp/cost
    measure perf perf record -q -e cpu-clock -F 999 -p $(cat $guest/pid) -o /tmp/perf
done
cp /tmp/cost $OUT/recording
"""


def record_guest(root, folder):
    shutil.rmtree(folder, ignore_errors=True)
    workload, host = folder + ".workload", folder + ".host"
    with open(workload, "w") as file:
        file.write(WORKLOAD)
    with open(host, "w") as file:
        file.write(HOST.replace("SECONDS", str(SECONDS)).replace("ROUNDS", str(ROUNDS)))
    with open(os.path.join(root, "build/bench/lab.log"), "w") as log:
        result = subprocess.run(
            [os.path.join(root, "lab/run"), "--guest-cpus", "1", "--guest-workload", workload,
             "--add", host + ":/root/cost.sh", "--", "bash", "/root/cost.sh"],
            env=dict(os.environ, OUT=folder), stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    if result.returncode:
        raise SystemExit(f"bench: the lab could not record a guest: {log.name}")


def show_guest(folder, say):
    rates, used = {}, {}
    with open(os.path.join(folder, "work")) as lines:
        for name, done, us, ticks in (line.split() for line in lines):
            rates.setdefault(name, []).append(int(done) / int(us) * 1e6)
            used.setdefault(name, []).append(int(ticks) * 1e4 / int(us))
    with open(os.path.join(folder, "said")) as file:
        said = file.read()
    off = statistics.median(rates["off"])
    say(f"\na guest's work while it is recorded, in emulation, medians of {ROUNDS}, "
        f"load {os.getloadavg()[0]:.1f}")
    say(f"  {'':<24} {'pieces/s':>8} {'of unrecorded':>13} {'least, most':>12} "
        f"{'recorder, cores':>15} {'last Hz':>8} {'ns/sample':>9}")
    for name, text in (("off", "not recorded"), ("budget", "-g, the default budget"),
                       ("all", "-g --max-overhead 100"), ("perf", "stock perf, no chains")):
        rate = statistics.median(rates[name])
        hz = re.findall(rf"^{name}: .*sampling at (\d+) Hz", said, re.M)
        cost = re.findall(rf"^{name}: .*, (\d+) ns on average", said, re.M)
        spread = f"{min(rates[name]) / off:.2f}, {max(rates[name]) / off:.2f}"
        say(f"  {text:<24} {rate:8.1f} {rate / off:13.3f} {spread:>12} "
            f"{statistics.median(used[name]):15.2f} "
            + (f"{hz[-1] if hz else '999':>8} "
               f"{statistics.median(map(int, cost)):9.0f}" if cost else ""))


def data_bytes(path):
    """The size of the data section; symbols and other features do not grow with the samples."""
    with open(path, "rb") as file:
        return struct.unpack_from("<Q", file.read(56), 48)[0]


def bytes_per_sample(perfvisor, path):
    header = subprocess.run([perfvisor, "report", "-i", path, "--sort", "mode"],
                            capture_output=True, text=True, check=True).stdout
    return data_bytes(path) / int(re.search(r"^# Totals: (\d+) samples", header, re.M).group(1))


def perf_dwarf_bytes(perfvisor, folder):
    path = os.path.join(folder, "dwarf.data")
    program = "my %h; for my $i (1 .. 2000000) { $h{$i % 997} += sqrt $i }"
    try:
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "997",
                        "--call-graph", "dwarf", "-o", path, "--", "perl", "-e", program],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return None
    size = bytes_per_sample(perfvisor, path)
    os.unlink(path)
    return size


def measure(root, perfvisor, say, runs):
    bench = os.path.join(root, "build/bench")
    folder = os.path.join(bench, "cost")
    record_guest(root, folder)
    show_guest(folder, say)

    replay = guest_unwind.build(root, "replay_chains")
    out = os.path.join(bench, "replay.data")
    say(f"\na recorder fed with the saved guests' kernel stacks, CPU time of one thread, "
        f"medians of {runs} runs, load {os.getloadavg()[0]:.1f}")
    say(f"  {'its kernel':<22} {'chains/s':>9} {'bytes/sample':>12} {'complete':>8}   at 20 kHz: "
        f"{'samples':>8} {'lost':>6} {'of a core':>9}")
    for series in guest_contact.SERIES:
        rate, size, complete, fed, lost, core = guest_unwind.unwind(
            runs, replay, os.path.join(root, "build/cache/guest-images", series), out)
        say(f"  {series:<22} {rate:9.0f} {size:12.1f} {complete:8.3f}              "
            f"{fed:8.0f} {lost:6.0f} {core:9.3f}")
    for name in (out, out + ".old"):
        if os.path.exists(name):
            os.unlink(name)

    ours = bytes_per_sample(perfvisor, os.path.join(folder, "recording"))
    perfs = perf_dwarf_bytes(perfvisor, bench)
    say("\nbytes on disk for a sample with its call chain, without symbols and other features")
    say(f"  perfvisor, kernel and user chains of the lab's guest: {ours:.0f}")
    if perfs:
        say(f"  perf record --call-graph dwarf, of a host program: {perfs:.0f}, "
            f"{perfs / ours:.0f} times as much")
