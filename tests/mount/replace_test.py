"""stoa mount --replace: programs on a mount notice nothing when another process takes it over, and nothing is lost when that fails."""

import array
import contextlib
import errno
import fcntl
import json
import mmap
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mounts import TRANSPORTS, MountedCase, build, seed, transport  # noqa: E402

STOA = os.path.join(build(), "bin", "stoa")
ROUNDS = 5
TRANSPORT_OF_STATS = {"/dev/fuse": "fuse", "io_uring": "ring"}


def stats(directory):
    return json.loads(subprocess.run([STOA, "--json", "stats", directory], check=True, capture_output=True, text=True).stdout)


def may_lock(path, start, length):
    """Whether a process of another mount gets the lock; it is given up at once."""
    with open(path, "r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, length, start)
        except OSError as error:
            if error.errno != errno.EAGAIN:
                raise
            return False
        return True


class Busy:
    """Threads that go on while mounts change hands; the first error of one is that of the test."""

    def __init__(self):
        self.over, self.failures, self.threads, self.turns = threading.Event(), [], [], {}

    def add(self, name, work):
        def run():
            try:
                while not self.over.is_set():
                    work()
                    self.turns[name] = self.turns.get(name, 0) + 1
            except BaseException:  # told by end()
                self.failures.append(name + ": " + traceback.format_exc())

        self.threads.append(threading.Thread(target=run, daemon=True))
        self.threads[-1].start()

    def end(self, case):
        self.over.set()
        for thread in self.threads:
            thread.join(30)
            case.assertFalse(thread.is_alive())
        case.assertEqual(self.failures, [])


class Copy:
    """Random writes, reads and truncations of one open file, each checked against a copy."""

    most = 1 << 20

    def __init__(self, path, choose):
        self.file, self.copy, self.choose = os.open(path, os.O_CREAT | os.O_RDWR), bytearray(), choose

    def turn(self):
        at, length = self.choose.randrange(self.most), self.choose.randrange(1, 100_000)
        what = self.choose.randrange(20)
        if what < 9:
            data = self.choose.randbytes(length)
            if os.pwrite(self.file, data, at) != length:
                raise AssertionError("a short write")
            self.copy.extend(bytes(max(0, at - len(self.copy))))
            self.copy[at:at + length] = data
        elif what < 18:
            self.look(at, length)
        elif what == 18:
            os.fsync(self.file)
        else:
            os.ftruncate(self.file, at)
            del self.copy[at:]
            self.copy.extend(bytes(at - len(self.copy)))

    def look(self, at, length):
        if os.pread(self.file, length, at) != self.copy[at:at + length]:
            raise AssertionError(f"other bytes at {at}, {length} long")


class ReplaceCase(MountedCase):
    """Two mounts over one transport."""

    seconds = 240
    over = "/dev/fuse"

    @classmethod
    def setUpClass(cls):
        if cls.over not in TRANSPORTS:
            raise unittest.SkipTest("this kernel has no FUSE over " + cls.over)
        super().setUpClass()
        with transport(cls.over):
            cls.a, cls.b = cls.mount("a"), cls.mount("b")
        cls.choose = random.Random(seed())

    def replace(self, mount, *words, code=0):
        """A new process in the foreground, as those of mounts.py; the old one ends by itself. Or its complaint."""
        old = mount.process
        command = [STOA, "mount", "--replace", *words, mount.path]
        if code != 0:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIsNone(old.poll())
            return done.stderr
        mount.process = subprocess.Popen(command[:3] + ["--foreground"] + command[3:])
        self.assertEqual(old.wait(60), 0)
        self.assertEqual(stats(mount.path)["process"], mount.process.pid)
        return ""

    def at(self, mount, name):
        return os.path.join(mount.path, name)


class ReplaceTest:
    """Over any transport."""

    def test_programs_notice_nothing(self):
        a, b, busy = self.a, self.b, Busy()
        os.mkdir(self.at(a, "work"))
        for number in range(3000):
            os.mknod(self.at(a, f"work/{number:05}"))

        first = Copy(self.at(a, "copy"), random.Random(self.choose.random()))
        gone = Copy(self.at(a, "gone"), random.Random(self.choose.random()))
        os.unlink(self.at(a, "gone"))
        busy.add("copy", first.turn)
        busy.add("unlinked", gone.turn)

        log, lines = os.open(self.at(a, "log"), os.O_CREAT | os.O_WRONLY | os.O_APPEND), []

        def append():
            lines.append(f"{len(lines)} {'x' * self.choose.randrange(200)}\n")
            if os.write(log, lines[-1].encode()) != len(lines[-1]):
                raise AssertionError("a short write")

        def make():
            name = self.at(a, f"work/new{len(lines)}-{busy.turns.get('make', 0)}")
            with open(name, "wb") as file:
                file.write(name.encode())
            os.rename(name, name + "-moved")
            with open(name + "-moved", "rb") as file:
                if file.read() != name.encode():
                    raise AssertionError("another content")
            os.unlink(name + "-moved")

        busy.add("append", append)
        busy.add("make", make)
        busy.add("other mount", lambda: os.stat(self.at(b, "copy")))

        locked = open(self.at(a, "locked"), "w+b", buffering=0)
        fcntl.lockf(locked, fcntl.LOCK_EX, 10, 0)
        whole = open(self.at(a, "whole"), "w+b", buffering=0)
        fcntl.flock(whole, fcntl.LOCK_EX)

        # The lock of another mount, for which one here waits.
        theirs, waits, got = open(self.at(b, "waited"), "w+b", buffering=0), open(self.at(a, "waited"), "r+b", buffering=0), threading.Event()
        fcntl.lockf(theirs, fcntl.LOCK_EX)

        def wait():
            fcntl.lockf(waits, fcntl.LOCK_EX)
            got.set()

        waiter = threading.Thread(target=wait, daemon=True)
        waiter.start()

        killed = subprocess.Popen([sys.executable, "-c", "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'r+b'), fcntl.LOCK_EX)", self.at(a, "waited")])

        mapped = open(self.at(a, "mapped"), "w+b", buffering=0)
        mapped.truncate(8192)
        memory = mmap.mmap(mapped.fileno(), 8192)
        inside = subprocess.Popen(["sh", "-c", "while read -r name; do echo \"$(cat \"$name\")\"; done"], cwd=self.at(a, "work"), stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True, bufsize=1)
        for number in range(ROUNDS):
            listed = os.scandir(self.at(a, "work"))
            before = [next(listed).name for _ in range(10)]
            memory[number] = memory[4096 + number] = ord("a") + number
            with open(self.at(a, "word"), "w", encoding="utf-8") as file:
                file.write(f"round {number}")
            self.replace(a)
            names = [name for name in before + [entry.name for entry in listed] if not name.startswith("new")]
            self.assertEqual(sorted(names), [f"{one:05}" for one in range(3000)])
            self.assertEqual(bytes(memory[:number + 1]), b"abcdefgh"[:number + 1])
            memory.flush()
            with open(self.at(b, "mapped"), "rb") as file:
                self.assertEqual(file.read()[4096:4096 + number + 1], b"abcdefgh"[:number + 1])
            inside.stdin.write("../word\n")
            self.assertEqual(inside.stdout.readline(), f"round {number}\n")
            self.assertFalse(may_lock(self.at(b, "locked"), 9, 1))
            self.assertTrue(may_lock(self.at(b, "locked"), 10, 1))
            self.assertFalse(may_lock(self.at(b, "whole"), 0, 1))
            self.assertFalse(got.is_set())
            turns = dict(busy.turns)
            while any(busy.turns.get(name, 0) == turns[name] for name in turns) and not busy.failures:
                time.sleep(0.01)
        killed.terminate()
        self.assertEqual(killed.wait(20), -signal.SIGTERM)
        fcntl.lockf(theirs, fcntl.LOCK_UN)
        waiter.join(20)
        self.assertTrue(got.is_set())
        self.assertFalse(may_lock(self.at(b, "waited"), 0, 1))
        busy.end(self)
        self.assertEqual(stats(a.path)["transport"], TRANSPORT_OF_STATS[self.over])
        first.look(0, Copy.most * 2)
        gone.look(0, Copy.most * 2)
        with open(self.at(b, "log"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "".join(lines))

        # The server starts anew: the new process asks back what the first one has opened and locked.
        self.server.kill()
        self.assertIn("server does not answer", self.replace(a, code=1))
        self.server.start()
        first.look(0, Copy.most * 2)
        gone.look(0, Copy.most * 2)
        self.assertFalse(may_lock(self.at(b, "locked"), 9, 1))
        self.assertEqual(stats(a.path)["lost"], 0)

        whole.close()
        self.assertTrue(may_lock(self.at(b, "whole"), 0, 1))
        fcntl.lockf(locked, fcntl.LOCK_UN, 10, 0)
        self.assertTrue(may_lock(self.at(b, "locked"), 9, 1))
        inside.stdin.close()
        self.assertEqual(inside.wait(20), 0)
        inside.stdout.close()
        memory.close()
        for file in (locked, theirs, waits, mapped):
            file.close()
        for file in (first.file, gone.file, log):
            os.close(file)

    def talk(self, mount, *words):
        """Says the words to the monitor, as a new process does; its answers, without reports, and how many descriptors came."""
        status = os.stat(mount.path).st_dev
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as monitor:
            monitor.settimeout(40)
            monitor.connect(f"\0stoa-mount/{os.major(status)}:{os.minor(status)}")
            answers, descriptors = [], 0
            for word in words:
                monitor.send(word)
                while True:
                    text, others, _, _ = monitor.recvmsg(1 << 16, socket.CMSG_SPACE(253 * 4))
                    for _, _, data in others:
                        received = array.array("i", data)
                        descriptors += len(received)
                        for one in received:
                            os.close(one)
                    if not text.startswith(b"server "):
                        break
                answers.append(text)
        return answers, descriptors

    def test_who_fails_half_way_leaves_the_old_one_serving(self):
        b, busy = self.b, Busy()
        process = stats(b.path)["process"]
        copy = Copy(self.at(b, "kept"), random.Random(self.choose.random()))
        busy.add("copy", copy.turn)
        with open(self.at(b, "held"), "w+b", buffering=0) as held:
            fcntl.lockf(held, fcntl.LOCK_EX)
            for words, last in (([b"replace 99"], b"no "), ([b"bogus"], b"no "), ([b"replace 2"], b"options "), ([b"replace 2", b"bogus"], b"no "),
                                ([b"replace 2", b"go"], b"state"), ([b"replace 2", b"go", b"bogus"], b"no ")):
                answers, descriptors = self.talk(b, *words)
                self.assertTrue(answers[-1].startswith(last), answers)
                self.assertEqual(descriptors >= 3, b"go" in words)
                turns = busy.turns.get("copy", 0)
                while busy.turns.get("copy", 0) < turns + 20 and not busy.failures:
                    time.sleep(0.01)
                self.assertFalse(may_lock(self.at(self.a, "held"), 0, 1))
                self.assertEqual(stats(b.path)["process"], process)
            # Before anything has stopped, and after the old one has handed over all.
            self.assertIn("key", self.replace(b, "--key-file", "/no/such/key", code=1))
            self.assertIn("TLS", self.replace(b, "-o", "tls", code=1))
            self.assertFalse(may_lock(self.at(self.a, "held"), 0, 1))
        self.assertEqual(stats(b.path)["process"], process)
        self.replace(b, "-o", "soft=600", "--log-file", b.log + "2")
        self.assertTrue(os.path.getsize(b.log + "2") > 0)
        busy.end(self)
        copy.look(0, Copy.most * 2)
        os.close(copy.file)

    def test_who_dies_after_its_word_takes_the_mount_along(self):
        """As every process of a mount does; nobody hangs, not the old process, either."""
        with transport(self.over):
            mount = self.mount("dies")
        file, end = os.open(self.at(mount, "file"), os.O_CREAT | os.O_RDWR), []

        def use():
            try:
                while True:
                    os.fstat(file)
                    os.pwrite(file, b"x", 0)
            except OSError as error:
                end.append(error.errno)

        user = threading.Thread(target=use, daemon=True)
        user.start()
        answers, _ = self.talk(mount, b"replace 2", b"go", b"serving")
        self.assertEqual(answers[1:], [b"state", b""])
        self.assertEqual(mount.process.wait(30), 0)
        user.join(30)
        self.assertIn(end, ([errno.ENOTCONN], [errno.ECONNABORTED]))
        with contextlib.suppress(OSError):
            os.close(file)

    def test_unmounting_a_replaced_mount_waits_for_its_end(self):
        with transport(self.over):
            last = self.mount("last")
        for _ in range(2):
            self.replace(last)
        with open(self.at(last, "written"), "wb") as file:
            file.write(b"w" * 300_000)
        self.assertEqual(subprocess.run([STOA, "umount", last.path], check=False).returncode, 0)
        self.assertIsNotNone(last.process.poll())
        self.assertFalse(os.path.ismount(last.path))
        self.assertEqual(os.path.getsize(self.at(self.b, "written")), 300_000)

    def test_a_mount_in_the_background(self):
        """As after an upgrade of the package: the command returns when the new process serves."""
        with transport(self.over):
            mount = self.mount("background")
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(open(self.at(mount, "open"), "w+b", buffering=0))
            file.write(b"before")
            for _ in range(2):
                subprocess.run([STOA, "mount", "--replace", mount.path], check=True, timeout=60)
                self.assertEqual(mount.process.wait(20), 0)
                file.write(b"+")
            file.seek(0)
            self.assertEqual(file.read(), b"before++")
        self.assertEqual(subprocess.run([STOA, "umount", mount.path], check=False).returncode, 0)


class ReplaceOverDevFuse(ReplaceTest, ReplaceCase):
    def test_only_the_same_user(self):
        done = subprocess.run([STOA, "mount", "--replace", self.b.path], user=12345, group=12345, capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("another user", done.stderr)

    def test_words_that_do_not_fit(self):
        for words, sentence in (([self.folder], "nothing is mounted"), (["stoa://host/export", self.b.path], "the directory alone"),
                                (["-o", "bogus", self.b.path], "no option 'bogus'"), (["-o", "transport=rdma", self.b.path], "no transport 'rdma'")):
            done = subprocess.run([STOA, "mount", "--replace", *words], capture_output=True, text=True, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(sentence, done.stderr)
        self.assertIsNone(self.b.process.poll())


class ReplaceOverRings(ReplaceTest, ReplaceCase):
    over = "io_uring"

    def test_not_below_another_mount(self):
        """The old process sends requests to its own directory."""
        subprocess.run(["mount", "-t", "tmpfs", "none", self.b.path], check=True)
        try:
            self.assertIn("unmount that", self.replace(self.b, code=1))
        finally:
            subprocess.run(["umount", self.b.path], check=True)
        os.mknod(self.at(self.b, "behind"))
        self.replace(self.b)


if __name__ == "__main__":
    unittest.main()
