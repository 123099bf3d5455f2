#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes hostile ELF files and recordings in the folder OUT, each small on the disk.

    hostile_files.py OUT

Prints the paths of the recordings. Layouts: elf(5), include/uapi/linux/perf_event.h and
tools/perf/Documentation/perf.data-file-format.txt.
"""
import os
import random
import struct
import subprocess
import sys

BUILDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "build_recording.py")
OUT = os.path.abspath(sys.argv[1])
GIB = 1 << 30
PF_X, PT_LOAD, PT_NOTE, PN_XNUM = 1, 1, 4, 0xffff
PROGBITS, SYMTAB, STRTAB, NOTE, DYNSYM, COMPRESSED = 1, 2, 3, 7, 11, 1 << 11
EVENT = "event sample=IP,TID,TIME,PERIOD"


def path(name):
    return os.path.join(OUT, name)


# Each section is (name, type, flags, offset, bytes, link, entry bytes); the names come last.
def elf(name, sections, size, parts=(), phnum=1, first=(0, 0)):
    names = b"\0"
    headers = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, first[0], 0, first[1], 0, 0)
    for text, kind, flags, offset, count, link, entry in [
            *sections, (".shstrtab", STRTAB, 0, 0x3000, 4096, 0, 0)]:
        headers += struct.pack("<IIQQQQIIQQ", len(names), kind, flags, 0x1000, offset, count, link,
                               1, 8, entry)
        names += text.encode() + b"\0"
    with open(path(name), "wb") as file:
        file.truncate(size)
        file.write(b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack(
            "<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0x2000, 0, 64, 56, phnum, 64,
            0 if first[0] else len(sections) + 2, len(sections) + 1))
        file.write(struct.pack("<IIQQQQQQ", PT_LOAD, 4 | PF_X, 0, 0, 0, 0x100000, 0x100000, 4096))
        for offset, data in ((0x2000, headers), (0x3000, names), *parts):
            file.seek(offset)
            file.write(data)


def symbols(count, name=1):
    return b"".join(struct.pack("<IBBHQQ", name, 0x12, 0, 1, 0x1000 + 16 * i, 16)
                    for i in range(count))


def make_elf_files():
    code = (".text", PROGBITS, 6, 0x1000, 0x1000, 0, 0)
    table = (".symtab", SYMTAB, 0, 0x10000, 24 * 1000, 3, 24)
    elf("holes-in-names", [code, table, (".strtab", STRTAB, 0, 0x20000, 3 * GIB // 2, 0, 0)],
        2 * GIB, [(0x10000, symbols(1000))])
    elf("holes-in-symbols", [code, (".symtab", SYMTAB, 0, 0x10000, 24 << 26, 3, 24),
                             (".strtab", STRTAB, 0, 0x8000, 4096, 0, 0)], 2 * GIB)
    elf("one-long-name", [code, table, (".strtab", STRTAB, 0, 0x20000, 1 << 20, 0, 0)], 2 << 20,
        [(0x10000, symbols(1000)), (0x20001, b"x" * ((1 << 20) - 2))])
    elf("no-end-of-names", [code, table, (".strtab", STRTAB, 0, 0x20000, 64, 0, 0)], 0x20040,
        [(0x10000, symbols(1000)), (0x20000, b"y" * 64)])
    elf("symbols-are-their-names", [code, (".symtab", SYMTAB, 0, 0x10000, 24000, 2, 24)], 1 << 20,
        [(0x10000, symbols(1000))])
    elf("sections-without-end", [code], 2 * GIB, first=(GIB // 64, 2))
    elf("segments-without-end", [code], 2 * GIB, phnum=PN_XNUM, first=(0, GIB // 56))
    elf("long-note", [code, (".note", NOTE, 0, 0x10000, GIB, 0, 0)], 2 * GIB,
        [(0x10000, struct.pack("<III", 4, GIB - 64, 3) + b"GNU\0")])
    elf("long-debug-link", [code, (".gnu_debuglink", PROGBITS, 0, 0x10000, GIB, 0, 0)], 2 * GIB)
    elf("long-frames", [code, (".eh_frame", PROGBITS, 2, 0x10000, GIB, 0, 0)], 2 * GIB)
    elf("grows", [code, (".debug_frame", PROGBITS, COMPRESSED, 0x10000, 4096, 0, 0)], 1 << 20,
        [(0x10000, struct.pack("<IIQQ", 1, 0, 1 << 40, 1) + b"\x78\x9c\xff\xff")])


def recording(name, lines):
    subprocess.run([sys.executable, BUILDER, path(name)], input="\n".join([*lines, ""]), text=True,
                   check=True)
    return path(name)


def text(data):
    return data.ljust(len(data) // 8 * 8 + 8, b"\0").hex()


def programs():
    yield EVENT
    for number, name in enumerate(sorted(os.listdir(OUT))):
        yield f"mmap 7 {number + 1 << 24:#x} 0x100000 0 {path(name)}"
        yield f"sample pid=7 time={number + 1} ip={(number + 1 << 24) + 0x1010:#x}"


def names():
    yield EVENT
    for number, name in enumerate((b"\x1b]0;title\x07\x1b[2J", b"\xff\xfe\xc0\x80", b"a\nb\tc\rd",
                                   b"\xe2\x80\xae" + b"z" * 4000, b"<script>alert(1)</script>",
                                   b"%s%n%p", b"\"';`$(id)", b"")):
        pid = struct.pack("<II", number, number).hex()
        yield f"record 3 0 {pid} {text(name)}"
        yield (f"record 1 0 {pid} {struct.pack('<QQQ', 0x1000, 0x1000, 0).hex()} "
               f"{text(name or b'/')}")
        yield f"sample pid={number} time={number + 1} ip=0x1010"


def mappings():
    yield EVENT
    for number in range(20000):
        yield f"mmap 7 {number % 50 * 4096:#x} {0x100000 + number:#x} 0 /n/{number}"
    for start, size in ((0, 1 << 64), (1 << 63, 1 << 63), ((1 << 64) - 1, 1), (5, 0)):
        body = struct.pack("<IIQQQ", 7, 7, start, size - (size >> 64), (1 << 64) - 1)
        yield f"record 1 2 {body.hex()} {text(b'/all')}"
        yield f"record 1 1 {b'xxxx'.hex()}{body[4:].hex()} {text(b'[kernel.kallsyms]_text')}"
    for number in range(1000):
        yield f"sample pid=7 time={number} ip={number * 997:#x} misc={number % 8}"


# Each process is the child of the next, and the last one of the first.
def families():
    yield EVENT
    for number in range(5000):
        parent = (number + 1) % 5000
        yield f"record 7 0 {struct.pack('<IIIIQ', number, parent, number, parent, 1).hex()}"
    for number in range(0, 5000, 50):
        yield f"sample pid={number} time={number + 2} ip=0x1010"


def chains():
    yield "event sample=IP,TID,TIME,PERIOD,CALLCHAIN"
    for number in range(200):
        addresses = ",".join(f"{0x1000 + number * 7919 + i * 16:#x}" for i in range(600))
        yield (f"sample pid=7 time={number + 1} ip=0x1000 period={(1 << 64) - 1} "
               f"chain=USER,{addresses}")


def any_records():
    chance = random.Random(1)
    yield EVENT
    for number in range(20000):
        kind = number % 100 if number % 100 != 9 else 1 << 31
        yield (f"record {kind} {chance.randrange(65536)} "
               f"{chance.randbytes(8 * chance.randrange(40)).hex() or '00' * 8}")
        if number % 100 == 0:
            yield f"sample pid=7 time={number} ip=0x1010"


def many_events():
    for number in range(2000):
        yield f"event config={number} sample=IP,TID,TIME,PERIOD"
    yield "sample pid=7 time=1 ip=0x1010"


# Places of the header of perf.data, and what is written there.
def damaged(good):
    with open(good, "rb") as file:
        data = file.read()
    for place in range(8, 104, 8):
        for value in (1, 1 << 40, (1 << 64) - 1):
            name = path(f"header-{place}-{value:x}.data")
            with open(name, "wb") as file:
                file.write(data[:place] + struct.pack("<Q", value) + data[place + 8:])
            yield name
    for size in (0, 1, 7, 9, 65535): # of the first record
        place, = struct.unpack_from("<Q", data, 40)
        name = path(f"record-{size}.data")
        with open(name, "wb") as file:
            file.write(data[:place + 6] + struct.pack("<H", size) + data[place + 8:])
        yield name


# 2,000 files of a record each, and symbols without a line's end.
def folder(good):
    name = path("folder")
    os.makedirs(f"{name}/kcore_dir")
    with open(good, "rb") as file, open(f"{name}/data", "wb") as copy:
        copy.write(file.read())
    for number in range(2000):
        with open(f"{name}/data.{number}", "wb") as file:
            file.write(struct.pack("<IHH", 3, 0, 24) + bytes(16))
    with open(f"{name}/kcore_dir/kallsyms", "wb") as file:
        file.write(b"ffffffff81000000 T _text\n")
        file.truncate(200 << 20)
    return name


# 400 MB of one record, compressed: a process begins, or is named, again and again. A frame that is
# skipped (RFC 8878, 3.1.2) makes the ratio of sizes smaller.
def compressed(good):
    with open(good, "rb") as file:
        head = bytearray(file.read())
    start, = struct.unpack_from("<Q", head, 40)
    for name, kind, body in (
            ("forks", 7, struct.pack("<IIIIQ", 8, 7, 8, 7, 5)),
            ("names", 3, struct.pack("<II8s", 7, 7, b"a"))):
        record = (struct.pack("<IHH", kind, 0, 24 + len(body)) + body +
                  struct.pack("<IIQ", 7, 7, 5))
        frames = struct.pack("<II", 0x184d2a50, 400000) + bytes(400000) + subprocess.run(
            ["zstd", "-3", "-c"], input=record * (400000000 // len(record)), stdout=subprocess.PIPE,
            check=True).stdout
        parts = [frames[at:at + 500] for at in range(0, len(frames), 500)]
        pieces = b"".join(struct.pack("<IHH", 81, 0, 8 + len(part)) + part for part in parts)
        struct.pack_into("<Q", head, 48, len(pieces))
        head[72:104] = bytes(32) # no features
        with open(path(f"compressed-{name}.data"), "wb") as file:
            file.write(head[:start] + pieces)
        yield path(f"compressed-{name}.data")


# A note with the symbols of a guest's kernel (docs/perfvisor-sections.md).
def table_note(number, pid, coding, table, base=0):
    stored = subprocess.run(["zstd", "-c"], input=table, stdout=subprocess.PIPE,
                            check=True).stdout if coding == 1 else b""
    head = struct.pack("<IIQQII", pid, 0, 0, 0, 0, 0)
    note = (struct.pack("<II", number, len(head)) + head +
            struct.pack("<QII", len(table), base, coding) + stored)
    parts = [note[at:at + 60000] for at in range(0, len(note), 60000)]
    for i, part in enumerate(parts):
        body = struct.pack("<QQIIII", 0x505649534e4f5445, 0, 257, i, len(parts), len(part)) + part
        yield f"record 78 0 {body.hex()}{'00' * (-len(body) % 8)}"


# 60 MB of a few KB: each symbol's name begins a byte after that of the one before it.
def shared_names():
    count, size = 500, 60000000
    symbols = b"".join(struct.pack("<QQIII4s", 16 * i + 16, 16 * i + 32, i, 0, 0, b"T")
                       for i in range(count))
    table = struct.pack("<4Q", 0x505653594d544231, count, 0, size) + symbols + b"a" * (size - 1)
    yield EVENT
    yield from table_note(1, 0, 1, table + b"\0")
    for number in range(count):
        yield f"sample pid=7 time={number + 1} ip={16 * number + 16:#x} misc=4"


# Four million symbols of guest 1000, and 100 guests that have the same.
def shared_symbols():
    count = 4000000
    run = b"\0" + bytes([count & 127 | 128, count >> 7 & 127 | 128, count >> 14 & 127 | 128,
                         count >> 21])
    table = (struct.pack("<3Q", 0x505653594d504b31, count, 0) + bytes(count) + b"\1" * count +
             bytes(count - 1) + b"\2" + bytes(count) + b"T" * count + run)
    yield EVENT
    yield from table_note(1, 1000, 1, table)
    for number in range(1, 101):
        yield from table_note(number + 1, 1000 + number, 3, table, 1)
    for number in range(101):
        yield f"sample pid={1000 + number} time={number + 1} ip=0x1000 misc=4"


# A file that claims to be larger than any disk.
def holes():
    name = path("holes.data")
    with open(name, "wb") as file:
        file.write(struct.pack("<13Q", 0x32454c4946524550, 104, 144, 104, 0, 104, 1 << 36, 0, 0,
                               0, 0, 0, 0))
        file.truncate(1 << 36)
    return name


os.makedirs(OUT, exist_ok=True)
make_elf_files()
made = [recording(f"{make.__name__}.data", make()) for make in
        (programs, names, mappings, families, chains, any_records, many_events, shared_names,
         shared_symbols)]
made += [*damaged(path("names.data")), folder(path("names.data")), holes(),
         *compressed(path("names.data"))]
print("\n".join(made))
