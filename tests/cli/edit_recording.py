#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes what a recording of stock perf (the file form, of this machine) says of its kernel.

    edit_recording.py IN OUT CHANGE…

    kernel-path=PATH   the build-id section lists the kernel under PATH
    kernel-id=HEX      and with that build-id
    mmap-id=HEX        the same in the kernel's MMAP2 record
    no-build-ids       there is no such section
    release=TEXT, arch=TEXT
    no-features        no sections at all, as if the recorder had been killed
    text-bytes=NUMBER  added to the size of the kernel's MMAP record
    module=PATH        there is a module, and every second kernel sample is in it (samples of one
                       event, which have no id)
    module-id=HEX      and the build-id section lists it
    unmapped           but no record maps it
    lost=NUMBER        so many samples of the first guest with processes were lost, which LOST and
                       LOST_SAMPLES report (events have PERF_FORMAT_LOST, samples TID, TIME and
                       IDENTIFIER)

Layouts: include/uapi/linux/perf_event.h and tools/perf/util/header.c.
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../golden"))
from rewrite import Recording

BUILD_ID, OSRELEASE, ARCH = 2, 4, 6
KERNEL, GUEST_USER, CPUMODE = 1, 5, 7
LOST, LOST_SAMPLES = 2, 13
MMAP, MMAP2, MMAP_BUILD_ID = 1, 10, 1 << 14
KERNEL_NAME = b"[kernel.kallsyms]"
SAMPLE, MODULE_START, MODULE_SIZE = 9, 0xffffffffc0400000, 0x10000


def change_build_ids(data, path, build_id):
    out, at = b"", 0
    while at < len(data):
        kind, misc, size, pid = struct.unpack_from("<IHHi", data, at)
        bits, rest = data[at + 12:at + 36], data[at + 36:at + size]
        if misc & CPUMODE == KERNEL and rest.startswith(KERNEL_NAME):
            if build_id:
                bits = build_id + bits[20:]
            if path:
                rest = path.encode().ljust((len(path) + 1 + 63) // 64 * 64, b"\0")
        out += struct.pack("<IHHi", kind, misc, 36 + len(rest), pid) + bits + rest
        at += size
    return out


def change_kernel_mapping(records, build_id, more_bytes):
    out, at = b"", 0
    while at < len(records):
        kind, misc, size = struct.unpack_from("<IHH", records, at)
        record = bytearray(records[at:at + size])
        if kind in (MMAP, MMAP2) and misc & CPUMODE == KERNEL and KERNEL_NAME in record:
            length, = struct.unpack_from("<Q", record, 24)
            struct.pack_into("<Q", record, 24, length + more_bytes)
            if build_id:
                assert kind == MMAP2 and misc & MMAP_BUILD_ID
                record[44:64] = build_id
        out += record
        at += size
    return out


def list_module(path, build_id):
    name = path.encode().ljust((len(path) + 1 + 63) // 64 * 64, b"\0")
    return (struct.pack("<IHHi", 67, KERNEL, 36 + len(name), -1) + build_id.ljust(24, b"\0") +
            name)


def add_module(records, path, mapped):
    name = path.encode().ljust(len(path) // 8 * 8 + 8, b"\0")
    body = struct.pack("<IIQQQ", 0xffffffff, 0, MODULE_START, MODULE_SIZE, 0) + name
    body += bytes(16)  # pid, tid, time of what perf wrote itself
    mapping = struct.pack("<IHH", MMAP, KERNEL, 8 + len(body)) + body
    out, at, count = b"", 0, 0
    while at < len(records):
        kind, misc, size = struct.unpack_from("<IHH", records, at)
        record = bytearray(records[at:at + size])
        if kind == SAMPLE and misc & CPUMODE == KERNEL:
            count += 1
            if count % 2:
                struct.pack_into("<Q", record, 8, MODULE_START + 16 * count)
        out += record
        at += size
        if at == size and mapped:  # after the kernel's
            out += mapping
    return out


def add_lost(recording, count):
    recording.entries = [(attr[:32] + struct.pack("<Q", struct.unpack_from("<Q", attr, 32)[0] | 16)
                          + attr[40:], ids) for attr, ids in recording.entries]
    at, trailer = 0, None
    while not trailer:
        kind, misc, size = struct.unpack_from("<IHH", recording.records, at)
        if kind == MMAP2 and misc & CPUMODE == GUEST_USER:
            trailer = recording.records[at + size - 24:at + size]
        at += size
    for kind, body in ((LOST, struct.pack("<QQ", 0, count)),
                       (LOST_SAMPLES, struct.pack("<Q", count))):
        body += trailer
        recording.records += struct.pack("<IHH", kind, 0, 8 + len(body)) + body


def string(text):
    data = text.encode().ljust((len(text) + 1 + 63) // 64 * 64, b"\0")
    return struct.pack("<I", len(data)) + data


def main(source, target, *changes):
    with open(source, "rb") as file:
        recording = Recording(file.read())
    wanted = dict(change.partition("=")[::2] for change in changes)
    build_id = bytes.fromhex(wanted.get("kernel-id", ""))
    features = recording.features
    if BUILD_ID in features:
        features[BUILD_ID] = change_build_ids(features[BUILD_ID], wanted.get("kernel-path"),
                                              build_id)
    if "no-build-ids" in wanted:
        features.pop(BUILD_ID, None)
    if "release" in wanted:
        features[OSRELEASE] = string(wanted["release"])
    if "arch" in wanted:
        features[ARCH] = string(wanted["arch"])
    if "no-features" in wanted:
        features.clear()
    recording.records = change_kernel_mapping(recording.records,
                                              bytes.fromhex(wanted.get("mmap-id", "")),
                                              int(wanted.get("text-bytes", "0")))
    if "module" in wanted:
        recording.records = add_module(recording.records, wanted["module"],
                                       "unmapped" not in wanted)
    if "module-id" in wanted:
        features[BUILD_ID] += list_module(wanted["module"], bytes.fromhex(wanted["module-id"]))
    if "lost" in wanted:
        add_lost(recording, int(wanted["lost"]))
    recording.write(target, "<", 128)


main(*sys.argv[1:])
