#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what show_qmp_memory finds through a QEMU's monitor with the options of that QEMU."""
import os
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time

SHOW, HOLD = (f"{sys.argv[1]}/{name}" for name in ("show_qmp_memory", "hold_qemu_pause"))
HERE = os.path.dirname(os.path.abspath(__file__))
UUID = "c7a5fdb2-cdaf-9455-926a-d65c16db1809"
MIB, GIB = 1 << 20, 1 << 30
MOST_MIB = 100  # of memory for one answer; 285 if json-c parses one of numbers
work = tempfile.mkdtemp()
processes = []
failures = []


def check(good, text):
    if not good:
        failures.append(text)
        print("FAILED:", text)


def start(arguments, **options):
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, **options)
    processes.append(process)
    return process


def wait_for(path):
    for _ in range(600):
        if os.path.exists(path):
            return
        time.sleep(0.1)
    sys.exit(f"{path} was not created")


def start_qemu(machine, *arguments, **options):
    return start(["qemu-system-x86_64", "-accel", "tcg", "-S", "-display", "none", "-nodefaults",
                  "-no-user-config", "-M", machine, *arguments], **options)


def marker(gpa, value):
    return "-device", f"loader,addr={gpa:#x},data={value:#x},data-len=8"


# Returns its exit status, its lines by their first word, and its stderr.
def show(pid, *gpas, **options):
    done = subprocess.run([SHOW, str(pid), *(f"{gpa:x}" for gpa in gpas)], text=True,
                          capture_output=True, timeout=120, **options)
    found = {"slot": [], "vcpu": [], "bytes": []}
    for line in done.stdout.splitlines():
        kind, *words = line.split()
        found[kind].append(words if kind == "bytes" else [int(word, 16) for word in words])
    return done.returncode, found, done.stderr.strip()


# The address and the size of the mapping that contains HVA, from the kernel.
def find_mapping(pid, hva):
    with open(f"/proc/{pid}/maps") as maps:
        for line in maps:
            start_text, end_text = re.match("([0-9a-f]+)-([0-9a-f]+)", line).groups()
            if int(start_text, 16) <= hva < int(end_text, 16):
                return int(start_text, 16), int(end_text, 16) - int(start_text, 16)
    return 0, 0


# RAM: the machine's RAM as [(start, bytes, offset in the one mapping of QEMU that has all RAM)].
def check_guest(name, pid, ram, markers, vcpus, ram_bytes):
    status, found, said = show(pid, *markers, 0xfffffff0)
    check(status == 0, f"{name}: {said}")
    if status:
        return
    slots = {start: (size, hva) for start, size, hva in found["slot"]}
    block, mapped = find_mapping(pid, slots[0][1])
    check(block == slots[0][1] and mapped >= ram_bytes, f"{name}: RAM in {mapped} at {block:#x}")
    for start, size, offset in ram:
        check(slots.get(start) == (size, block + offset), f"{name}: {start:#x} in {slots}")
    check(len(found["bytes"]) == len(markers) + 1,
          f"{name}: {len(found['bytes'])} of {len(markers) + 1} places")
    for (gpa, value), (its_gpa, its_bytes) in zip(markers.items(), found["bytes"]):
        check(its_gpa == f"{gpa:x}" and its_bytes.startswith(value.to_bytes(8, "little").hex()),
              f"{name}: {its_gpa} has {its_bytes}, not {value:#x}")
    # The processor starts with a far jump in the last 16 bytes below 4 GiB, which are the BIOS's.
    bios = [path for path in ("/usr/share/seabios/bios-256k.bin", "/usr/share/qemu/bios-256k.bin")
            if os.path.exists(path)]
    if bios:
        with open(bios[0], "rb") as file:
            check(found["bytes"][-1][1] == file.read()[-16:].hex(), f"{name}: its BIOS")
    else:
        print(f"skipped: the BIOS of {name}, because its file is not installed here")
    # After a reset: caching off, ET (Intel SDM volume 3, table 10-1).
    check(found["vcpu"] == [[n, 0x60000010, 0, 0, 0] for n in range(vcpus)],
          f"{name}: registers {found['vcpu']}")
    print(f"{name}: {len(slots)} slots")


def try_machines():
    deep = os.path.join(work, *["a-folder-of-a-long-name"] * 5)
    os.makedirs(deep)
    markers = {MIB: 0x1122334455667788, 4 * GIB: 0x99aabbccddeeff00, 4 * GIB + GIB - 8: 0x42}
    # q35 has 2 GiB below 4 GiB if there are at least 2.75 GiB; the path is relative.
    q35 = start_qemu("q35", "-m", "3G", "-smp", "2", "-qmp", "unix:q,,1.sock,server=on,wait=off",
                     *(word for at in markers.items() for word in marker(*at)), cwd=deep)
    wait_for(f"{deep}/q,1.sock")
    check_guest("q35", q35.pid, [(MIB, 2 * GIB - MIB, MIB), (4 * GIB, GIB, 2 * GIB)],
                markers, 2, 3 * GIB)
    pc = start_qemu("pc", "-m", "256", "-chardev",
                    f"socket,server=on,wait=off,path={work}/pc.sock,id=some", "-mon",
                    "some,mode=control", *marker(MIB, 0x77))
    wait_for(f"{work}/pc.sock")
    check_guest("pc", pc.pid, [(MIB, 255 * MIB, MIB)], {MIB: 0x77}, 1, 256 * MIB)
    return q35, f"{deep}/q,1.sock"


def try_busy(qemu, path):
    os.chdir(os.path.dirname(path))
    first = socket.socket(socket.AF_UNIX)
    first.connect(os.path.basename(path))
    os.chdir("/")
    first.recv(1)
    begin = time.monotonic()
    status, _, said = show(qemu.pid)
    check(status == 1 and "one client at a time" in said, f"busy: {said}")
    first.close()
    print(f"busy: after {time.monotonic() - begin:.1f} s: {said}")
    check(show(qemu.pid)[0] == 0, "no longer busy, but it cannot be queried")


# QEMU as started by libvirt: it inherits a listening socket, and libvirt holds the connection.
def try_libvirt():
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{work}/libvirt.sock")
    listener.listen(1)
    qemu = start_qemu("q35", "-m", "64", "-name", "guest=web,debug-threads=on", "-chardev",
                      f"socket,id=charmonitor,fd={listener.fileno()},server=on,wait=off", "-mon",
                      "chardev=charmonitor,id=monitor,mode=control", "-uuid", UUID,
                      *marker(2 * MIB, 0x1234), pass_fds=[listener.fileno()])
    listener.close()
    programs = f"{work}/bin"
    os.mkdir(programs)
    shutil.copy(f"{HERE}/virsh_stand_in.py", f"{programs}/virsh")
    environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}",
                       STAND_IN_SOCKET=f"{work}/libvirt.sock", STAND_IN_UUID=UUID)
    status, found, said = show(qemu.pid, 2 * MIB, env=environment)
    check(status == 0 and found["bytes"][0][1].startswith("3412"), f"libvirt: {said} {found}")
    print(f"libvirt: {len(found['slot'])} slots")
    held = subprocess.run([HOLD, str(qemu.pid)], env=environment, capture_output=True,
                          text=True, timeout=120)
    check("it does not run" in held.stderr, f"libvirt, a pause: {held.stderr}")
    # A process that claims to be another process's domain, but does not have its threads.
    liar = start([sys.executable, "-c", "import time; time.sleep(600)", "-mon",
                  "chardev=charmonitor,id=monitor,mode=control", "-uuid", UUID])
    time.sleep(0.2)
    held = subprocess.run([HOLD, str(liar.pid)], env=environment, capture_output=True,
                          text=True, timeout=120)
    check("libvirt did not start it" in held.stderr,
          f"libvirt, another process's domain: {held.stderr}")
    status, found, said = show(liar.pid, env=environment)
    check(status == 1 and "is another process" in said and not found["slot"],
          f"libvirt, memory of another process's domain: {status} {said} {found}")
    liar = start([sys.executable, "-c", "import time; time.sleep(600)", "-mon",
                  "chardev=charmonitor,id=monitor,mode=control", "-uuid", UUID,
                  "-qmp", "unix:/nonexistent,server=on"])
    time.sleep(0.2)
    status, found, said = show(liar.pid, env=environment)
    check(status == 1 and "is another process" in said and not found["slot"],
          f"libvirt, the same with a socket: {status} {said} {found}")
    environment["STAND_IN_UUID"] = "other"
    status, _, said = show(qemu.pid, env=environment)
    check(status == 1 and f"virsh failed (status 1): error: failed to get domain '{UUID}'" in said,
          f"libvirt, no domain: {said}")
    os.remove(f"{programs}/virsh")
    status, _, said = show(qemu.pid, env=dict(environment, PATH=programs))
    check(status == 1 and "could not run virsh" in said, f"libvirt, no virsh: {said}")
    with open(f"{programs}/virsh", "w") as file:
        file.write("#!/bin/sh\nyes 'Host virtual address for 0x0 (pc.ram) is 0x1000'\n")
    os.chmod(f"{programs}/virsh", 0o755)
    status, _, said = show(qemu.pid, env=environment)
    check(status == 1 and "virsh printed too much" in said, f"libvirt, endless virsh: {said}")


# A process may have anything on its command line.
def try_liars(path):
    path = path.replace(",", ",,")
    sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
    liar = start([*sleeper, "-qmp", f"unix:{path},server=on"])
    nobody = start([*sleeper, "-qmp", "unix:/no/such,server=on"])
    silent = start([*sleeper, "-monitor", f"unix:{path},server=on", "-qmp", f"unix:{path}", "-mon",
                    "chardev=x,mode=control"])
    time.sleep(0.2)
    for process, pattern in ((liar, "belongs to another process"), (nobody, "No such file"),
                             (silent, "has no QMP socket, and libvirt did not start it")):
        status, _, said = show(process.pid)
        check(status == 1 and pattern in said, f"a liar: '{said}' instead of '{pattern}'")


# Sends HELLO, and then REST in response to each query.
SERVER = """
import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(1)
while True:
    client, _ = listener.accept()
    try:
        client.sendall(eval(sys.argv[2]))
        while client.recv(1000):
            client.sendall(eval(sys.argv[3]))
    except OSError:
        pass
"""
HELLO = r"""b'{"QMP": {}}\r\n'"""


# Listens, lets a child answer, and executes a program with other rights, as any user can.
EXECUTES = """
import os, sys
import socket
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(1)
os.setgroups([]); os.setgid(65534); os.setuid(65534)
if os.fork() == 0:
    while True:
        client, _ = listener.accept()
        client.sendall(b'{"QMP": {}}\\r\\n')
os.execv(sys.argv[2], [sys.argv[2], "-c", "import time; time.sleep(600)", "-qmp",
                       f"unix:{sys.argv[1]},server=on"])
"""


def try_set_uid():
    if os.geteuid() != 0:
        print("skipped: a set-uid program, because only root can make one")
        return
    program, path = f"{work}/set-uid", f"{work}/executes"
    shutil.copy(os.path.realpath(sys.executable), program)
    os.chmod(work, 0o755)
    os.chmod(program, 0o4755)
    process = start([sys.executable, "-c", EXECUTES, path, program])
    wait_for(path)
    for _ in range(100):
        if program in open(f"/proc/{process.pid}/cmdline").read().split("\0")[0]:
            break
        time.sleep(0.1)
    status, found, said = show(process.pid)
    check(status == 1 and "rights of its own (set-uid)" in said and not found["slot"],
          f"a set-uid program that inherited a socket: {status} {said} {found}")


def try_servers():
    cases = (
        ("b'hello\\n'", "b''", "does not send JSON objects"),
        ("b'[1]\\n'", "b''", "does not send JSON objects"),
        ("b'{}\\n'", "b''", "not a QMP socket"),
        ("b'[' * 1000000 + b'\\n'", "b''", "does not send JSON objects"),
        ("b'x' * 20000000", "b''", "too long"),
        ("b'{\"QMP\": [' + b'{},' * 100000 + b'{}]}\\n'", "b''", "does not send JSON objects"),
        (HELLO, "b'{\"event\": 1}\\n' * 2000", "gave no answer"),
        (HELLO, "b'{\"error\": {\"desc\": \"\\\\u001b[31m\"}}\\n'", "refused: ?[31m"),
        (HELLO, "b'{\"error\": []}\\n'", "refused: no reason"),
        (HELLO, "b'{\"return\": {}}\\n'", "lists no guest memory"),
        # Answers to commands that were given up are not those that are waited for.
        (HELLO, "b'{\"return\": {}, \"id\": 99}\\n' * 2000", "gave no answer"),
        (HELLO, "b'{\"return\": {}, \"id\": \"1\"}\\n' * 2000", "gave no answer"),
        (HELLO, "b'{\"return\": \"' + b'y' * 7000000 + b'\"}\\n'", "lists no guest memory"),
    )
    for number, (hello, rest, pattern) in enumerate(cases):
        path = f"{work}/server{number}"
        server = start([sys.executable, "-c", SERVER, path, hello, rest, "-qmp",
                        f"unix:{path},server=on"])
        wait_for(path)
        time.sleep(0.1)
        status, _, said = show(server.pid)
        check(status == 1 and pattern in said, f"server {hello[:20]}: '{said}', not '{pattern}'")
    print(f"{len(cases)} hostile servers")


# The memory of who asks, in MiB, if a server's one answer of 8 MB is HEAD, PART again and again,
# and TAIL.
def peak_memory(name, head, part, tail):
    path = f"{work}/{name}"
    rest = f"b'{head}' + b'{part}' * {8_000_000 // len(part)} + b'{tail}\\n'"
    server = start([sys.executable, "-c", SERVER, path, HELLO, rest, "-qmp",
                    f"unix:{path},server=on"])
    wait_for(path)
    time.sleep(0.1)
    asking = subprocess.Popen([SHOW, str(server.pid)], stderr=subprocess.PIPE)
    said = asking.stderr.read().decode()
    usage = os.wait4(asking.pid, 0)[2]
    check("does not send JSON objects" in said, f"{name}: {said}")
    return usage.ru_maxrss // 1024


# Values take many times the memory of their text.
def try_memory():
    for name, head, part, tail in (
            ("numbers", '{"return": [', "1,", "1]}"),
            ("strings", '{"return": [', '"",', "1]}"),
            ("keys", '{"return": {"": 1', ', "": 1', "}}"),
            ("quotes", '{"return": [\\\'"\\\', ', "1,", '\\\'"\\\']}')):
        used = peak_memory(name, head, part, tail)
        check(used < MOST_MIB, f"{name}: {used} MiB of memory for an answer of 8 MB")
        print(f"{name}: {used} MiB of memory for an answer of 8 MB")


def status_of(path, command="info status"):
    """The output of QEMU's human monitor, which perfvisor does not use."""
    with socket.socket(socket.AF_UNIX) as monitor:
        monitor.connect(path)
        said = b""
        for prompt in (b"", command.encode() + b"\n"):
            monitor.sendall(prompt)
            said = b""
            while not said.endswith(b"(qemu) "):
                said += monitor.recv(1000)
    return re.findall(r"VM status: (\w+)", said.decode())


def becomes(true):
    """Whether TRUE() becomes true within a minute."""
    for _ in range(600):
        if true():
            return True
        time.sleep(0.1)
    return False


def hold(qemu):
    """Stops the guest; returns the process that stopped it, and its guardian."""
    holder = start([HOLD, str(qemu.pid)], stdout=subprocess.PIPE)
    check(holder.stdout.readline() == b"stopped\n", "guardian: a guest is stopped")
    with open(f"/proc/{holder.pid}/task/{holder.pid}/children") as children:
        return holder, children.read().strip()


def try_guardian():
    """The process that stopped a guest is killed while QEMU cannot be reached: the guest continues
    as soon as QEMU can be reached."""
    path, people = f"{work}/held.sock", f"{work}/people.sock"
    qemu = start_qemu("pc", "-m", "64", "-qmp", f"unix:{path},server=on,wait=off",
                      "-monitor", f"unix:{people},server=on,wait=off")
    wait_for(path)
    wait_for(people)
    status_of(people, "cont")
    check(status_of(people) == ["running"], "guardian: the guest runs")
    holder, _ = hold(qemu)
    check(status_of(people) == ["paused"], "guardian: it is stopped")
    os.rename(path, path + ".away")
    holder.kill()
    ended = select.select([holder.stdout], [], [], 60)[0] and holder.stdout.read()
    check(ended == b"", f"guardian: it holds files of the killed process: {ended}")
    time.sleep(6)
    check(status_of(people) == ["paused"], "guardian: nobody else makes the guest continue")
    os.rename(path + ".away", path)
    check(becomes(lambda: status_of(people) == ["running"]), "guardian: the guest continues")
    holder, guardian = hold(qemu)
    os.rename(path, path + ".away")
    holder.kill()
    qemu.kill()
    qemu.wait()
    check(guardian and becomes(lambda: not os.path.exists(f"/proc/{guardian}")),
          "guardian: it ends with QEMU")


try:
    real, real_path = try_machines()
    try_busy(real, real_path)
    try_libvirt()
    try_liars(real_path)
    try_set_uid()
    try_servers()
    try_memory()
    try_guardian()
finally:
    for process in processes:
        process.kill()
        process.wait()
    shutil.rmtree(work)
sys.exit(bool(failures))
