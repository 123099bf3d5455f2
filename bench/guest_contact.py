# SPDX-License-Identifier: GPL-2.0-or-later
"""The first and a later look at a guest: finding its kernel, and reading all symbols and modules.
The later look uses the cache that the first one left.

Guests are saved in the lab once (build/cache/guest-images). They are read from these files by the
code that reads them from a VMM: a caged parser and its owner (guest_image.c). The last kernel is
measured again as a guest of 64 GB, with CR3 and without, because the amount of memory read must not
grow with the guest's size. A comparison with the guest's own kallsyms detects a fast wrong answer.
"""
import os
import shutil
import statistics
import subprocess

SERIES = ["5.10", "6.1", "6.1-full", "6.12", "sid"]
MEMORY_MB = 256
LARGE_GB = 64

# Stopped while it is saved, so that page tables and the pages to which they point are consistent.
SAVE = r"""
mkdir "$OUT/image"
cp /run/lab/guest1/kallsyms /run/lab/guest1/version "$OUT/image/" || exit
kill -STOP $(cat /run/lab/guest1/pid)
guest_image save guest1 "$OUT/image"
status=$?
kill -CONT $(cat /run/lab/guest1/pid)
exit $status
"""


def save_guest(root, program, series, folder):
    out = os.path.join(root, "build/bench/guest")
    shutil.rmtree(out, ignore_errors=True)
    with open(os.path.join(root, "build/bench/lab.log"), "w") as log:
        result = subprocess.run(
            [os.path.join(root, "lab/run"), "--guest-kernel", series, "--guest-mem",
             str(MEMORY_MB), "--add", program + ":/usr/bin/guest_image", "--", "sh", "-c", SAVE],
            env=dict(os.environ, OUT=out), stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    if result.returncode:
        raise SystemExit(f"bench: the lab could not save a {series} guest: {log.name}")
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    subprocess.run(["cp", "-r", "--sparse=always", os.path.join(out, "image"), folder + ".new"],
                   check=True)
    os.rename(folder + ".new", folder)
    shutil.rmtree(out)


def enlarge(folder, large):
    """The same guest with LARGE_GB of memory, whose unused part is a hole in the file."""
    shutil.rmtree(large, ignore_errors=True)
    subprocess.run(["cp", "-r", "--sparse=always", folder, large], check=True)
    os.truncate(os.path.join(large, "memory"), (LARGE_GB + 2) << 30)
    with open(os.path.join(large, "slots"), "w") as slots:
        slots.write(f"0 0xa0000\n0xc0000 {(2 << 30) - 0xc0000:#x}\n")
        slots.write(f"{4 << 30:#x} {(LARGE_GB - 2) << 30:#x}\n")


def without_cr3(folder, blind):
    """The same guest as an Intel host sees it: no vCPU says where its page tables are."""
    shutil.rmtree(blind, ignore_errors=True)
    subprocess.run(["cp", "-r", "--sparse=always", folder, blind], check=True)
    with open(os.path.join(folder, "registers")) as file:
        vcpus = [line.split() for line in file]
    with open(os.path.join(blind, "registers"), "w") as file:
        for cr0, _, cr4, efer in vcpus:
            file.write(f"{cr0} 0 {cr4} {efer}\n")


def lines(path):
    """Without symbols that the guest creates at run time, which are in no table of the kernel."""
    with open(path) as file:
        return [line for line in file if not line.endswith("\t[bpf]\n")
                and "[__builtin" not in line]


def contact(program, folder, runs, cache, out):
    """Medians of CPU seconds and bytes read, for the first look and for a later one."""
    results = []
    for number in range(runs + 1):
        text = subprocess.run([program, "contact", folder, cache, out], check=True,
                              capture_output=True, text=True).stdout
        if number:  # the first warms the page cache
            results.append([float(word) for word in text.split()])
    return [statistics.median(column) for column in zip(*results)]


def show(say, what, program, folder, runs, out):
    cache = out + "-cache"
    seconds, read, later, later_read = contact(program, folder, runs, cache, out)
    shutil.rmtree(cache)
    truth = lines(os.path.join(folder, "kallsyms"))
    same = lines(out) == truth
    say(f"  {what:<22} {seconds * 1000:8.0f} {read / 1e6:8.1f} {later * 1000:8.1f} "
        f"{later_read / 1e6:8.2f} {seconds / later:8.1f} {len(truth):8} "
        f"{'as in the guest' if same else 'WRONG'}")


def measure(root, say, progress, runs):
    program = os.path.join(root, "build/release/bench/guest_image")
    subprocess.run(["ninja", "-C", os.path.join(root, "build/release"), "bench/guest_image"],
                   check=True, stdout=subprocess.DEVNULL)
    cache = os.path.join(root, "build/cache/guest-images")
    out = os.path.join(root, "build/bench/guest-kallsyms")
    say(f"\nlooks at a saved guest of {MEMORY_MB} MB, medians of {runs} runs, "
        f"load {os.getloadavg()[0]:.1f}")
    say(f"  {'':<22} {'first look':>17} {'later look':>26}")
    say(f"  {'its kernel':<22} {'CPU ms':>8} {'MB read':>8} {'CPU ms':>8} {'MB read':>8} "
        f"{'times':>8} {'symbols':>8}")
    for series in SERIES:
        folder = os.path.join(cache, series)
        if not os.path.exists(folder):
            progress(f"saving a {series} guest in the lab")
            save_guest(root, program, series, folder)
        progress("")
        show(say, series, program, folder, runs, out)
    large = os.path.join(root, "build/bench/guest-large")
    enlarge(folder, large)
    show(say, f"{series}, as {LARGE_GB} GB", program, large, runs, out)
    blind = os.path.join(root, "build/bench/guest-blind")
    without_cr3(large, blind)
    show(say, "the same without CR3", program, blind, runs, out)
    shutil.rmtree(large)
    shutil.rmtree(blind)
    os.unlink(out)
