#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tinyvm in the lab: the unikernel's own counts are the shares that it promises, and stock
# perf's samples fall on its functions in these shares, by address. Shares are of the hot
# functions' samples together; the bound is 4 standard deviations of a binomial share, with
# 2,000 samples at least (share 0.75: +-0.039); all other functions have 1 % at most. Also:
# SIGTERM and SIGINT, unexpected exits, 300 VMs at once.
set -u
. tests/lab/in_lab.sh
folder=build/release/lab/tinyvm
[ "$(uname -m)" = x86_64 ] || { echo "tinyvm is for x86-64 only"; exit 77; }
command -v qemu-system-x86_64 >/dev/null || { echo "no qemu-system-x86_64: make setup"; exit 77; }
[ -x "$folder/tinyvm" ] || { echo "no $folder/tinyvm: run make"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# HLT; and UD2 while there is no interrupt table yet
python3 tests/cli/elf_edit.py "$folder/unikernel.elf" "$work/halt.elf" byte.0=0xf4 &&
	python3 tests/cli/elf_edit.py "$folder/unikernel.elf" "$work/triple.elf" \
		byte.0=0x0f byte.1=0x0b || exit 1
OUT=$work/out in_lab 180 --no-guest --add "$work/halt.elf" --add "$work/triple.elf" \
	--add "$folder/unikernel-nofp.elf" --add tests/lab/tinyvm_host.sh -- \
	bash /root/tinyvm_host.sh || exit 1

nm -S "$folder/unikernel.elf" | awk '$3 ~ /^[tT]$/ { print }' >"$work/symbols"
python3 - "$work/symbols" "$work/out" <<'END'
import re
import sys

functions = []
for line in open(sys.argv[1]):
    start, size, _, name = line.split()
    functions.append((int(start, 16), int(size, 16), name))
failed = False


def check(good, text):
    global failed
    print("ok  " if good else "FAIL", text)
    failed |= not good


def stats(mode, vcpus):
    rows = [[int(number) for number in re.findall(r"=(\d+)", line)]
            for line in open(f"{sys.argv[2]}/{mode}.stats")]
    check(len(rows) == vcpus, f"{mode}: counts of {len(rows)} vCPUs")
    return rows


def name_of(address):
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


def shares(mode, expected):
    counts = samples(mode)
    hot = sum(counts.get(name, 0) for name in expected)
    total = sum(counts.values())
    check(hot >= 2000, f"{mode}: {hot} samples in hot functions")
    check(total - hot <= total / 100, f"{mode}: {total - hot} of {total} samples elsewhere")
    for name, share in expected.items():
        bound = 4 * (share * (1 - share) / max(hot, 1)) ** 0.5
        seen = counts.get(name, 0) / max(hot, 1)
        check(abs(seen - share) <= bound, f"{mode}: {name} {seen:.4f}, {share} +-{bound:.4f}")


for a, b, user in stats("loop", 2):
    check(b > 100 and 0 <= a - 3 * b <= 48 and user == 0, f"loop: rounds {a} {b} {user}")
for mode, vcpus in ("user", 1), ("user-la57", 2):
    for a, b, user in stats(mode, vcpus):
        check(user > 100 and 0 <= a - 3 * b <= 48 and 0 <= a + b - user <= 64,
              f"{mode}: rounds {a} {b} {user}")
for a, b, user in stats("deep", 1):
    check(a > 100 and b == user == 0, f"deep: rounds {a} {b} {user}")
for a, b, user in stats("seconds", 64):
    check(0 <= a - 3 * b <= 48, f"64 vCPUs, no frame pointers: rounds {a} {b}")
shares("loop", {"hot_a": 0.75, "hot_b": 0.25})
shares("user", {"hot_a": 0.375, "hot_b": 0.125, "user_hot": 0.5})
shares("user-la57", {"hot_a": 0.375, "hot_b": 0.125, "user_hot": 0.5})
shares("deep", {"deep_leaf": 1.0})
sys.exit(failed)
END
