#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the build-ids and symbols that were read of a guest's programs with readelf and nm, and
their unwind data with the files that the guest ran: those of the lab, this machine's C library
(lab/lib/image.sh copies it), and vDSOs that the guest itself sent."""
import base64
import json
import os
import re
import subprocess
import sys

folder = sys.argv[1]
failures = []


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def build_id(file):
    return re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", file))[1]


def file_offsets(file):
    """Returns a function from an address of FILE to an offset in it; None if there is no byte."""
    segments = re.findall(r"^\s*LOAD\s+(\S+)\s+(\S+)\s+\S+\s+(\S+)",
                          run("readelf", "-lW", file), re.M)
    segments = [tuple(int(field, 16) for field in segment) for segment in segments]

    def translate(address):
        for offset, start, size in segments:
            if start <= address < start + size:
                return address - start + offset
        return None

    return translate


def nm_symbols(file):
    """Returns: offset -> {(letter, name)}, from .symtab, or from .dynsym if there is no .symtab."""
    text = run("nm", file) if run("nm", file).strip() else run("nm", "-D", file)
    translate, symbols = file_offsets(file), {}
    for line in text.splitlines():
        match = re.match(r"([0-9a-f]+) (\w) ([^@\s]+)", line)
        if match and match[2] not in "aAU" and translate(int(match[1], 16)) is not None:
            symbols.setdefault(translate(int(match[1], 16)), set()).add((match[2], match[3]))
    return symbols


def parse_programs():
    programs = []
    for line in open(f"{folder}/programs"):
        fields = line.split()
        if fields[0] == "===":
            programs.append({"path": fields[3], "build_id": fields[4] if len(fields) > 4 else None,
                             "pid": int(fields[1]), "start": int(fields[2], 16), "symbols": [],
                             "reason": None, "unwind": None})
        elif fields[0] == "~":
            programs[-1]["unwind"] = line.strip()
        elif fields[0] == "-":
            programs[-1]["reason"] = line[2:].strip()
        else:
            programs[-1]["symbols"].append((int(fields[0], 16), fields[2], fields[3]))
    return programs


def save_vdsos():
    """Writes the vDSOs in the guest's log to files; returns: program -> file."""
    text = open(f"{folder}/told.log", errors="replace").read().replace("\r", "")
    vdsos = {}
    for name, data in re.findall(r"^VDSO (\S+)\n([A-Za-z0-9+/=\n]+?)(?=VDSO|ShmemHuge)",
                                 text, re.M):
        vdsos[name] = f"{folder}/vdso.{name}"
        with open(vdsos[name], "wb") as file:
            file.write(base64.b64decode(data))
    return vdsos


def truth_of(program, name, vdsos):
    path = program["path"]
    if path == "[vdso]":
        return vdsos.get(name)
    if path == "/mnt/x/big7525":
        return f"{folder}/files/user7525"
    if path.startswith("/lab/bin/") or path.endswith("/busybox"):
        return f"{folder}/files/{os.path.basename(path)}"
    return path if path.startswith("/usr/lib") else None


def compare_symbols(program, file):
    truth = nm_symbols(file)
    ours = {offset: name for offset, _, name in program["symbols"] if not name.endswith("@plt")}
    code = {offset: names for offset, names in truth.items()
            if any(letter in "tTwWi" for letter, _ in names)}
    for offset, names in code.items():
        if ours.get(offset) not in {name for _, name in names}:
            failures.append(f"{file}: {ours.get(offset)} at {offset:#x}, but nm "
                            f"prints {sorted(names)}")
            return 0
    for offset, name in ours.items():
        if name not in {name for _, name in truth.get(offset, ())}:
            failures.append(f"{file}: {name} at {offset:#x}, but nm prints "
                            f"{sorted(truth.get(offset, ()))}")
            return 0
    return len(code)


def compare(program, name, vdsos):
    file = truth_of(program, name, vdsos)
    if not file:
        failures.append(f"{program['path']} of {name}: there is no file to compare it with")
        return
    if program["build_id"] != build_id(file):
        failures.append(f"{program['path']}: build-id {program['build_id']}, but the file has "
                        f"{build_id(file)}")
    unwind = run("build/release/tests/lab/programs/file_unwind", file).strip()
    if program["unwind"] != unwind:
        failures.append(f"{program['path']}: unwind data {program['unwind']}, but the "
                        f"file has {unwind}")
    unwound.setdefault(program["path"], set()).add(unwind)
    if program["path"].endswith("/busybox"): # stripped, and static
        if program["reason"] != "it has no symbols":
            failures.append(f"busybox: {program['reason']}, but it is stripped")
        return
    count = 0 if program["reason"] else compare_symbols(program, file)
    if not count:
        failures.append(f"{program['path']}: no symbols compared: {program['reason']}")
    compared.setdefault(program["path"], set()).add(count)


def compare_json(programs):
    processes = json.load(open(f"{folder}/maps.json"))
    mappings = next(process["mappings"] for process in processes if process["comm"] == "dynamic")
    ours = {mapping["start"]: mapping["build_id"] for mapping in mappings}
    if any(mapping["build_id"] for mapping in mappings if not mapping["execute"]):
        failures.append("ps --json: a mapping that is not executable has a build-id")
    for program in programs:
        if program["pid"] == names["dynamic"] and ours.get(program["start"]) != program["build_id"]:
            failures.append(f"ps --json: {program['path']} has {ours.get(program['start'])}")


compared, unwound = {}, {}
programs, vdsos = parse_programs(), save_vdsos()
names = {os.path.basename(program["path"]): program["pid"] for program in programs
         if re.match("/lab/bin/|/mnt/x/", program["path"])}
comms = {pid: name for name, pid in names.items()}
for program in programs:
    if program["path"] != "[vsyscall]" and (program["pid"] in comms or program["path"] != "[vdso]"):
        compare(program, comms.get(program["pid"]), vdsos)
compare_json(programs)
wanted = {"/mnt/x/big7525", "/lab/bin/user7525", "/lab/bin/user32", "/lab/bin/dynamic", "[vdso]"}
if not wanted <= set(compared) or not any("/libc.so" in path for path in compared):
    failures.append(f"only {sorted(compared)} were compared")
if len(compared.get("[vdso]", ())) < 2: # a 32-bit program has another one
    failures.append("the 32-bit vDSO was not compared")
if not int(re.search(r"ShmemHugePages: +(\d+)",
                     open(f"{folder}/told.log", errors="replace").read())[1]):
    failures.append("the guest has no file in large pages")
if not any("/libc.so" in path and "-" not in str(lines) for path, lines in unwound.items()):
    failures.append(f"libc has no unwind data: {unwound}")
print("unwind data:", ", ".join(f"{path} {sorted(lines)}" for path, lines in unwound.items()))
print("symbols of code:",
      ", ".join(f"{path} {sorted(counts)}" for path, counts in compared.items()))
for failure in failures:
    print("FAILED:", failure)
sys.exit(bool(failures))
