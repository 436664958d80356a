"""Programs on two mounts go on while the server is killed and started again, and while their connections are cut: no error, no wrong byte,
no operation lost or done twice.

STOA_MOUNT_TORN_SECONDS is how long.
"""

import os
import random
import socket
import sys
import threading
import time
import traceback
import unittest
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mounts import MountedCase, seed  # noqa: E402


class Wire:
    """A TCP proxy in front of the server, whose connections can be cut at any byte."""

    def __init__(self, url):
        self.target = urllib.parse.urlsplit(url)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"stoa://127.0.0.1:{self.listener.getsockname()[1]}{self.target.path}"
        self.lock, self.sockets = threading.Lock(), set()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection((self.target.hostname, self.target.port))
            except OSError:
                client.close()
                continue
            with self.lock:
                self.sockets |= {client, server}
            for source, sink in ((client, server), (server, client)):
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.copy, args=(source, sink), daemon=True).start()

    def copy(self, source, sink):
        try:
            while data := source.recv(1 << 16):
                sink.sendall(data)
        except OSError:
            pass
        with self.lock:
            for one in (source, sink):
                if one in self.sockets:
                    try:
                        one.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass
            # The second of the two directions closes both.
            if source not in self.sockets or sink not in self.sockets:
                source.close()
                sink.close()
            self.sockets.discard(source)

    def cut(self):
        with self.lock:
            for one in self.sockets:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def close(self):
        self.listener.close()
        self.cut()


def append(path, content):
    """Whole, in one call of the system."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        written = os.write(file, content)
        if written != len(content):
            raise AssertionError(f"{path}: {written} bytes of {len(content)} were appended")
    finally:
        os.close(file)


class Worker(threading.Thread):
    """Names and content in a directory of its own, each step looked at at once; what is done twice or not at all fails."""

    def __init__(self, root, log, ended, dice):
        super().__init__()
        self.root, self.log, self.ended, self.dice, self.failed, self.steps, self.tree = root, log, ended, dice, None, 0, {}
        self.number, self.logged = int(os.path.basename(root)), 0

    def run(self):
        try:
            while not self.ended.is_set():
                self.step()
                self.steps += 1
        except BaseException as error:  # pylint: disable=broad-except
            traceback.print_exc()
            self.failed = error

    def step(self):
        name = f"{self.root}/{self.dice.randrange(20)}"
        content = self.dice.randbytes(self.dice.choice((0, 1, 4097, 70_001, 300_000)))
        if name not in self.tree:
            with open(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644), "wb", buffering=0) as file:
                while content:
                    self.tree[name] = self.tree.get(name, b"") + content[:131_072]
                    content = content[file.write(content[:131_072]):]
                if self.dice.random() < 0.3:
                    os.fsync(file.fileno())
            self.tree.setdefault(name, b"")
            return
        kind = self.dice.randrange(6)
        if kind == 0:
            os.unlink(name)
            del self.tree[name]
        elif kind == 1:
            other = f"{self.root}/{self.dice.randrange(20)}"
            os.rename(name, other)
            self.tree[other] = self.tree.pop(name)
        elif kind == 2:
            at = self.dice.randrange(len(self.tree[name]) + 1)
            with open(name, "r+b", buffering=0) as file:
                os.pwrite(file.fileno(), content, at)
            old = self.tree[name]
            self.tree[name] = old[:at] + content + old[at + len(content):]
        elif kind == 3:
            size = self.dice.randrange(len(self.tree[name]) + 2)
            os.truncate(name, size)
            self.tree[name] = self.tree[name][:size].ljust(size, b"\0")
        elif kind == 4:
            append(name, content)
            self.tree[name] += content
            append(self.log, f"{self.number} {self.logged} ".encode().ljust(self.dice.choice((10, 300, 9000)), b".") + b"\n")
            self.logged += 1
        else:
            os.mkdir(name + "-dir")
            os.rmdir(name + "-dir")
        self.check(self.root, name)

    def check(self, root, name):
        path = os.path.join(root, os.path.basename(name))
        if name not in self.tree:
            if os.path.lexists(path):
                raise AssertionError(f"{path} is there")
            return
        with open(path, "rb") as file:
            seen = file.read()
        if seen != self.tree[name]:
            raise AssertionError(f"{path}: {len(seen)} bytes for {len(self.tree[name])}, or others")


class TornTest(MountedCase):
    def test_programs_go_on(self):
        seconds = float(os.environ.get("STOA_MOUNT_TORN_SECONDS") or 20)
        chosen = seed()
        dice, ended = random.Random(chosen), threading.Event()
        wire = Wire(self.server.values["STOA_NATIVE_URL"])
        self.addClassCleanup(wire.close)
        a, b = self.mount("a", wire.url).path, self.mount("b", wire.url).path
        workers = []
        with open(f"{a}/log", "wb"):
            pass
        for number in range(4):
            os.mkdir(f"{a}/{number}")
            mount = (a, b)[number % 2]
            workers.append(Worker(f"{mount}/{number}", f"{mount}/log", ended, random.Random(chosen + number)))
        for worker in workers:
            worker.start()
        until, restarts, cuts = time.monotonic() + seconds, 0, 0
        try:
            while time.monotonic() < until and not any(worker.failed for worker in workers):
                time.sleep(dice.random() * 2)
                if dice.random() < 0.3:
                    self.server.kill()
                    self.server.start()
                    restarts += 1
                else:
                    wire.cut()
                    cuts += 1
        finally:
            ended.set()
            for worker in workers:
                worker.join()
        print(f"{sum(worker.steps for worker in workers)} steps, {restarts} restarts, {cuts} cuts", file=sys.stderr)
        for mount in self.mounts:
            if any(worker.failed for worker in workers):
                with open(mount.log, encoding="utf-8") as log:
                    print(log.read(), file=sys.stderr)
        self.assertEqual([worker.failed for worker in workers if worker.failed], [])
        for number, worker in enumerate(workers):
            there = f"{(b, a)[number % 2]}/{number}"
            self.assertEqual(sorted(os.listdir(there)), sorted(map(os.path.basename, worker.tree)))
            for name in worker.tree:
                worker.check(there, name)
            self.assertGreater(worker.steps, 0)
        # What all of them have appended: each line once, those of a worker in their order.
        for mount in (a, b):
            with open(f"{mount}/log", "rb") as log:
                lines = [line.split(maxsplit=2)[:2] for line in log]
            for number, worker in enumerate(workers):
                seen = [int(line[1]) for line in lines if line[0] == b"%d" % number]
                self.assertEqual(seen, list(range(worker.logged)))
            self.assertEqual(len(lines), sum(worker.logged for worker in workers))


if __name__ == "__main__":
    unittest.main(verbosity=2)
