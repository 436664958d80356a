"""stoa mount over TLS against a real stoad: what is trusted and what is not, an export that requires it, a renewed certificate."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STOA = os.path.join(os.environ["STOA_BUILD"], "bin", "stoa")
PATIENCE = 60


def make_certificate(folder, name, alternative="IP:127.0.0.1"):
    """A self-signed certificate, which is its own authority, and its key: the paths of both."""
    certificate, key = os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", f"/CN={name}", "-addext", f"subjectAltName={alternative}", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    return certificate, key


class MountTlsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK):
            raise unittest.SkipTest("mounting needs the superuser and /dev/fuse")
        cls.folder = tempfile.mkdtemp(prefix="stoa-mount-tls-test-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.certificate, cls.key = make_certificate(cls.folder, "first")
        cls.stranger, cls.stranger_key = make_certificate(cls.folder, "stranger")
        cls.mounted = os.path.join(cls.folder, "mnt")
        os.mkdir(cls.mounted)
        cls.process = subprocess.Popen(
            [os.path.join(TOP, "tests", "serve"), "--build", os.environ["STOA_BUILD"], "--engine", "memory", "--",
             "--native-tls-certificate", cls.certificate, "--native-tls-key", cls.key],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        cls.addClassCleanup(cls.stop)
        cls.values = {}
        for line in cls.process.stdout:
            if line.strip() == "READY":
                break
            name, _, value = line.strip().partition("=")
            cls.values[name] = value
        assert "STOA_NATIVE_URL" in cls.values, "tests/serve did not start"

    @classmethod
    def stop(cls):
        cls.process.stdin.close()
        cls.process.wait()
        cls.process.stdout.close()

    def tearDown(self):
        if os.path.ismount(self.mounted):
            subprocess.run([STOA, "umount", "--lazy", self.mounted], check=True)

    def stoa(self, *words, **more):
        environment = {**os.environ, **self.values, **more}
        done = subprocess.run([STOA, *words], capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL,
                              timeout=PATIENCE, check=False)
        return done.returncode, done.stdout + done.stderr

    def mount(self, *words, **more):
        return self.stoa("mount", "--log-file", os.path.join(self.folder, "mount.log"), *words, self.mounted, **more)

    def assert_refused(self, sentence, *words, **more):
        code, said = self.mount(*words, **more)
        self.assertNotEqual(code, 0)
        self.assertIn(sentence, said)
        self.assertFalse(os.path.ismount(self.mounted))

    def assert_mounts(self, *words, **more):
        code, said = self.mount(*words, **more)
        self.assertEqual(code, 0, said)
        path = os.path.join(self.mounted, "file")
        data = os.urandom(3 << 20)
        with open(path, "wb") as file:
            file.write(data)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), data)
        os.unlink(path)
        self.assertEqual(self.stoa("umount", self.mounted)[0], 0)

    def test_trust(self):
        self.assert_mounts()
        self.assert_mounts("--no-tls")
        self.assert_mounts("--ca-file", self.certificate)
        self.assert_mounts("--tls", STOA_NATIVE_CA_FILE=self.certificate)
        self.assert_mounts(STOA_NATIVE_URL=self.values["STOA_NATIVE_URL"].replace("stoa://", "stoas://"), STOA_NATIVE_CA_FILE=self.certificate)
        self.assert_refused("from no authority that is trusted here", "--tls")
        self.assert_refused("from no authority that is trusted here", "--ca-file", self.stranger)
        self.assert_refused("is for another name", "--ca-file", self.certificate,
                            STOA_NATIVE_URL=self.values["STOA_NATIVE_URL"].replace("127.0.0.1", "localhost"))
        self.assert_refused("there is no certificate in", "--ca-file", "/dev/null")

    def test_an_export_that_requires_it(self):
        data = ("--data", self.values["STOA_DATA"])
        self.assertEqual(self.stoa(*data, "export", "set", "test", "--native-tls", "required")[0], 0)
        try:
            self.assertIn("native-tls required", self.stoa(*data, "export", "show", "test")[1])
            self.assert_refused("is for clients with TLS only", "--no-tls")
            self.assert_mounts()
        finally:
            self.assertEqual(self.stoa(*data, "export", "set", "test", "--native-tls", "offered")[0], 0)
        self.assert_mounts("--no-tls")

    def test_z_a_renewed_certificate(self):
        shutil.copy(self.stranger_key, self.key)
        shutil.copy(self.stranger, self.certificate)
        os.kill(int(self.values["STOA_PID"]), signal.SIGHUP)
        until = time.monotonic() + PATIENCE
        while self.mount("--ca-file", self.stranger)[0] != 0:
            self.assertLess(time.monotonic(), until, "the new certificate is not shown")
            time.sleep(0.1)
        self.assertEqual(self.stoa("umount", self.mounted)[0], 0)


if __name__ == "__main__":
    unittest.main()
