"""Verified I/O on a mount: random reads and writes of every kind against a copy in memory, in the manner of fsx.

STOA_MOUNT_CONTENT_SECONDS is how long for each transport, STOA_MOUNT_SEED which changes.
"""

import ctypes
import errno
import mmap
import os
import random
import sys
import time
import traceback
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mounts import TRANSPORTS, MountedCase, seed, transport  # noqa: E402

LIBC = ctypes.CDLL(None, use_errno=True)
KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE = 1, 2, 0x10
PAGE = 4096
MOST = 300_000  # bytes of a file
EDGES = (0, 1, 2, 511, 512, 513, 4095, 4096, 4097, 8191, 12_289, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073, 262_144)


def fallocate(file, mode, offset, length):
    if LIBC.fallocate(file, mode, ctypes.c_long(offset), ctypes.c_long(length)) < 0:
        raise OSError(ctypes.get_errno(), "fallocate")


class File:
    """One file, by a descriptor at each mount, and what is to be in it."""

    def __init__(self, name, roots):
        self.name, self.roots, self.content, self.mapped = name, roots, bytearray(), False
        self.files = [os.open(f"{roots[0]}/{name}", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)]
        self.files += [os.open(f"{root}/{name}", os.O_RDWR) for root in roots[1:]]

    def path(self, mount):
        return f"{self.roots[mount]}/{self.name}"

    def put(self, offset, data):
        if data and offset > len(self.content):
            self.content.extend(bytes(offset - len(self.content)))
        self.content[offset:offset + len(data)] = data

    def resize(self, size):
        del self.content[size:]
        self.content.extend(bytes(size - len(self.content)))

    def close(self):
        for file in self.files:
            os.close(file)


class Exercise:
    def __init__(self, dice, files):
        self.dice, self.files, self.history, self.steps = dice, files, [], 0

    def step(self):
        one = self.dice.choice(self.files)
        mount = self.dice.randrange(len(one.roots)) if self.dice.random() < 0.1 else self.at
        getattr(self, self.dice.choice(STEPS))(one, mount)
        self.steps += 1

    at = 0  # the mount that is used for some time: what it keeps gets old only so

    def note(self, what, one, mount, *words):
        self.history.append(f"{what} {one.name} by {mount} size {len(one.content)}: " + " ".join(map(str, words)))

    def place(self, one):
        """An offset near to something where errors are likely."""
        offset = self.dice.choice((self.dice.choice(EDGES), len(one.content), len(one.content) - 1, self.dice.randrange(MOST)))
        return max(0, min(offset + self.dice.choice((0, 0, -1, 1, 7)), MOST))

    def length(self):
        return max(0, self.dice.choice((self.dice.choice(EDGES[:12]), self.dice.randrange(20_000))) + self.dice.choice((0, 0, -1, 1)))

    def data(self, offset):
        return self.dice.randbytes(max(0, min(self.length(), MOST - offset)))

    def same(self, seen, one, offset):
        known = one.content[offset:offset + len(seen)]
        if seen != known:
            at = next(at for at in range(len(seen)) if at >= len(known) or seen[at] != known[at])
            raise AssertionError(f"{one.name} is wrong from byte {offset + at}: {seen[at:at + 16].hex()} for {bytes(known[at:at + 16]).hex()}")

    def whole(self, one, seen):
        if len(seen) != len(one.content):
            raise AssertionError(f"{one.name} has {len(seen)} bytes for {len(one.content)}")
        self.same(seen, one, 0)

    def read(self, one, mount):
        offset, length = self.place(one), self.length()
        self.note("read", one, mount, offset, length)
        self.settle(one)
        seen = os.pread(one.files[mount], length, offset)
        if len(seen) != max(0, min(length, len(one.content) - offset)):
            raise AssertionError(f"{len(seen)} bytes were read")
        self.same(seen, one, offset)

    def settle(self, one):
        """What was written to a shared mapping is only of that mount until msync()."""
        if one.mapped:
            os.fsync(one.files[self.mapper])
            one.mapped = False

    def write(self, one, mount):
        offset = self.place(one)
        data = self.data(offset)
        self.note("write", one, mount, offset, len(data))
        self.settle(one)
        if os.pwrite(one.files[mount], data, offset) != len(data):
            raise AssertionError("a short write")
        one.put(offset, data)

    def append(self, one, mount):
        data = self.data(len(one.content)) if len(one.content) < MOST else b""
        self.note("append", one, mount, len(data))
        self.settle(one)
        file = os.open(one.path(mount), os.O_WRONLY | os.O_APPEND)
        try:
            os.write(file, data)
        finally:
            os.close(file)
        one.put(len(one.content), data)

    def truncate(self, one, mount):
        size = self.place(one)
        self.note("truncate", one, mount, size)
        self.settle(one)
        if self.dice.random() < 0.3:
            os.truncate(one.path(mount), size)
        else:
            os.ftruncate(one.files[mount], size)
        one.resize(size)

    def rewrite(self, one, mount):
        """O_TRUNC, then pieces in their order."""
        data = self.dice.randbytes(self.dice.choice(EDGES))
        self.note("rewrite", one, mount, len(data))
        self.settle(one)
        file = os.open(one.path(mount), os.O_WRONLY | os.O_TRUNC)
        try:
            at = 0
            while at < len(data):
                at += os.write(file, data[at:at + self.dice.choice((1, 777, 4096, 100_000))]) if at else os.write(file, data[:100_001])
        finally:
            os.close(file)
        one.content[:] = data

    def map_read(self, one, mount):
        if not one.content:
            return
        self.note("map_read", one, mount)
        self.settle(one)
        with mmap.mmap(one.files[mount], len(one.content), mmap.MAP_SHARED, mmap.PROT_READ) as pages:
            offset = self.dice.randrange(len(one.content))
            self.same(pages[offset:offset + self.length()], one, offset)
            # The rest of the last page is zeros.
        with mmap.mmap(one.files[mount], 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE) as pages:
            pages[0] = pages[0] ^ 1  # is nobody else's

    def map_write(self, one, mount):
        if not one.content:
            return
        offset = self.dice.randrange(len(one.content))
        data = self.data(offset)[:len(one.content) - offset]
        syncs = self.dice.random() < 0.5
        self.note("map_write", one, mount, offset, len(data), syncs)
        self.settle(one)
        with mmap.mmap(one.files[mount], len(one.content), mmap.MAP_SHARED) as pages:
            self.same(pages[offset:offset + len(data)], one, offset)
            pages[offset:offset + len(data)] = data
            one.put(offset, data)
            if syncs:
                pages.flush()
            else:
                one.mapped, self.mapper = True, mount
            # And by read(2) of the same mount, at once.
            self.same(os.pread(one.files[mount], len(data) + 10, offset), one, offset)

    def allocate(self, one, mount):
        offset, length = self.place(one), self.length() + 1
        mode = self.dice.choice((0, KEEP_SIZE, PUNCH_HOLE | KEEP_SIZE, ZERO_RANGE, ZERO_RANGE | KEEP_SIZE))
        self.note("fallocate", one, mount, offset, length, f"mode {mode:#x}")
        self.settle(one)
        fallocate(one.files[mount], mode, offset, length)
        end = offset + length
        if not mode & KEEP_SIZE and end > len(one.content):
            one.resize(end)
        if mode & (PUNCH_HOLE | ZERO_RANGE):
            end = min(end, len(one.content))
            if end > offset:
                one.content[offset:end] = bytes(end - offset)

    def copy(self, one, mount):
        other = self.dice.choice(self.files)
        offset, to, length = self.place(one), self.place(other), self.length()
        self.note("copy", one, mount, offset, length, "to", other.name, to)
        self.settle(one)
        self.settle(other)
        # Linux looks at the size that it has, and never asks for it: what another mount has added is not copied without this.
        os.fstat(one.files[mount])
        try:
            copied = os.copy_file_range(one.files[mount], other.files[mount], length, offset, to)
        except OSError as error:
            overlap = one is other and abs(offset - to) < length
            if error.errno != errno.EINVAL or not overlap:
                raise
            return
        if copied > max(0, min(length, len(one.content) - offset)) or (copied == 0 < min(length, len(one.content) - offset)):
            raise AssertionError(f"{copied} bytes were copied")
        other.put(to, bytes(one.content[offset:offset + copied]))

    def direct(self, one, mount):
        """O_DIRECT, of whole pages."""
        offset = self.place(one) // PAGE * PAGE
        pages = self.dice.randrange(1, 9)
        writes = self.dice.random() < 0.5
        self.note("direct", one, mount, offset, pages, "pages", "written" if writes else "read")
        self.settle(one)
        file = os.open(one.path(mount), os.O_RDWR | os.O_DIRECT)
        try:
            with mmap.mmap(-1, pages * PAGE) as room:
                if writes:
                    data = self.dice.randbytes(pages * PAGE)
                    room[:] = data
                    if os.pwritev(file, [room], offset) != len(data):
                        raise AssertionError("a short write")
                    one.put(offset, data)
                else:
                    count = os.preadv(file, [room], offset)
                    if count != max(0, min(len(room), len(one.content) - offset)):
                        raise AssertionError(f"{count} bytes were read")
                    self.same(room[:count], one, offset)
        finally:
            os.close(file)

    def sync(self, one, mount):
        self.note("sync", one, mount)
        self.settle(one)
        self.dice.choice((os.fsync, os.fdatasync))(one.files[mount])

    def reopen(self, one, mount):
        self.note("reopen", one, mount)
        os.close(one.files[mount])
        one.files[mount] = os.open(one.path(mount), os.O_RDWR)

    def cold(self, one, mount):
        """Without the kernel's pages."""
        self.note("cold", one, mount)
        self.settle(one)
        os.posix_fadvise(one.files[mount], 0, 0, os.POSIX_FADV_DONTNEED)
        self.look(one, mount)

    def look(self, one, mount):
        """All of it, and its size, as a mount has it."""
        self.note("look", one, mount)
        self.settle(one)
        self.whole(one, os.pread(one.files[mount], len(one.content) + 100, 0))
        if os.fstat(one.files[mount]).st_size != len(one.content):
            raise AssertionError(f"the size of {one.name} is {os.fstat(one.files[mount]).st_size}")

    def seek(self, one, mount):
        """What is called a hole is zeros, and the end is one."""
        offset = self.dice.randrange(len(one.content) + 1)
        self.note("seek", one, mount, offset)
        self.settle(one)
        try:
            data = os.lseek(one.files[mount], offset, os.SEEK_DATA)
            hole = os.lseek(one.files[mount], offset, os.SEEK_HOLE)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            data = hole = None
        end = len(one.content) if data is None else data
        if not offset <= end <= len(one.content) or any(one.content[offset:end]) or (hole is not None and not offset <= hole <= len(one.content)):
            raise AssertionError(f"data from {data}, a hole at {hole}")

    def away(self, _one, _mount):
        self.at = self.dice.randrange(len(self.files[0].roots))


STEPS = ("read",) * 6 + ("write",) * 6 + ("append", "truncate", "truncate", "rewrite", "map_read", "map_write", "map_write", "allocate", "allocate", "copy", "copy",
         "direct", "direct", "sync", "reopen", "cold", "look", "seek", "away")


class ContentTest(MountedCase):
    def exercise(self, way):
        seconds = float(os.environ.get("STOA_MOUNT_CONTENT_SECONDS") or 7)
        with transport(way):
            mounts = [self.mount(f"{name}-{os.path.basename(way)}") for name in "ab"]
        roots = [mount.path for mount in mounts]
        names = [f"{os.path.basename(way)}-{name}" for name in "xyz"]
        exercise = Exercise(random.Random(seed()), [File(name, roots) for name in names])
        until = time.monotonic() + seconds
        try:
            while time.monotonic() < until:
                exercise.step()
            for one in exercise.files:
                for at in range(len(roots)):
                        exercise.look(one, at)
            with transport(way):
                fresh = self.mount("fresh-" + os.path.basename(way)).path
            for one in exercise.files:
                with open(f"{fresh}/{one.name}", "rb") as file:
                    exercise.whole(one, file.read())
        except BaseException:
            traceback.print_exc()
            print("the last steps:", *exercise.history[-25:], sep="\n  ", file=sys.stderr)
            raise
        finally:
            for one in exercise.files:
                one.close()
            print(f"{exercise.steps} steps over {way}", file=sys.stderr)

    def test_content_by_dev_fuse(self):
        self.exercise("/dev/fuse")

    @unittest.skipUnless("io_uring" in TRANSPORTS, "the kernel has no FUSE over io_uring")
    def test_content_by_io_uring(self):
        self.exercise("io_uring")


if __name__ == "__main__":
    unittest.main(verbosity=2)
