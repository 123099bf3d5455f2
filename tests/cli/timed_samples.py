# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings with known times, processes, VMs and modes.

    timed_samples.py KIND          prints the text for build_recording.py

KIND: even (all samples have one period), varied (each has another), or long (hours, varied).
Functions are files without symbols, which perfvisor names "[fN]"; those of kernels and guests have
no name.
"""
import random
import sys

FILES, START, BYTES, SAMPLES = 9, 0x400000, 0x10000, 5000
FIRST_NS = 1234567890123
JOBS, GUESTS = (11, 12, 13), (501, 502)
KERNEL_IP = 0xffffffff00000100  # of no kernel
USER, KERNEL, GUEST_KERNEL, GUEST_USER = 2, 1, 4, 5  # PERF_RECORD_MISC_*
WORDS = {USER: "host user", KERNEL: "host kernel", GUEST_KERNEL: "guest kernel",
         GUEST_USER: "guest user"}


class Sample:
    def __init__(self, source, time_ns, kind):
        self.time_ns = time_ns
        self.period = 1000 if kind == "even" else source.randrange(1, 5000)
        self.guest = source.random() < 0.2
        self.pid = source.choice(GUESTS if self.guest else JOBS)
        self.misc = source.choice((GUEST_KERNEL, GUEST_USER) if self.guest else
                                  (USER, USER, USER, KERNEL))
        # The innermost first; some call themselves.
        self.files = [] if self.guest else [
            source.randrange(FILES) for _ in range(source.randrange(1, 6))]

    @property
    def mode(self):
        return WORDS[self.misc]

    @property
    def comm(self):
        return f"qemu{self.pid}" if self.guest else f"job{self.pid}"

    @property
    def vm(self):
        return f"qemu{self.pid}-{self.pid}" if self.guest else "[host]"

    @property
    def functions(self):
        return [f"[f{number}]" for number in self.files]

    def text(self):
        user = [hex(START + number * BYTES + 0x100) for number in self.files]
        if self.guest:
            chain = [{GUEST_KERNEL: "-2176", GUEST_USER: "-2560"}[self.misc], hex(KERNEL_IP)]
        else:
            chain = ["KERNEL", hex(KERNEL_IP)] * (self.misc == KERNEL) + ["USER", *user]
        first = next(word for word in chain if word.startswith("0x"))
        return (f"sample pid={self.pid} time={self.time_ns} ip={first} period={self.period} "
                f"misc={self.misc} chain={','.join(chain)}")


def samples(kind):
    """Bursts and pauses, so that spans of the same length differ."""
    source, time_ns, out = random.Random(5), FIRST_NS, []
    for number in range(SAMPLES):
        out.append(Sample(source, time_ns, kind))
        time_ns += source.randrange(200000 if number // 100 % 3 else 2500000)
        if kind == "long" and not number % 50:
            time_ns += source.randrange(200) * 10 ** 9
    return out


def write(kind):
    print("event type=1 config=0 sample=IP,TID,TIME,PERIOD,CALLCHAIN")
    for pid in JOBS:
        print(f"comm {pid} job{pid}")
        for number in range(FILES):
            print(f"mmap {pid} {START + number * BYTES:#x} {BYTES:#x} 0 /nowhere/f{number}")
    for pid in GUESTS:
        print(f"comm {pid} qemu{pid}")
    for sample in samples(kind):
        print(sample.text())


if __name__ == "__main__":
    write(sys.argv[1])
