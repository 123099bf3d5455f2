#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""elf_edit.py IN OUT FIELD=VALUE…: copies a little-endian ELF64 file with fields changed.

FIELD: class; type, machine, entry, phoff, shoff, phentsize, phnum, shentsize of the header;
phdr.N.FIELD; symbol.value and symbol.size (of vcpu_areas); byte.OFFSET of the segment with
the entry, from the entry on."""
import struct
import sys

HEADER = {"class": (4, "B"), "type": (16, "H"), "machine": (18, "H"), "entry": (24, "Q"),
          "phoff": (32, "Q"), "shoff": (40, "Q"), "phentsize": (54, "H"), "phnum": (56, "H"),
          "shentsize": (58, "H")}
PHDR = {"flags": (4, "I"), "offset": (8, "Q"), "vaddr": (16, "Q"), "paddr": (24, "Q"),
        "filesz": (32, "Q"), "memsz": (40, "Q")}
SYMBOL = {"value": (8, "Q"), "size": (16, "Q")}


def read(data, offset, form):
    return struct.unpack_from("<" + form, data, offset)[0]


def symbol_offset(data, name):
    shoff = read(data, 40, "Q")
    sections = [shoff + 64 * i for i in range(read(data, 60, "H"))]
    for section in sections:
        if read(data, section + 4, "I") != 2:
            continue
        table, size = read(data, section + 24, "Q"), read(data, section + 32, "Q")
        strings = read(data, sections[read(data, section + 40, "I")] + 24, "Q")
        for at in range(table, table + size, 24):
            start = strings + read(data, at, "I")
            if data[start:data.index(b"\0", start)] == name:
                return at
    sys.exit("elf_edit: no symbol")


def entry_offset(data):
    entry, phoff = read(data, 24, "Q"), read(data, 32, "Q")
    for i in range(read(data, 56, "H")):
        at = phoff + 56 * i
        vaddr = read(data, at + 16, "Q")
        if vaddr <= entry < vaddr + read(data, at + 32, "Q"):
            return read(data, at + 8, "Q") + entry - vaddr
    sys.exit("elf_edit: no entry")


def place(data, field):
    parts = field.split(".")
    if parts[0] == "phdr":
        offset, form = PHDR[parts[2]]
        return read(data, 32, "Q") + 56 * int(parts[1]) + offset, form
    if parts[0] == "symbol":
        offset, form = SYMBOL[parts[1]]
        return symbol_offset(data, b"vcpu_areas") + offset, form
    if parts[0] == "byte":
        return entry_offset(data) + int(parts[1], 0), "B"
    return HEADER[field]


def main():
    with open(sys.argv[1], "rb") as file:
        good = file.read()
    data = bytearray(good)
    for edit in sys.argv[3:]:
        field, value = edit.split("=")
        offset, form = place(good, field)
        struct.pack_into("<" + form, data, offset, int(value, 0))
    with open(sys.argv[2], "wb") as file:
        file.write(data)


main()
