"""Processes on two mounts change one tree at random, in the manner of fsstress; then each walk of it tells the same: warm and cold mounts, and NFSv3.

STOA_MOUNT_TREES_SECONDS is how long the changes of each transport go on, STOA_MOUNT_SEED which they are.
"""

import ctypes
import errno
import hashlib
import os
import random
import signal
import stat
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mounts import TRANSPORTS, MountedCase, seed, transport  # noqa: E402
from places import NfsPlace  # noqa: E402

LIBC = ctypes.CDLL(None, use_errno=True)
EXCHANGE = 2
PROCESSES = 4
# What others may have done meanwhile, and what a random change may ask for. EIO is not among them.
FAIR = {errno.ENOENT, errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR, errno.EINVAL, errno.ELOOP, errno.ENODATA, errno.EBUSY, errno.EPERM}

# Linux looks a path up again, once, when what it has found is gone at the server (ESTALE): two mounts can take it away twice. That is rare.
STALE_MOST = 0.01


def rename2(old, new, flags):
    if LIBC.renameat2(-100, os.fsencode(old), -100, os.fsencode(new), flags) < 0:
        raise OSError(ctypes.get_errno(), "renameat2")


class Changer:
    """One process. Names are few, so that the others meet it at each of them."""

    def __init__(self, root, dice):
        self.root, self.dice, self.done, self.refused, self.stale = root, dice, 0, 0, 0

    def path(self):
        parts = [f"d{self.dice.randrange(4)}" for _ in range(self.dice.choice((0, 0, 1, 1, 2, 3)))]
        return "/".join((self.root, *parts, f"{self.dice.choice('dfff')}{self.dice.randrange(6)}"))

    def run(self, until):
        while time.monotonic() < until:
            change = getattr(self, self.dice.choice(CHANGES))
            path = self.path()
            try:
                change(path)
                self.done += 1
            except OSError as error:
                if error.errno == errno.ESTALE:
                    self.stale += 1
                elif error.errno not in FAIR:
                    raise RuntimeError(f"{change.__name__} {path}: {error!r}") from error
                self.refused += 1

    def make(self, path):
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, self.dice.choice((0o600, 0o644, 0o755))), "wb", buffering=0) as file:
            file.write(self.dice.randbytes(self.dice.choice((0, 1, 100, 5000, 70_000))))

    def write(self, path):
        with open(path, "r+b", buffering=0) as file:
            os.pwrite(file.fileno(), self.dice.randbytes(self.dice.choice((1, 4096, 9999))), self.dice.randrange(100_000))

    def append(self, path):
        with open(path, "ab", buffering=0) as file:
            file.write(self.dice.randbytes(self.dice.choice((1, 777))))

    def truncate(self, path):
        os.truncate(path, self.dice.choice((0, 1, 4096, 100_001)))

    def mkdir(self, path):
        os.mkdir(path)

    def unlink(self, path):
        os.unlink(path)

    def rmdir(self, path):
        os.rmdir(path)

    def rename(self, path):
        os.rename(path, self.path())

    def exchange(self, path):
        rename2(path, self.path(), EXCHANGE)

    def link(self, path):
        os.link(path, self.path(), follow_symlinks=False)

    def symlink(self, path):
        os.symlink("f" * self.dice.randrange(1, 60), path)

    def chmod(self, path):
        os.chmod(path, self.dice.choice((0o600, 0o644, 0o755)) if not os.path.isdir(path) else 0o755)

    def chown(self, path):
        os.chown(path, self.dice.choice((0, 1000)), self.dice.choice((0, 1000)), follow_symlinks=False)

    def utime(self, path):
        os.utime(path, ns=(self.dice.randrange(1 << 60), self.dice.randrange(1 << 60)), follow_symlinks=False)

    def set_attribute(self, path):
        os.setxattr(path, f"user.{self.dice.randrange(4)}", self.dice.randbytes(self.dice.choice((0, 1, 300))), follow_symlinks=False)

    def remove_attribute(self, path):
        os.removexattr(path, f"user.{self.dice.randrange(4)}", follow_symlinks=False)

    def list(self, path):
        for name in os.listdir(os.path.dirname(path)):
            os.lstat(os.path.join(os.path.dirname(path), name))

    def hold(self, path):
        """A file that is open stays, whatever happens to its name."""
        with open(path, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            for _ in range(3):
                self.rename_quietly(path)
            os.fstat(file.fileno())
            file.read(min(size, 5000))

    def rename_quietly(self, path):
        try:
            os.rename(path, self.path())
        except OSError as error:
            if error.errno not in FAIR | {errno.ESTALE}:
                raise


CHANGES = ("make",) * 4 + ("mkdir",) * 3 + ("write", "write", "append", "truncate", "unlink", "unlink", "rmdir", "rename", "rename", "rename", "exchange", "link", "link",
                                           "symlink", "chmod", "chown", "utime", "set_attribute", "set_attribute", "remove_attribute", "list", "list", "hold")


def changes(root, number, dice_seed, until):
    """In a process of its own. Its end: whether all went well."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        changer = Changer(root, random.Random(dice_seed + number))
        changer.run(until)
        print(f"process {number}: {changer.done} changes, {changer.refused} refused, {changer.stale} of them stale", file=sys.stderr)
        code = 0 if changer.done > 10 and changer.stale <= 1 + STALE_MOST * changer.done else 2
    except BaseException as error:  # pylint: disable=broad-except
        print(f"process {number}: {error!r}", file=sys.stderr)
    finally:
        os._exit(code)


def walk(root):
    """path -> all that is to be known of it."""
    tree = {}
    for folder, directories, files in os.walk(root):
        for name in directories + files:
            path = os.path.join(folder, name)
            seen = os.lstat(path)
            content = None
            if stat.S_ISREG(seen.st_mode):
                with open(path, "rb") as file:
                    content = hashlib.sha256(file.read()).hexdigest()
            elif stat.S_ISLNK(seen.st_mode):
                content = os.readlink(path)
            attributes = tuple((one, os.getxattr(path, one, follow_symlinks=False)) for one in sorted(os.listxattr(path, follow_symlinks=False)))
            tree[os.path.relpath(path, root)] = (seen.st_ino, seen.st_mode, seen.st_nlink, seen.st_uid, seen.st_gid, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns,
                                                 content, attributes)
    return tree


def walk_nfs(place, root):
    """The same by NFSv3, which tells no attributes of users."""
    tree, left = {}, [root]
    while left:
        folder = left.pop()
        for name in place.names(folder):
            path = f"{folder}/{name}"
            seen = place.stat(path)
            content = None
            if stat.S_ISREG(seen.mode):
                content = hashlib.sha256(place.read(path)).hexdigest()
            elif stat.S_ISLNK(seen.mode):
                content = place.readlink(path)
            else:
                left.append(path)
            tree[os.path.relpath(path, root)] = (seen.ino, seen.mode, seen.links, seen.uid, seen.gid, seen.size, seen.mtime, seen.ctime, content)
    return tree


class TreesTest(MountedCase):
    def same(self, one, other, what):
        self.assertEqual(sorted(one), sorted(other), what)
        self.assertEqual({path: (one[path], other[path]) for path in one if one[path] != other[path]}, {}, what)

    def change_and_walk(self, way):
        seconds = float(os.environ.get("STOA_MOUNT_TREES_SECONDS") or 5)
        word, chosen = os.path.basename(way), seed()
        with transport(way):
            a, b = (self.mount(f"{name}-{word}").path for name in "ab")
        os.mkdir(f"{a}/{word}")
        sys.stderr.flush()
        until = time.monotonic() + seconds
        children = [changes(f"{(a, b)[number % 2]}/{word}", number, chosen, until) for number in range(PROCESSES)]
        try:
            self.assertEqual([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children], [0] * PROCESSES)
        finally:
            for child in children:
                try:
                    os.kill(child, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        for mount in (a, b):  # closes that were not waited for
            os.sync()
            os.listdir(mount)
        first = walk(f"{a}/{word}")
        self.assertGreater(len(first), 10)
        self.same(first, walk(f"{a}/{word}"), "again at a")
        self.same(first, walk(f"{b}/{word}"), "at b")
        with transport(way):
            fresh = self.mount(f"fresh-{word}").path
        self.same(first, walk(f"{fresh}/{word}"), "at a cold mount")
        self.same(first, walk(f"{fresh}/{word}"), "at a warm mount")
        self.same({path: seen[:-1] for path, seen in first.items()}, walk_nfs(NfsPlace(self.server.values), word), "by NFSv3")
        names = {}
        for path, seen in first.items():
            names.setdefault(seen[0], []).append(path)
        for path, seen in first.items():
            if not stat.S_ISDIR(seen[1]):
                self.assertEqual(seen[2], len(names[seen[0]]), path)
            else:
                self.assertEqual(len(names[seen[0]]), 1, path)
        print(f"{len(first)} names", file=sys.stderr)
        subprocess.run([os.path.join(os.path.dirname(self.mounts[0].stoa), "stoa"), "--data", self.server.folder, "check"], check=True, stdout=subprocess.DEVNULL)

    def test_trees_by_dev_fuse(self):
        self.change_and_walk("/dev/fuse")

    @unittest.skipUnless("io_uring" in TRANSPORTS, "the kernel has no FUSE over io_uring")
    def test_trees_by_io_uring(self):
        self.change_and_walk("io_uring")


if __name__ == "__main__":
    unittest.main(verbosity=2)
