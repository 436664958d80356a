"""A server and mounts for tests: tests/serve, which can be killed and started anew, and processes of `stoa mount`.

A watchdog ends the mounts of a test that hangs: the kernel then fails all that waits for them.
"""

import contextlib
import fcntl
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def build():
    return os.environ.get("STOA_BUILD") or os.path.join(TOP, "build", "release")


def unused_ports(count):
    """So many free ports in a row, below those that the kernel gives out: nobody takes them while the server is down."""
    while True:
        base = random.randrange(10_000, 20_000 - count)
        try:
            for port in range(base, base + count):
                with socket.socket() as one:
                    one.bind(("127.0.0.1", port))
            return base
        except OSError:
            continue


URING = "/sys/module/fuse/parameters/enable_uring"
TRANSPORTS = ("/dev/fuse", "io_uring") if os.path.exists(URING) else ("/dev/fuse",)  # that this kernel has


@contextlib.contextmanager
def transport(name):
    """New mounts have it, as in tests/frontends/native/fuse/uring_parameter.h: others who set it wait."""
    if TRANSPORTS == (name,):
        yield
        return
    with open(URING, "r+b", buffering=0) as parameter:
        fcntl.flock(parameter, fcntl.LOCK_EX)
        before = os.pread(parameter.fileno(), 1, 0)
        os.pwrite(parameter.fileno(), b"Y" if name == "io_uring" else b"N", 0)
        try:
            yield
        finally:
            os.pwrite(parameter.fileno(), before, 0)


def seed():
    """STOA_MOUNT_SEED, or a new one; printed."""
    chosen = int(os.environ.get("STOA_MOUNT_SEED") or random.randrange(1 << 32))
    print(f"seed {chosen}", file=sys.stderr)
    return chosen


class Server:
    """tests/serve on fixed ports, so that clients find it after a restart."""

    def __init__(self, folder, lease):
        self.folder, self.base, self.lease, self.process, self.values = folder, unused_ports(8), lease, None, {}
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [os.path.join(TOP, "tests", "serve"), "--build", build(), "--data", self.folder, "--port-base", str(self.base), "--lease", str(self.lease)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if line.strip() == "READY":
                return
            name, _, value = line.strip().partition("=")
            self.values[name] = value
        raise RuntimeError("tests/serve did not start")

    def kill(self):
        os.kill(int(self.values["STOA_PID"]), signal.SIGKILL)
        self.stop()

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Mount:
    """A process of `stoa mount --foreground`. `url` is the server's, or that of something in front of it."""

    def __init__(self, folder, name, values, url=None):
        self.stoa, self.path, self.log = os.path.join(build(), "bin", "stoa"), os.path.join(folder, name), os.path.join(folder, name + ".log")
        os.mkdir(self.path)
        self.process = subprocess.Popen(
            [self.stoa, "mount", "--foreground", "--log-file", self.log, self.path],
            env={**os.environ, "STOA_NATIVE_URL": url or values["STOA_NATIVE_URL"], "STOA_NATIVE_KEY_FILE": values["STOA_NATIVE_KEY_FILE"]})
        while not os.path.ismount(self.path):
            if self.process.poll() is not None:
                raise RuntimeError("stoa mount ended: " + open(self.log, encoding="utf-8").read())
            os.sched_yield()

    def end(self):
        subprocess.run([self.stoa, "umount", "--lazy", self.path], stderr=subprocess.DEVNULL, check=False)
        try:
            self.process.wait(30)  # a file that a failed test has left open keeps it
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class MountedCase(unittest.TestCase):
    """A server for the whole class, and the mounts that it asks for."""

    seconds = float(os.environ.get("STOA_MOUNT_WATCHDOG_SECONDS") or 500)  # until the watchdog
    lease = 90     # tests/serve --lease

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK):
            raise unittest.SkipTest("mounting needs the superuser and /dev/fuse")
        cls.folder = tempfile.mkdtemp(prefix="stoa-mounts-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        os.chmod(cls.folder, 0o755)
        cls.server = Server(os.path.join(cls.folder, "data"), cls.lease)
        cls.addClassCleanup(lambda: cls.server.stop())
        cls.mounts = []
        cls.watchdog = threading.Timer(cls.seconds, lambda: [mount.process.kill() for mount in cls.mounts])
        cls.watchdog.daemon = True
        cls.watchdog.start()
        cls.addClassCleanup(cls.watchdog.cancel)

    @classmethod
    def mount(cls, name, url=None):
        mount = Mount(cls.folder, name, cls.server.values, url)
        cls.mounts.append(mount)
        cls.addClassCleanup(mount.end)
        return mount
