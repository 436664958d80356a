"""stoa mount and stoa umount against a real stoad: calls and their errors, two mounts, kill -9 of the server, failures.

Mounts are served by processes of their own, which a watchdog kills after a minute: the kernel then fails whatever hangs.
"""

import ctypes
import errno
import fcntl
import json
import mmap
import os
import random
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STOA = os.path.join(os.environ["STOA_BUILD"], "bin", "stoa")


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


class Server:
    """tests/serve, which can be killed and started anew on the same ports."""

    def __init__(self, folder):
        self.folder, self.base, self.process, self.values = folder, unused_ports(8), None, {}
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [os.path.join(TOP, "tests", "serve"), "--build", os.environ["STOA_BUILD"], "--data", self.folder, "--port-base", str(self.base),
             "--lease", "2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if line.strip() == "READY":
                return
            name, _, value = line.strip().partition("=")
            self.values[name] = value
        raise RuntimeError("tests/serve did not start")

    def kill(self):
        os.kill(int(self.values["STOA_PID"]), signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class MountTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK):
            raise unittest.SkipTest("mounting needs the superuser and /dev/fuse")
        cls.folder = tempfile.mkdtemp(prefix="stoa-mount-test-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        os.chmod(cls.folder, 0o755)
        cls.server = Server(os.path.join(cls.folder, "data"))
        cls.addClassCleanup(cls.server.stop)
        if "STOA_NATIVE_URL" not in cls.server.values:
            raise unittest.SkipTest("tests/serve publishes nothing over the native protocol")
        cls.mounts = []
        cls.watchdog = threading.Timer(60, lambda: [mount.kill() for mount in cls.mounts])
        cls.watchdog.start()
        cls.addClassCleanup(cls.watchdog.cancel)
        cls.a, cls.b = cls.mount("a"), cls.mount("b")

    @classmethod
    def environment(cls):
        return {**os.environ, **{name: cls.server.values[name] for name in ("STOA_NATIVE_URL", "STOA_NATIVE_KEY_FILE")}}

    @classmethod
    def mount(cls, name):
        directory = os.path.join(cls.folder, name)
        os.mkdir(directory)
        log = os.path.join(cls.folder, name + ".log")
        process = subprocess.Popen([STOA, "mount", "--foreground", "--log-file", log, directory], env=cls.environment())
        cls.mounts.append(process)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(subprocess.run, [STOA, "umount", "--lazy", directory], stderr=subprocess.DEVNULL)
        while not os.path.ismount(directory):
            if process.poll() is not None:
                raise RuntimeError("stoa mount ended")
            os.sched_yield()
        return directory

    def fails(self, code, call, *words, **more):
        with self.assertRaises(OSError) as raised:
            call(*words, **more)
        self.assertEqual(errno.errorcode[raised.exception.errno], errno.errorcode[code])

    def put(self, path, content):
        with open(path, "wb") as file:
            file.write(content)

    def get(self, path):
        with open(path, "rb") as file:
            return file.read()

    def test_names_and_content_are_the_same_on_both_mounts(self):
        a, b = os.path.join(self.a, "names"), os.path.join(self.b, "names")
        os.mkdir(a, 0o750)
        self.assertEqual(stat.S_IMODE(os.stat(b).st_mode), 0o750)
        large = os.urandom((1 << 20) * 2 + 1)
        self.put(a + "/file", large)
        self.assertEqual(self.get(b + "/file"), large)
        os.rename(b + "/file", b + "/moved")
        self.fails(errno.ENOENT, os.stat, a + "/file")
        self.assertEqual(os.stat(a + "/moved").st_ino, os.stat(b + "/moved").st_ino)
        os.link(a + "/moved", a + "/second")
        self.assertEqual(os.stat(b + "/moved").st_nlink, 2)
        os.symlink("moved", a + "/soft")
        self.assertEqual(os.readlink(b + "/soft"), "moved")
        self.fails(errno.EEXIST, os.open, a + "/moved", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        self.fails(errno.ENOTEMPTY, os.rmdir, b)
        self.fails(errno.EISDIR, os.unlink, b)
        self.fails(errno.ENAMETOOLONG, os.mkdir, a + "/" + "n" * 256)
        os.truncate(a + "/moved", 3)
        os.chmod(a + "/moved", 0o604)
        os.chown(a + "/moved", 5, 6)
        os.utime(a + "/moved", ns=(1_000_000_001, 2_000_000_002))
        seen = os.stat(b + "/moved")
        self.assertEqual((seen.st_size, stat.S_IMODE(seen.st_mode), seen.st_uid, seen.st_gid, seen.st_atime_ns, seen.st_mtime_ns),
                         (3, 0o604, 5, 6, 1_000_000_001, 2_000_000_002))
        os.setxattr(a + "/moved", "user.x", b"value")
        self.assertEqual(os.getxattr(b + "/moved", "user.x"), b"value")
        self.assertEqual(os.listxattr(b + "/moved"), ["user.x"])
        os.removexattr(b + "/moved", "user.x")
        self.fails(errno.ENODATA, os.getxattr, a + "/moved", "user.x")
        self.assertGreater(os.statvfs(a).f_blocks, 0)

    def test_a_large_directory_is_listed_whole(self):
        directory = os.path.join(self.a, "many")
        os.mkdir(directory)
        for number in range(1100):
            os.mknod(f"{directory}/{number}")
        self.assertEqual(sorted(map(int, os.listdir(os.path.join(self.b, "many")))), list(range(1100)))

    def test_open_files_keep_what_they_have(self):
        path = os.path.join(self.a, "open")
        with open(path, "w+b", buffering=0) as file:
            file.write(b"kept")
            os.unlink(os.path.join(self.b, "open"))
            self.fails(errno.ENOENT, os.stat, path)
            self.assertEqual(os.pread(file.fileno(), 10, 0), b"kept")
            os.ftruncate(file.fileno(), 8192)
            self.assertEqual(os.lseek(file.fileno(), 0, os.SEEK_END), 8192)
            os.posix_fallocate(file.fileno(), 0, 16384)
            self.assertEqual(os.fstat(file.fileno()).st_size, 16384)
            with mmap.mmap(file.fileno(), 8192) as memory:
                memory[5:8] = b"map"
                memory.flush()
            self.assertEqual(os.pread(file.fileno(), 10, 0), b"kept\0map\0\0")
        with open(path, "wb", buffering=0) as one, open(os.path.join(self.b, "open"), "ab", buffering=0) as two:
            one.write(b"1")
            two.write(b"2")
            self.assertEqual(self.get(path), b"12")
        copied = os.open(path + "-copy", os.O_CREAT | os.O_RDWR)
        source = os.open(path, os.O_RDONLY)
        self.assertEqual(os.copy_file_range(source, copied, 10), 2)
        os.close(source)
        os.close(copied)
        self.assertEqual(self.get(path + "-copy"), b"12")

    def test_what_only_linux_asks_for(self):
        directory = os.path.join(self.a, "linux")
        os.mkdir(directory)
        libc = ctypes.CDLL(None, use_errno=True)

        def calls(function, *words):
            if function(*words) != 0:
                raise OSError(ctypes.get_errno(), "failed")

        def exchange(one, two):
            calls(libc.renameat2, -100, os.fsencode(one), -100, os.fsencode(two), 2)

        def fallocate(file, mode, offset, length):
            calls(libc.fallocate, file, mode, ctypes.c_long(offset), ctypes.c_long(length))

        one, two = directory + "/one", directory + "/two"
        self.put(one, b"abcdef")
        self.put(two, b"two")
        exchange(one, two)
        self.assertEqual((self.get(one), self.get(two)), (b"two", b"abcdef"))
        self.fails(errno.ENOENT, exchange, one, directory + "/none")
        keep_size, zero_range = 1, 0x10
        with open(two, "r+b", buffering=0) as file:
            fallocate(file.fileno(), keep_size, 0, 1 << 20)
            fallocate(file.fileno(), zero_range | keep_size, 5, 100)
            fallocate(file.fileno(), zero_range, 1, 2)
            self.assertEqual(self.get(two), b"a\0\0de\0")
            fallocate(file.fileno(), zero_range, 6, 1)
            self.assertEqual(self.get(two), b"a\0\0de\0\0")
            self.fails(errno.EOPNOTSUPP, fallocate, file.fileno(), 0x08, 0, 4096)
        file = os.open(directory, os.O_TMPFILE | os.O_RDWR, 0o640)
        os.write(file, b"named late")
        self.assertEqual(sorted(os.listdir(directory)), ["one", "two"])
        os.link(f"/proc/self/fd/{file}", directory + "/late", src_dir_fd=0, follow_symlinks=True)
        os.close(file)
        self.assertEqual(self.get(os.path.join(self.b, "linux", "late")), b"named late")

    def test_locks_hold_between_mounts(self):
        with open(os.path.join(self.a, "locked"), "w+b") as one, open(os.path.join(self.b, "locked"), "r+b") as two:
            fcntl.lockf(one, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 5)
            self.fails(errno.EAGAIN, fcntl.lockf, two, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 14)
            fcntl.lockf(two, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 15)
            got = threading.Event()

            def wait():
                fcntl.lockf(two, fcntl.LOCK_EX, 10, 5)
                got.set()

            waiter = threading.Thread(target=wait)
            waiter.start()
            os.stat(self.b)  # others are not hindered
            fcntl.lockf(one, fcntl.LOCK_UN, 10, 5)
            waiter.join()
            self.assertTrue(got.is_set())

    def ends_without_a_server(self, directory):
        """A program that is killed ends, and so does a mount that is unmounted."""
        process = self.mounts[-1]
        program = subprocess.Popen(["sh", "-c", 'echo asks; exec stat "$0"', directory + "/held"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        program.stdout.readline()
        self.assertEqual(self.stoa("umount", "--lazy", directory), (0, ""))
        program.kill()
        program.wait()
        program.stdout.close()
        self.assertEqual(process.wait(), 0)

    def test_a_killed_server_is_a_pause(self):
        third = self.mount("third")
        directory = os.path.join(self.a, "killed")
        os.mkdir(directory)
        begun, failed, done = threading.Event(), [], []

        def work():
            try:
                for number in range(60):
                    with open(f"{directory}/{number}", "wb") as file:
                        file.write(b"%d" % number * 1000)
                        if number % 2 == 0:
                            os.fsync(file.fileno())
                    os.rename(f"{directory}/{number}", f"{directory}/done-{number}")
                    done.append(number)
                    if number == 20:
                        begun.set()
            except OSError as error:
                failed.append(error)
            begun.set()

        with open(os.path.join(self.a, "held"), "w+b", buffering=0) as held, open(os.path.join(self.b, "held"), "r+b") as other:
            fcntl.lockf(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held.write(b"not synced")
            lines = open(os.path.join(self.a, "lines"), "ab", buffering=0)
            self.addCleanup(lines.close)
            lines.write(b"before,")
            worker = threading.Thread(target=work)
            worker.start()
            begun.wait()
            self.server.kill()
            self.ends_without_a_server(third)
            self.server.start()
            worker.join()
            self.assertEqual(failed, [])
            lines.write(b"after")
            self.assertEqual(self.get(os.path.join(self.b, "lines")), b"before,after")
            os.fsync(held.fileno())
            self.assertEqual(os.pread(held.fileno(), 100, 0), b"not synced")
            self.fails(errno.EAGAIN, fcntl.lockf, other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        there = os.path.join(self.b, "killed")
        self.assertEqual(sorted(os.listdir(there)), sorted(f"done-{number}" for number in range(60)))
        for number in range(60):
            self.assertEqual(self.get(f"{there}/done-{number}"), b"%d" % number * 1000)

    def stoa(self, *words, **environment):
        done = subprocess.run([STOA, *words], capture_output=True, text=True, env={**self.environment(), **environment}, stdin=subprocess.DEVNULL)
        return done.returncode, done.stderr.strip()

    def test_a_mount_goes_on_in_the_background_until_it_is_unmounted(self):
        directory = os.path.join(self.folder, "behind")
        os.mkdir(directory)
        self.addCleanup(self.stoa, "umount", "--lazy", directory)
        self.assertEqual(self.stoa("mount", directory), (0, ""))
        self.put(directory + "/behind", b"x")
        self.assertEqual(self.get(self.a + "/behind"), b"x")
        with open(directory + "/behind", "rb"):
            code, text = self.stoa("umount", directory)
            self.assertEqual(code, 1)
            self.assertIn("is in use", text)
        self.assertEqual(self.stoa("umount", directory), (0, ""))
        code, text = self.stoa("umount", directory)
        self.assertEqual(code, 4)
        self.assertIn("nothing is mounted", text)

    def test_umount_waits_until_written_data_is_safe_and_the_process_has_ended(self):
        directory = self.mount("waits")
        process = self.mounts[-1]
        content = os.urandom((1 << 20) * 8 + 1)
        with open(directory + "/unsynced", "wb") as file:
            file.write(content)
        self.assertEqual(self.stoa("umount", directory)[0], 0)
        self.assertEqual(process.poll(), 0)  # without waiting
        self.assertEqual(self.get(self.a + "/unsynced"), content)

    def test_umount_of_a_mount_whose_process_was_killed(self):
        directory = self.mount("died")
        self.mounts[-1].kill()
        self.mounts[-1].wait()
        code, text = self.stoa("stats", directory)
        self.assertEqual(code, 3, text)
        self.assertIn("no process serves", text)
        self.assertEqual(self.stoa("umount", directory), (0, ""))

    def test_sigterm_writes_back_and_unmounts(self):
        directory = self.mount("terminated")
        self.put(directory + "/terminated", b"x" * 100_001)
        self.mounts[-1].terminate()
        self.assertEqual(self.mounts[-1].wait(), 0)
        self.assertFalse(os.path.ismount(directory))
        self.assertEqual(self.get(self.a + "/terminated"), b"x" * 100_001)

    def stats(self, directory, *words):
        return subprocess.run([STOA, *words, "stats", directory], capture_output=True, text=True, check=True).stdout

    def test_stats(self):
        directory = self.mount("counted")
        before = json.loads(self.stats(directory, "--json"))
        self.assertEqual(before["server"], self.server.values["STOA_NATIVE_URL"])
        self.assertIn(before["transport"], ("fuse", "ring"))
        with open(directory + "/counted", "wb") as file:
            file.write(b"1")
            os.fsync(file.fileno())
        after = json.loads(self.stats(directory, "--json"))
        self.assertGreater(after["calls"], before["calls"])
        self.assertEqual(after["unsent_bytes"], 0)
        self.assertTrue(all(type(value) is int and value >= 0 for name, value in after.items() if name not in ("server", "transport")), after)
        table = self.stats(directory)
        for name in after:
            self.assertIn("\n" + name + " ", table)
        text = subprocess.run([STOA, "stats", "--prometheus", directory + "/"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(text, r'# TYPE stoa_mount_calls_total counter\nstoa_mount_calls_total\{directory=".*",server="stoa://.*",transport="\w+"\} \d+\n')
        self.assertIn("# TYPE stoa_mount_unsent_bytes gauge\n", text)
        for nothing in (self.folder, "/nowhere", "/"):
            code, text = self.stoa("stats", nothing)
            self.assertEqual(code, 4, text)
            self.assertIn("nothing is mounted", text)
        done = subprocess.run([STOA, "stats", directory], capture_output=True, text=True, check=False, user=65534, group=65534, extra_groups=[])
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("another user", done.stderr)

    def test_strangers_cannot_listen_nor_block_others(self):
        directory = self.mount("watched")
        device = os.stat(directory).st_dev
        name = f"\0stoa-mount/{os.major(device)}:{os.minor(device)}"
        watchers = []
        self.addCleanup(lambda: [one.close() for one in watchers])
        for _ in range(20):  # more than are served, and none reads
            one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            one.connect(name)
            watchers.append(one)
        self.assertIn(b"server ", watchers[0].recv(65536))
        for one in watchers:
            one.close()
        self.assertIn("calls", self.stats(directory))
        script = "import os, socket, sys; os.setgid(65534); os.setuid(65534); s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); " \
                 "s.connect(chr(0) + sys.argv[1]); print(s.recv(9) == b'')"
        done = subprocess.run(["/usr/bin/python3", "-c", script, name[1:]], capture_output=True, text=True, check=False)
        self.assertTrue(done.stdout == "True\n" or "ConnectionReset" in done.stderr, done)

    def test_each_failure_is_one_sentence(self):
        directory = os.path.join(self.folder, "never")
        os.mkdir(directory)
        strange = os.path.join(self.folder, "strange.key")
        with open(os.open(strange, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as file:
            file.write("host STRANGE0000000000000 c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmU=\n")
        for words, more in (([directory + "-none"], {}), (["stoa://127.0.0.1:1/test", directory], {}), ([directory], {"STOA_NATIVE_URL": ""}),
                            ([directory], {"STOA_NATIVE_KEY_FILE": ""}), (["--key-file", "/nowhere", directory], {}),
                            (["--key-file", strange, directory], {}), ([self.server.values["STOA_NATIVE_URL"] + "none", directory], {})):
            code, text = self.stoa("mount", *words, **more)
            self.assertNotEqual(code, 0, words)
            self.assertTrue(text.startswith("stoa: "), text)
            self.assertEqual(text.count("\n"), 0, text)
            self.assertFalse(os.path.ismount(directory))


if __name__ == "__main__":
    unittest.main()
