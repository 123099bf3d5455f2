#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A server of debugging information, as debuginfod's client expects it.

    debug_server.py PORT-FILE LOG FOLDER    serves FOLDER/BUILD-ID/{debuginfo,executable}
    debug_server.py PORT-FILE LOG --silent  takes connections and never answers

Writes its port to PORT-FILE, and each path that it is asked for to LOG.
"""
import http.server
import os
import shutil
import socket
import sys
import time


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers /buildid/ID/KIND."""

    def do_GET(self):
        """Sends the file."""
        with open(sys.argv[2], "a", encoding="utf-8") as log:
            log.write(self.path + "\n")
        parts = self.path.strip("/").split("/")
        path = os.path.join(sys.argv[3], *parts[1:]) if parts[0] == "buildid" else ""
        if not os.path.isfile(path):
            self.send_error(404)
            return
        with open(path, "rb") as file:
            self.send_response(200)
            self.send_header("Content-Length", str(os.path.getsize(path)))
            self.end_headers()
            shutil.copyfileobj(file, self.wfile)

    def log_message(self, *_):
        """Keeps stderr empty."""


def publish(port):
    """Writes the port, in one step."""
    with open(sys.argv[1] + ".new", "w", encoding="utf-8") as file:
        file.write(str(port))
    os.rename(sys.argv[1] + ".new", sys.argv[1])


if sys.argv[3] == "--silent":
    listener = socket.create_server(("127.0.0.1", 0))
    publish(listener.getsockname()[1])
    taken = []
    while True:
        taken.append(listener.accept())
        with open(sys.argv[2], "a", encoding="utf-8") as log:
            log.write("connection\n")
        time.sleep(0.01)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
publish(server.server_address[1])
server.serve_forever()
