"""mount -t stoa and lines of fstab, with the real mount(8), in a mount namespace of its own: it finds mount.stoa in a /sbin that only the test sees."""

import os
import shutil
import subprocess
import tempfile
import unittest

from mount_test import STOA, Server

PATIENCE = 60


class FstabTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK):
            raise unittest.SkipTest("mounting needs the superuser and /dev/fuse")
        cls.folder = tempfile.mkdtemp(prefix="stoa-fstab-test-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        os.mkdir(os.path.join(cls.folder, "sbin"))
        os.symlink(STOA, os.path.join(cls.folder, "sbin", "mount.stoa"))
        os.mkdir(os.path.join(cls.folder, "mnt"))
        cls.server = Server(os.path.join(cls.folder, "data"))
        cls.addClassCleanup(cls.server.stop)
        cls.url, cls.key = cls.server.values["STOA_NATIVE_URL"], cls.server.values["STOA_NATIVE_KEY_FILE"]

    def run_apart(self, script, **more):
        """A shell in a private mount namespace. All mounts of it end with it."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("STOA_NATIVE")}
        environment.update(F=self.folder, D=os.path.join(self.folder, "mnt"), URL=self.url, KEY=self.key, STOA=STOA, **more)
        done = subprocess.run(["unshare", "-m", "--propagation", "private", "bash", "-c", 'mount --bind "$F/sbin" /sbin || exit 99\n' + script],
                              capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
        return done.returncode, done.stdout + done.stderr

    def passes(self, script, **more):
        code, said = self.run_apart("set -e\n" + script, **more)
        self.assertEqual(code, 0, said)
        return said

    def fstab(self, *lines):
        path = os.path.join(self.folder, "fstab")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
        return path

    def test_mount_by_type(self):
        said = self.passes('mount -t stoa -o key="$KEY" "$URL" "$D"; echo typed > "$D/typed"; cat "$D/typed"; findmnt -no FSTYPE,OPTIONS "$D"; umount "$D"\n'
                           '! mountpoint -q "$D"')
        self.assertTrue(said.startswith("typed\n"), said)
        self.assertIn("fuse.stoa", said)
        self.assertIn("nosuid,nodev", said)

    def test_read_only_and_noexec(self):
        code, said = self.run_apart('mount -t stoa -o ro,noexec,soft=30,key="$KEY" "$URL" "$D" || exit 9; findmnt -no OPTIONS "$D"; : > "$D/new"')
        self.assertEqual(code, 1, said)
        self.assertIn("Read-only file system", said)
        self.assertRegex(said, "ro,nosuid,nodev,noexec")
        said = self.passes('mount -t stoa -o noexec,key="$KEY" "$URL" "$D"; cp /bin/true "$D/program"; chmod 755 "$D/program"; "$D/program" || echo "code $?"')
        self.assertIn("code 126", said)

    def test_a_line_of_fstab(self):
        line = f"{self.url} {self.folder}/mnt stoa key={self.key},_netdev,nofail,x-systemd.automount,noauto,nodev 0 0"
        self.passes('mount -T "$FSTAB" "$D"; echo line > "$D/line"; umount "$D"; mount -T "$FSTAB" "$URL"; test "$(cat "$D/line")" = line; umount "$D"',
                    FSTAB=self.fstab(line))
        self.passes('mount -a -T "$FSTAB"; ! mountpoint -q "$D"', FSTAB=self.fstab(line))
        self.passes('mount -a -T "$FSTAB"; mountpoint -q "$D"', FSTAB=self.fstab(line.replace("noauto,", "defaults,")))

    def test_stoa_mount_takes_the_same(self):
        said = self.passes('"$STOA" mount -o ro,transport=tcp,key="$KEY" "$URL" "$D"; findmnt -no OPTIONS "$D"; "$STOA" umount "$D"')
        self.assertRegex(said, "ro,nosuid,nodev")

    def test_wrong_options_are_named(self):
        for option, named in (("frobnicate", "'frobnicate'"), ("frobnicate=1", "'frobnicate=1'"), ("key", "'key'"),
                              ("key=", "key=FILE"), ("soft=0", "soft"), ("soft=-1", "soft"), ("soft=5s", "soft"), ("soft=86401", "soft"),
                              ("soft=99999999999999999999", "soft"), ("sec=krb5i", "there is no security"), ("sec=krb5,key=/x", "exclude each other"), ("notls,ca=/x", "exclude each other"),
                              ("transport=rdma", "transport=tcp"),
                              ("transport=", "transport=auto"), ("transport", "'transport'")):
            for way in ('mount -t stoa -o "key=$KEY,$OPTION" "$URL" "$D"', '"$STOA" mount -o "key=$KEY,$OPTION" "$URL" "$D"'):
                code, said = self.run_apart(way + '; code=$?; mountpoint -q "$D" && exit 98; exit $code', OPTION=option)
                self.assertEqual(code, 2, (option, said))
                self.assertIn(named, said)
        code, said = self.run_apart('mount -s -t stoa -o "key=$KEY,frobnicate" "$URL" "$D"')
        self.assertEqual(code, 0, said)

    def test_without_a_key_or_a_server(self):
        code, said = self.run_apart('mount -t stoa "$URL" "$D"')
        self.assertEqual(code, 2, said)
        self.assertIn("no key is named", said)
        code, said = self.run_apart('mount -t stoa -o key="$KEY" stoa://127.0.0.1:1/test "$D"')
        self.assertEqual(code, 1, said)


if __name__ == "__main__":
    unittest.main()
