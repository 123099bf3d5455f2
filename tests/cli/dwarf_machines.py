#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Call chains of recordings of machines that are not here: dwarf_machines.py PERFVISOR SOURCE.C

Builds SOURCE.C with clang for arm64 and ppc64le and writes recordings of perf's whose samples were
taken at each instruction of leaf() and of its callers down to it. Registers and stack are made as
readelf (-wF) says that the code leaves them there. `perfvisor script` must show the functions that
the sample was made of, by nm.
"""
import os
import re
import struct
import subprocess
import sys

# perf's numbers of registers (arch/*/include/uapi/asm/perf_regs.h), and what readelf calls them.
MACHINES = {
    "arm64": {"target": "aarch64-linux-gnu", "arch": "aarch64", "count": 33,
              "sp": 31, "fp": 29, "lr": 30, "ip": 32,
              "names": {"sp": "sp", "x29": "fp"}, "call": lambda word: word >> 26 == 0x25},
    "ppc64le": {"target": "powerpc64le-linux-gnu", "arch": "ppc64le", "count": 44,
                "sp": 1, "fp": 31, "lr": 36, "ip": 32,
                "names": {"r1": "sp", "r31": "fp"},
                "call": lambda word: word >> 26 == 18 and word & 1},
}
STACK, STACK_BYTES = 0x7ff000000000, 48 * 1024 # large()'s frame is larger
IP, TID, TIME, CALLCHAIN, PERIOD, REGS_USER, STACK_USER = 1, 2, 4, 32, 256, 1 << 12, 1 << 13
PID = 4711


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def read_rows(program):
    """Of each function (start, end, rows): rows are (address, CFA's register and offset, rule of
    fp, rule of ra)."""
    functions = []
    common = columns = None
    for line in run("readelf", "-wF", program).splitlines():
        fde = re.search(r" FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)", line)
        cells = line.split()
        if " CIE " in line:
            common = columns = None
        elif fde:
            functions.append((int(fde[1], 16), int(fde[2], 16), [(int(fde[1], 16), common, {})]))
            columns = None
        elif cells[:2] == ["LOC", "CFA"]:
            columns = cells[2:]
        elif columns is not None and re.fullmatch(r"[0-9a-f]{16}", cells[0] if cells else ""):
            cfa = re.fullmatch(r"(\w+)\+(\d+)", cells[1])
            rules = dict(zip(columns, cells[2:]))
            if common:
                functions[-1][2].append((int(cells[0], 16), (cfa[1], int(cfa[2])), rules))
            else:
                common = cfa[1], int(cfa[2])
    return functions


def row_at(functions, address):
    for start, end, rows in functions:
        if start <= address < end:
            return [row for row in rows if row[0] <= address][-1]
    raise SystemExit(f"no row for {address:x}")


def offset_of(rules, names):
    for name in names:
        if re.fullmatch(r"c[+-]\d+", rules.get(name, "")):
            return int(rules[name][1:])
    return None


def make_sample(machine, functions, addresses):
    """Registers and stack of a thread at addresses[0], called from in front of addresses[1] …"""
    stack = bytearray(STACK_BYTES)
    registers = [0xdead0000 + i for i in range(machine["count"])]

    def put(place, value):
        if isinstance(place, str):
            registers[machine[place]] = value
        elif place - STACK + 8 <= STACK_BYTES:
            struct.pack_into("<Q", stack, place - STACK, value)

    sp, frame_place = STACK, "fp"
    registers[machine["sp"]], registers[machine["ip"]] = sp, addresses[0]
    for number, address in enumerate(addresses):
        _, (base, offset), rules = row_at(functions, address - (number > 0))
        if machine["names"][base] == "fp":
            frame = sp + 256
            put(frame_place, frame)
            cfa = frame + offset
        else:
            cfa = sp + offset
        returns = offset_of(rules, ("ra", "x30", "r65", "lr"))
        put("lr" if returns is None else cfa + returns,
            addresses[number + 1] if number + 1 < len(addresses) else 0)
        frame_at = offset_of(rules, ("x29", "r31"))
        if frame_at is not None:
            frame_place = cfa + frame_at
        sp = cfa
    return registers, bytes(stack)


def record(kind, body, misc=2):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(value, size=8):
    value = value.encode() + b"\0"
    return value + bytes(-len(value) % size)


def write_recording(path, machine, program, span, samples):
    mask = (1 << machine["count"]) - 1
    sample_type = IP | TID | TIME | CALLCHAIN | PERIOD | REGS_USER | STACK_USER
    # struct perf_event_attr: a software clock, sample_id_all
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000, sample_type, 0, 1 << 18) + bytes(32)
    attr += struct.pack("<QII", mask, STACK_BYTES, 0) + bytes(128 - 96)
    trailer = struct.pack("<IIQ", PID, PID, 0)
    data = record(3, struct.pack("<II", PID, PID) + text("program") + trailer)
    data += record(1, struct.pack("<IIQQQ", PID, PID, span[0], span[1] - span[0], span[2])
                   + text(program) + trailer)
    for number, (registers, stack) in enumerate(samples):
        body = struct.pack("<QIIQQQ", registers[machine["ip"]], PID, PID, 1000 + number, 1000, 0)
        body += struct.pack("<Q", 2) + struct.pack(f"<{len(registers)}Q", *registers)
        body += struct.pack("<Q", len(stack)) + stack + struct.pack("<Q", len(stack))
        data += record(9, body)
    header_bytes, attr_at = 104, 104
    data_at = attr_at + len(attr) + 16
    feature = struct.pack("<I", 64) + text(machine["arch"]).ljust(64, b"\0")
    feature_at = data_at + len(data) + 16
    with open(path, "wb") as out:
        out.write(b"PERFILE2" + struct.pack("<QQQQQQQQ", header_bytes, len(attr) + 16, attr_at,
                                            len(attr) + 16, data_at, len(data), 0, 0))
        out.write(struct.pack("<QQQQ", 1 << 6, 0, 0, 0)) # HEADER_ARCH
        out.write(attr + bytes(16) + data + struct.pack("<QQ", feature_at, len(feature)) + feature)


def segment(program):
    """(start, end, file offset) of the code."""
    for line in run("readelf", "-lW", program).splitlines():
        cells = line.split()
        if cells[:1] == ["LOAD"] and "E" in cells[6:8]:
            offset, address, size = (int(cells[i], 16) for i in (1, 2, 4))
            return address, address + size, offset
    raise SystemExit("no segment with code")


def check(perfvisor, source, name, machine):
    program = os.path.abspath(name)
    subprocess.run(["clang", f"--target={machine['target']}", "-O2", "-ffreestanding", "-nostdlib",
                    "-static", "-fuse-ld=lld", "-fasynchronous-unwind-tables",
                    "-fomit-frame-pointer", "-Wl,-e,begin", "-o", program, source], check=True)
    symbols = {int(line.split()[0], 16): line.split()[2]
               for line in run("nm", program).splitlines() if line[17] in "tT"}
    functions = read_rows(program)
    start, end, offset = segment(program)
    with open(program, "rb") as file:
        code = file.read()[offset:offset + end - start]
    spans = {symbols[first]: (first, last) for first, last, _ in functions if first in symbols}
    # The return address behind each call, by what it is called in.
    # Where its calls lead back to.
    behind = {called: [at + 4 for at in range(*span, 4)
                       if machine["call"](struct.unpack_from("<I", code, at - start)[0])]
              for called, span in spans.items()}
    # Of recurse()'s two calls one goes to itself; which one does not matter here.
    callers = ([behind[called][0] for called in ("inner", "middle")] + [behind["recurse"][-1]]
               + [behind["recurse"][0]] * 3 + [behind["large"][0], behind["begin"][0]])
    names = ["inner", "middle"] + ["recurse"] * 4 + ["large"] # large()'s caller is not in the copy
    chains = []
    for depth, called in enumerate(["leaf", "inner", "middle", "recurse"]):
        for at in range(*spans[called], 4):
            chains.append(([at] + callers[depth:], [called] + names[depth:]))
    write_recording(f"{name}.data", machine, program, (start, end, offset),
                    [make_sample(machine, functions, addresses) for addresses, _ in chains])
    shown = run(perfvisor, "script", "-F", "ip,sym", "-i", f"{name}.data").strip("\n").split("\n\n")
    if len(shown) != len(chains):
        raise SystemExit(f"{name}: {len(shown)} samples, not {len(chains)}")
    wrong = 0
    for block, (addresses, wanted) in zip(shown, chains):
        found = [line.split()[1] for line in block.strip("\n").split("\n") if line.strip()]
        if found != wanted:
            wrong += 1
            if wrong < 4:
                print(f"{name} at {addresses[0]:x}: {found}, not {wanted}")
    print(f"{name}: {len(chains)} samples, {wrong} wrong")
    return wrong or len(chains) < 40


sys.exit(bool(sum([bool(check(sys.argv[1], sys.argv[2], *machine))
                   for machine in MACHINES.items()])))
