"""stoa mount with a Kerberos ticket, against a real stoad and a real KDC. Run by with_kdc."""

import os
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STOA = os.path.join(os.environ["STOA_BUILD"], "bin", "stoa")
PATIENCE = 60


class MountKerberosTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK):
            raise unittest.SkipTest("mounting needs the superuser and /dev/fuse")
        if "STOA_TEST_KEYTAB" not in os.environ:
            raise unittest.SkipTest("no KDC (Debian: krb5-kdc, krb5-admin-server, krb5-user)")
        cls.folder = tempfile.mkdtemp(prefix="stoa-mount-kerberos-test-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.mounted = os.path.join(cls.folder, "mnt")
        os.mkdir(cls.mounted)
        cls.cache = os.path.join(cls.folder, "cache")
        cls.keytab = os.environ["STOA_TEST_ANN"]
        cls.log = os.path.join(cls.folder, "mount.log")
        cls.process = subprocess.Popen(
            [os.path.join(TOP, "tests", "serve"), "--build", os.environ["STOA_BUILD"], "--engine", "memory", "--",
             "--nfs-keytab", os.environ["STOA_TEST_KEYTAB"]],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        cls.addClassCleanup(cls.stop)
        cls.values = {}
        for line in cls.process.stdout:
            if line.strip() == "READY":
                break
            name, _, value = line.strip().partition("=")
            cls.values[name] = value
        assert "STOA_NATIVE_URL" in cls.values, "tests/serve did not start"
        # The realm knows the server by its name.
        cls.url = cls.values["STOA_NATIVE_URL"].replace("127.0.0.1", "localhost")
        cls.run_stoa("--data", cls.values["STOA_DATA"], "user", "create", "ann", "--uid", "1500", "--gid", "1500")

    @classmethod
    def stop(cls):
        cls.process.stdin.close()
        cls.process.wait()
        cls.process.stdout.close()

    def setUp(self):
        shutil.copy(os.path.join(os.environ["STOA_TEST_TICKETS"], "ann"), self.cache)

    def tearDown(self):
        if os.path.ismount(self.mounted):
            subprocess.run([STOA, "umount", "--lazy", self.mounted], check=True)

    @classmethod
    def run_stoa(cls, *words, **more):
        environment = {**os.environ, "KRB5CCNAME": "FILE:" + cls.cache, **more}
        done = subprocess.run([STOA, *words], capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL,
                              timeout=PATIENCE, check=False)
        return done.returncode, done.stdout + done.stderr

    def mount(self, *words, **more):
        return self.run_stoa("mount", "--log-file", self.log, *words, self.url, self.mounted, **more)

    def assert_refused(self, sentence, *words, **more):
        code, said = self.mount(*words, **more)
        self.assertNotEqual(code, 0)
        self.assertIn(sentence, said)
        self.assertFalse(os.path.ismount(self.mounted))

    def test_acts_as_the_user_of_the_principal(self):
        code, said = self.mount("-o", "sec=krb5", STOA_NATIVE_KEY_FILE="/nowhere")
        self.assertEqual(code, 0, said)
        path = os.path.join(self.mounted, "file")
        data = os.urandom(1 << 20)
        with open(path, "wb") as file:
            file.write(data)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), data)
        self.assertEqual(os.stat(path).st_uid, 1500)
        os.unlink(path)
        code, said = self.run_stoa("--data", self.values["STOA_DATA"], "client", "list")
        self.assertIn("principal ann@STOA.TEST", said)
        self.assertEqual(self.run_stoa("umount", self.mounted)[0], 0)

    def test_refusals_are_sentences(self):
        self.assert_refused("no key is named")
        self.assert_refused("exclude each other", "-o", "sec=krb5,key=/etc/key")
        self.assert_refused("exclude each other", "-o", "sec=krb5", "--key-file", "/etc/key")
        self.assert_refused("there is no security 'krb5p' for a mount", "-o", "sec=krb5p")
        self.assert_refused("there is no Kerberos ticket; get one with kinit", "-o", "sec=krb5", KRB5CCNAME="FILE:/nowhere")
        shutil.copy(os.path.join(os.environ["STOA_TEST_TICKETS"], "stranger"), self.cache)
        self.assert_refused("the server knows no user for the principal", "-o", "sec=krb5")
        data = ("--data", self.values["STOA_DATA"])
        self.assertEqual(self.run_stoa(*data, "export", "set", "test", "--sec", "sys")[0], 0)
        try:
            self.assert_refused("the export test takes no Kerberos", "-o", "sec=krb5")
            self.assertEqual(self.run_stoa(*data, "export", "set", "test", "--sec", "krb5p")[0], 0)
            self.assert_refused("with integrity or privacy only, which is TLS here", "-o", "sec=krb5")
        finally:
            self.assertEqual(self.run_stoa(*data, "export", "set", "test", "--sec", "default")[0], 0)

    def test_a_machine_takes_its_own_ticket(self):
        """With a client keytab nobody has to run kinit."""
        code, said = self.mount("-o", "sec=krb5", KRB5CCNAME="FILE:" + os.path.join(self.folder, "new"), KRB5_CLIENT_KTNAME=self.keytab)
        self.assertEqual(code, 0, said)
        self.assertEqual(self.run_stoa("umount", self.mounted)[0], 0)

    def test_without_a_ticket_the_mount_waits_and_says_so_once(self):
        self.kinit("4s")
        code, said = self.mount("-o", "sec=krb5")
        self.assertEqual(code, 0, said)
        made, enough = [], threading.Event()

        def make():
            while not enough.is_set():
                os.mkdir(os.path.join(self.mounted, f"d{len(made)}"))
                made.append(time.monotonic())
                time.sleep(0.05)

        makes = threading.Thread(target=make)
        makes.start()
        until = time.monotonic() + PATIENCE
        while "has expired; get another one with kinit" not in self.read_log():
            self.assertLess(time.monotonic(), until, "the log says nothing")
            time.sleep(0.05)
        count = len(made)
        # Each channel tries again every two seconds.
        time.sleep(2.2)
        self.assertEqual(len(made), count, "it waits")
        self.assertEqual(self.read_log().count("kinit"), 1, self.read_log())
        self.kinit("1h")
        while len(made) == count:
            self.assertLess(time.monotonic(), until, "it waits for ever")
            time.sleep(0.05)
        enough.set()
        makes.join()
        self.assertEqual(sorted(os.listdir(self.mounted)), sorted(f"d{i}" for i in range(len(made))), "each once")
        self.assertEqual(os.stat(os.path.join(self.mounted, f"d{count}")).st_uid, 1500)
        for name in os.listdir(self.mounted):
            os.rmdir(os.path.join(self.mounted, name))

    def kinit(self, lifetime):
        subprocess.run(["kinit", "-l", lifetime, "-k", "-t", self.keytab, "-c", "FILE:" + self.cache, "ann"], check=True)

    def read_log(self):
        with open(self.log, encoding="utf-8") as log:
            return log.read()


if __name__ == "__main__":
    unittest.main()
