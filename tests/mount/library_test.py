"""Files that are open through a mount, in libstoa: stoa_url_of_fd() and stoa_of_fd() of the library as it is installed."""

import ctypes
import errno
import os
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mounts import MountedCase, build  # noqa: E402

LIBRARY = sys.argv.pop(1)


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("channels", ctypes.c_uint32), ("url", ctypes.c_char_p), ("key_file", ctypes.c_char_p), ("soft_ms", ctypes.c_uint32),
                ("spare", ctypes.c_uint32), ("why", ctypes.c_char_p), ("why_bytes", ctypes.c_size_t), ("budget_bytes", ctypes.c_uint64)]


class Attributes(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint64), ("size", ctypes.c_uint64), ("allocated", ctypes.c_uint64), ("change", ctypes.c_uint64), ("times", ctypes.c_int64 * 4),
                ("mode", ctypes.c_uint32), ("links", ctypes.c_uint32), ("rest", ctypes.c_uint32 * 4), ("spare", ctypes.c_uint64 * 4)]


STOA = ctypes.CDLL(LIBRARY)
for call in ("stoa_pread", "stoa_pwrite"):
    getattr(STOA, call).restype = ctypes.c_int64


class Session:
    """Of the library, with an export."""

    def __init__(self, url, key_file):
        self.fs, why = ctypes.c_void_p(), ctypes.create_string_buffer(512)
        options = Options(size=ctypes.sizeof(Options), url=os.fsencode(url), key_file=os.fsencode(key_file), why=ctypes.addressof(why), why_bytes=512)
        if STOA.stoa_connect(ctypes.byref(options), ctypes.byref(self.fs)) != 0:
            raise RuntimeError(why.value.decode())

    def end(self):
        assert STOA.stoa_disconnect(self.fs) == 0

    def of_fd(self, fd):
        """The file, or the name of the error."""
        file = ctypes.c_void_p()
        result = STOA.stoa_of_fd(self.fs, fd, ctypes.byref(file))
        return File(file) if result == 0 else errno.errorcode[-result]


class File:
    def __init__(self, handle):
        self.handle = handle

    def pread(self, count, offset=0):
        text = ctypes.create_string_buffer(count)
        got = STOA.stoa_pread(self.handle, text, ctypes.c_size_t(count), ctypes.c_uint64(offset))
        return text.raw[:got] if got >= 0 else errno.errorcode[-got]

    def pwrite(self, content, offset=0):
        done = STOA.stoa_pwrite(self.handle, content, ctypes.c_size_t(len(content)), ctypes.c_uint64(offset))
        return done if done >= 0 else errno.errorcode[-done]

    def stat(self):
        found = Attributes()
        assert STOA.stoa_fstat(self.handle, ctypes.byref(found)) == 0
        return found

    def close(self):
        return STOA.stoa_close(self.handle)


def url_of(fd, size=1024):
    url = ctypes.create_string_buffer(size)
    result = STOA.stoa_url_of_fd(fd, url, ctypes.c_size_t(size))
    return url.value.decode() if result >= 0 else errno.errorcode[-result]


class LibraryOfAMountTest(MountedCase):
    seconds = 200

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.url, cls.key = cls.server.values["STOA_NATIVE_URL"], cls.server.values["STOA_NATIVE_KEY_FILE"]
        cls.stoa("export", "create", "other", "--create", "--native", "--client", "127.0.0.1,rw,squash=none")
        cls.mounted = cls.mount("mounted").path
        cls.other_url = cls.url.replace("/test", "/other")
        cls.other = cls.mount("other", cls.other_url).path
        cls.session = Session(cls.url, cls.key)
        cls.addClassCleanup(cls.session.end)

    @classmethod
    def stoa(cls, *words):
        subprocess.run([os.path.join(build(), "bin", "stoa"), "--data", cls.server.values["STOA_DATA"], *words], check=True, stdout=subprocess.DEVNULL)

    def opened(self, name, flags=os.O_RDWR | os.O_CREAT, at=None, mode=0o644):
        fd = os.open(os.path.join(at or self.mounted, name), flags, mode)
        self.addCleanup(os.close, fd)
        return fd

    def of(self, fd):
        file = self.session.of_fd(fd)
        self.assertIsInstance(file, File)
        self.addCleanup(lambda: self.assertEqual(file.close(), 0))
        return file

    def test_it_is_the_same_file(self):
        fd = self.opened("same")
        os.write(fd, b"by the mount")  # neither synced nor closed
        file = self.of(fd)
        self.assertEqual(file.stat().id, os.fstat(fd).st_ino)
        self.assertEqual(file.pread(100), b"by the mount")
        self.assertEqual(file.pwrite(b"the library's", 3), 13)
        self.assertEqual(os.pread(fd, 100, 0), b"by the library's")
        self.assertEqual(os.fstat(fd).st_size, 16)
        os.ftruncate(fd, 2)
        self.assertEqual(file.pread(100), b"by")

    def test_it_outlives_the_descriptor_and_its_name(self):
        fd = os.open(os.path.join(self.mounted, "gone"), os.O_RDWR | os.O_CREAT)
        os.write(fd, b"kept")
        os.rename(os.path.join(self.mounted, "gone"), os.path.join(self.mounted, "moved"))
        os.unlink(os.path.join(self.mounted, "moved"))
        file = self.of(fd)
        os.close(fd)
        self.assertEqual(file.pread(10), b"kept")
        self.assertEqual(file.stat().links, 0)

    def test_it_is_open_for_what_the_descriptor_is(self):
        self.opened("modes")
        reads = self.of(self.opened("modes", os.O_RDONLY))
        self.assertEqual(reads.pwrite(b"x"), "EBADF")
        self.assertEqual(reads.pread(10), b"")
        writes = self.of(self.opened("modes", os.O_WRONLY))
        self.assertEqual(writes.pread(10), "EBADF")
        self.assertEqual(writes.pwrite(b"one"), 3)
        appends = self.of(self.opened("modes", os.O_RDWR | os.O_APPEND))
        self.assertEqual(appends.pwrite(b"two"), 3)
        self.assertEqual(reads.pread(10), b"onetwo")
        # Neither makes nor empties a file again.
        made = self.opened("modes", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.write(made, b"new")
        self.assertEqual(self.of(made).pread(10), b"new")
        nameless = self.opened(".", os.O_RDWR | os.O_TMPFILE)
        os.write(nameless, b"nameless")
        self.assertEqual(self.of(nameless).pread(10), b"nameless")

    def test_what_is_no_open_file_of_a_mount(self):
        elsewhere = tempfile.TemporaryFile()
        ends = os.pipe()
        one = socket.socket()
        self.addCleanup(elsewhere.close)
        self.addCleanup(one.close)
        for fd in ends:
            self.addCleanup(os.close, fd)
        for fd in (elsewhere.fileno(), *ends, one.fileno(), self.opened("/proc/self/status", os.O_RDONLY)):
            self.assertEqual((self.session.of_fd(fd), url_of(fd)), ("ENOTTY", "ENOTTY"))
        closed = os.open(os.path.join(self.mounted, "closed"), os.O_RDWR | os.O_CREAT)
        os.close(closed)
        for fd in (closed, -1, 1 << 30):
            self.assertEqual((self.session.of_fd(fd), url_of(fd)), ("EBADF", "EBADF"))
        self.assertEqual(self.session.of_fd(self.opened(".", os.O_RDONLY)), "EISDIR")
        self.assertEqual(self.session.of_fd(self.opened("closed", os.O_PATH)), "EBADF")
        os.symlink("closed", os.path.join(self.mounted, "link"))
        self.assertEqual(self.session.of_fd(self.opened("link", os.O_PATH | os.O_NOFOLLOW)), "EBADF")
        os.mkfifo(os.path.join(self.mounted, "fifo"))
        self.assertEqual(self.session.of_fd(self.opened("fifo", os.O_RDWR | os.O_NONBLOCK)), "EINVAL")

    def test_another_mount(self):
        fd = self.opened("theirs", at=self.other)
        os.write(fd, b"theirs")
        self.assertEqual(self.session.of_fd(fd), "EXDEV")
        self.assertEqual(url_of(fd), self.other_url)
        theirs = Session(url_of(fd), self.key)
        self.addCleanup(theirs.end)
        file = theirs.of_fd(fd)
        self.assertEqual(file.pread(10), b"theirs")
        self.assertEqual(file.close(), 0)

    def test_a_mount_of_a_directory_is_of_the_same_export(self):
        os.mkdir(os.path.join(self.mounted, "below"))
        below = self.mount("below", self.url + "/below").path
        fd = self.opened("deep", at=below)
        os.write(fd, b"deep")
        self.assertEqual(url_of(fd), self.url + "/below")
        self.assertEqual(self.of(fd).pread(10), b"deep")

    def test_the_url_needs_room(self):
        fd = self.opened("url")
        self.assertEqual(url_of(fd), self.url)
        self.assertEqual(url_of(fd, len(self.url) + 1), self.url)
        self.assertEqual(url_of(fd, len(self.url)), "ERANGE")
        self.assertEqual(STOA.stoa_url_of_fd(fd, None, ctypes.c_size_t(0)), -errno.ERANGE)

    def test_permissions_are_those_of_the_user_of_the_session(self):
        key = os.path.join(self.folder, "nobody.key")
        with open(self.key, encoding="ascii") as source, open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as copy:
            copy.write(source.read())
        os.chown(key, 65534, 65534)
        groups = os.getgroups()
        os.setgroups([])
        os.setegid(65534)
        os.seteuid(65534)
        try:
            nobody = Session(self.url, key)
        finally:
            os.seteuid(0)
            os.setegid(0)
            os.setgroups(groups)
        self.addCleanup(nobody.end)
        self.assertEqual(nobody.of_fd(self.opened("private", mode=0o600)), "EACCES")
        self.assertEqual(nobody.of_fd(self.opened("public", mode=0o644)), "EACCES")
        file = nobody.of_fd(self.opened("public", os.O_RDONLY))
        self.assertEqual((file.pread(1), file.close()), (b"", 0))

    def test_after_the_mount_has_gone(self):
        path = self.mount("leaves").path
        fd = self.opened("stays", at=path)
        os.write(fd, b"stays")
        file = self.of(fd)
        subprocess.run([os.path.join(build(), "bin", "stoa"), "umount", "--lazy", path], check=True)
        self.assertEqual((url_of(fd), self.session.of_fd(fd)), ("ENOTTY", "ENOTTY"))
        self.assertEqual(file.pread(10), b"stays")


if __name__ == "__main__":
    unittest.main()
