#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tinyvm in the lab. The unikernel's own counts are as documented, and stock perf's samples are
# distributed over its functions in the shares that its own clock measured. Shares refer to all
# samples in hot functions; the bound is 4 standard deviations of a binomial share, with at least
# 2,000 samples (share 0.75: +-0.039). Callers of hot functions have at most 2%, everything else 1%.
# perfvisor's call chains are those of the unikernel's source, with and without frame pointers; with
# a wrong file or none there are no callers. Also: SIGTERM and SIGINT, unexpected exits, 300 VMs at
# once.
set -u
. tests/lab/in_lab.sh
folder=build/release/lab/tinyvm
[ "$(uname -m)" = x86_64 ] || { echo "tinyvm is for x86-64 only"; exit 77; }
command -v qemu-system-x86_64 >/dev/null || { echo "no qemu-system-x86_64: make setup"; exit 77; }
[ -x "$folder/tinyvm" ] || { echo "no $folder/tinyvm: run make"; exit 1; }
work=build/lab/tinyvm
rm -rf "$work"
mkdir -p "$work"

# One starts with HLT; the other with UD2, before there is an interrupt table.
python3 tests/cli/elf_edit.py "$folder/unikernel.elf" "$work/halt.elf" byte.0=0xf4 &&
	python3 tests/cli/elf_edit.py "$folder/unikernel.elf" "$work/triple.elf" \
		byte.0=0x0f byte.1=0x0b || exit 1
# The same code with only frame pointers for unwinding.
objcopy --remove-section .eh_frame --remove-section .user.eh_frame "$folder/unikernel.elf" \
	"$work/unikernel-pointers.elf" || exit 1
OUT=$work/out in_lab 900 --no-guest --add "$work/halt.elf" --add "$work/triple.elf" \
	--add "$folder/unikernel-nofp.elf" --add "$work/unikernel-pointers.elf" "${records[@]}" \
	--add tests/lab/host/tinyvm_host.sh -- \
	bash /root/tinyvm_host.sh || exit 1

# Read here, because under emulation reading takes as long as recording.
for recording in "$work"/out/*.data; do
	"$PERFVISOR" script -i "$recording" -F ip >"${recording%.data}.chains" &&
		"$PERFVISOR" report -i "$recording" -g >"${recording%.data}.report" 2>&1 || exit 1
done
for build in unikernel unikernel-nofp; do
	nm -S "$folder/$build.elf" | awk '$3 ~ /^[tT]$/ { print }' >"$work/symbols.$build"
done
python3 - "$work/symbols" "$work/out" <<'END'
import re
import sys

sys.path.insert(0, "tests/lab/check")
from verdict import check, exit_status


def read_functions(build):
    functions = []
    for line in open(f"{sys.argv[1]}.{build}"):
        start, size, _, name = line.split()
        functions.append((int(start, 16), int(size, 16), name))
    return functions


functions = read_functions("unikernel")


def stats(mode, vcpus):
    rows = [[int(number) for number in re.findall(r"=(\d+)", line)]
            for line in open(f"{sys.argv[2]}/{mode}.stats")]
    check(len(rows) == vcpus, f"{mode}: counts of {len(rows)} vCPUs")
    return rows


def rounds(mode, vcpus):
    return [row[:3] for row in stats(mode, vcpus)]


def name_of(address, functions=functions):
    for start, size, name in functions:
        if start <= address < start + size:
            return name
    return "unknown"


def samples(mode):
    counts = {}
    for line in open(f"{sys.argv[2]}/{mode}.samples"):
        misc, address = (int(number, 16) for number in line.split())
        if misc & 7 in (4, 5):
            name = name_of(address)
            counts[name] = counts.get(name, 0) + 1
    return counts


# The callers of the hot functions (lab/tinyvm/unikernel.c).
ON_WAY = ("main_loop", "phase_one", "phase_two", "step_a", "step_b",
          "deep_start", "deep_call", "run_user")


def by_clock(mode, promised, vcpus):
    """The shares by the unikernel's own clock. Functions with the same instructions are not
    equally fast in emulation, but the difference is less than a factor of two."""
    ticks = [sum(column) for column in list(zip(*stats(mode, vcpus)))[3:]]
    found = {name: count / max(sum(ticks), 1) for name, count in zip(promised, ticks)}
    check(len(found) == len(promised) and
          all(share / 2 <= found[name] <= 2 * share for name, share in promised.items()),
          f"{mode}: shares by its own clock {found}")
    return found


def shares(mode, expected):
    counts = samples(mode)
    hot = sum(counts.get(name, 0) for name in expected)
    total = sum(counts.values())
    check(hot >= 2000, f"{mode}: {hot} samples in hot functions")
    # 0.4 to 0.8 % are on the way to hot functions; for 2,200 samples, 2 % is six standard
    # deviations more.
    on_way = sum(counts.get(name, 0) for name in ON_WAY)
    check(on_way <= total / 50, f"{mode}: {on_way} of {total} samples on the way to them")
    elsewhere = total - hot - on_way
    check(elsewhere <= total / 100, f"{mode}: {elsewhere} of {total} samples elsewhere")
    for name, share in expected.items():
        bound = 4 * (share * (1 - share) / max(hot, 1)) ** 0.5
        seen = counts.get(name, 0) / max(hot, 1)
        check(abs(seen - share) <= bound, f"{mode}: {name} {seen:.4f}, {share} +-{bound:.4f}")


def chains(name, build):
    functions = read_functions(build)
    blocks = open(f"{sys.argv[2]}/{name}.chains").read().split("\n\n")
    found = [[int(line.split()[0], 16) for line in block.splitlines()
              if line.startswith((" ", "\t"))]
             for block in blocks]
    # A return address is after its call, which may be a function's last instruction.
    return [[name_of(address - (i > 0), functions) for i, address in enumerate(chain)]
            for chain in found if chain]


START = ["main_loop", "kernel_main", "_start"]
LOOP = [["hot_a", "step_a", "phase_one"] + START, ["hot_b", "step_b", "phase_two"] + START]
DEEP = ["deep_leaf"] + 100 * ["deep_call"] + ["deep_start"] + START


def known_chains(name, build, known, leaf):
    """Each chain is a known one, or a known one without its innermost frames, sampled on the way
    to the leaf. With frame pointers only, a few have no caller."""
    found = chains(name, build)
    right = sum(any(chain == whole[len(whole) - len(chain):] for whole in known) for chain in found)
    at_leaf = [chain for chain in found if chain[0] in leaf]
    exact = sum(chain in known for chain in at_leaf)
    odd = [chain for chain in found
           if not any(chain == whole[len(whole) - len(chain):] for whole in known)]
    most = 0.001 if "pointers" in name else 0
    if most:
        check(all(len(chain) == 1 for chain in odd),
              f"{name}: no chain is wrong, {len(odd)} have no caller")
    check(len(found) >= 1000 and len(odd) <= most * len(found),
          f"{name}: {right} of {len(found)} chains are the source's "
          f"{[c[:4] + c[-4:] for c in odd[:2]]}")
    check(len(at_leaf) >= 0.9 * len(found) and exact >= (1 - most) * len(at_leaf),
          f"{name}: {exact} of {len(at_leaf)} in its leaves lead to _start; "
          f"{len(found) - len(at_leaf)} left out, sampled on the way there: at most 0.1")


def no_callers(name):
    found = chains(name, "unikernel")
    check(len(found) >= 1000 and all(len(chain) == 1 for chain in found),
          f"{name}: {len(found)} samples without callers")
    check("without unwind data" in open(f"{sys.argv[2]}/{name}.report").read(),
          f"{name}: the report says why")


for build, frames in ("unikernel", "fp"), ("unikernel-nofp", "nofp"), ("unikernel", "pointers"):
    known_chains(f"{frames}-loop", build, LOOP, ("hot_a", "hot_b"))
    known_chains(f"{frames}-deep", build, [DEEP], ("deep_leaf",))
no_callers("wrong")
no_callers("none")
for a, b, user in rounds("loop", 2):
    check(b > 100 and 0 <= a - 3 * b <= 48 and user == 0, f"loop: rounds {a} {b} {user}")
for mode, vcpus in ("user", 1), ("user-la57", 2):
    for a, b, user in rounds(mode, vcpus):
        check(user > 100 and 0 <= a - 3 * b <= 48 and 0 <= a + b - user <= 64,
              f"{mode}: rounds {a} {b} {user}")
for a, b, user in rounds("deep", 1):
    check(a > 100 and b == user == 0, f"deep: rounds {a} {b} {user}")
for a, b, user in rounds("seconds", 64):
    check(0 <= a - 3 * b <= 48, f"64 vCPUs, no frame pointers: rounds {a} {b}")
shares("loop", by_clock("loop", {"hot_a": 0.75, "hot_b": 0.25}, 2))
shares("user", by_clock("user", {"hot_a": 0.375, "hot_b": 0.125, "user_hot": 0.5}, 1))
shares("user-la57", by_clock("user-la57", {"hot_a": 0.375, "hot_b": 0.125, "user_hot": 0.5}, 2))
shares("deep", {"deep_leaf": 1.0})
sys.exit(exit_status())
END
