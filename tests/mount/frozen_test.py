"""A mount that stands still (SIGSTOP) holds up others for a bounded time only, and reads nothing stale when it goes on."""

import os
import signal
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mounts import MountedCase  # noqa: E402
from places import MountPlace  # noqa: E402


class FrozenTest(MountedCase):
    def test_a_frozen_mount_is_left_behind(self):
        mount = self.mount("a")
        a, b = MountPlace("a", mount.path), MountPlace("b", self.mount("b").path)
        os.mkdir(a.at("dir"))
        a.create("dir/kept", 0o644, b"old")
        held = a.open("dir/kept", os.O_RDWR)
        self.addCleanup(os.close, held)
        os.fsync(held)
        self.assertEqual(os.pread(held, 10, 0), b"old")
        self.assertEqual(a.names("dir"), ["kept"])
        done = threading.Event()

        def change():
            b.rewrite("dir/kept", b"newer")
            b.create("dir/made", 0o600, b"x")
            b.chmod("dir/kept", 0o640)
            b.rename("dir/kept", "dir/moved")
            done.set()

        mount.process.send_signal(signal.SIGSTOP)
        try:
            begun = time.monotonic()
            changer = threading.Thread(target=change)
            changer.start()
            changer.join(150)
            print(f"others were held up for {time.monotonic() - begun:.1f} s", file=sys.stderr)
        finally:
            mount.process.send_signal(signal.SIGCONT)
        self.assertTrue(done.is_set())
        changer.join()
        # What the mount has kept is void by time, before it hears of anything.
        self.assertEqual(a.names("dir"), ["made", "moved"])
        with self.assertRaises(FileNotFoundError):
            a.stat("dir/kept")
        self.assertEqual(a.read("dir/moved"), b"newer")
        self.assertEqual(a.stat("dir/moved"), b.stat("dir/moved"))
        self.assertEqual(os.fstat(held).st_size, 5)
        self.assertEqual(os.pread(held, 10, 0), b"newer")
        # And it goes on as before.
        a.write("dir/moved", 0, b"N")
        self.assertEqual(b.read("dir/moved"), b"Newer")


if __name__ == "__main__":
    unittest.main(verbosity=2)
