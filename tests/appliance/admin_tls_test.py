"""The admin port over TLS: right, wrong, pinned and renewed certificates, by the command stoa and by Python's own TLS."""

import http.client
import os
import shutil
import signal
import ssl
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse

BIN = os.path.join(os.environ["STOA_BUILD"], "bin")


def make_certificate(folder, name):
    """A self-signed certificate, which is its own authority, and its key: the paths of both."""
    certificate, key = os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    return certificate, key


class AdminTlsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="stoa-admin-tls-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.data = os.path.join(cls.folder, "data")
        cls.certificate, cls.key = make_certificate(cls.folder, "first")
        cls.stranger, cls.stranger_key = make_certificate(cls.folder, "stranger")
        # On all addresses, which only TLS makes possible.
        subprocess.run([os.path.join(BIN, "stoad"), "--background", "--data", cls.data, "--engine", "memory", "--nfs-enabled", "false",
                        "--s3-enabled", "false", "--admin-listen", "0.0.0.0:0", "--admin-tls-certificate", cls.certificate,
                        "--admin-tls-key", cls.key], check=True, stdin=subprocess.DEVNULL)
        cls.addClassCleanup(cls.stop)
        cls.port = urllib.parse.urlsplit(cls.run_value("admin_url")).port

    @classmethod
    def run_value(cls, name):
        with open(os.path.join(cls.data, "stoad.run"), encoding="utf-8") as file:
            return dict(line.strip().split("=", 1) for line in file)[name]

    @classmethod
    def stop(cls):
        pid = int(cls.run_value("pid"))
        os.kill(pid, signal.SIGTERM)
        while os.path.exists(f"/proc/{pid}"):
            time.sleep(0.05)

    def stoa(self, *words, **environment):
        """Not in the data folder's name, unless told."""
        env = {**{name: value for name, value in os.environ.items() if not name.startswith("STOA_")}, **environment}
        done = subprocess.run([os.path.join(BIN, "stoa"), *words], capture_output=True, text=True, env=env, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout + done.stderr

    def shown(self):
        return ssl.get_server_certificate(("127.0.0.1", self.port))

    def test_the_command_trusts_its_own_server_without_being_told(self):
        code, said = self.stoa("--data", self.data, "status")
        self.assertEqual(code, 0, said)
        self.assertTrue(self.run_value("admin_url").startswith("https://127.0.0.1:"))

    def test_from_elsewhere_an_authority_or_a_pin_is_wanted(self):
        server = ["--server", f"https://127.0.0.1:{self.port}", "--token-file", os.path.join(self.data, "admin.token")]
        code, said = self.stoa(*server, "status")
        self.assertEqual(code, 6, said)
        self.assertIn("--ca", said)
        self.assertIn("--pin", said)
        for words in (["--ca", self.certificate], ["--pin", self.run_value("admin_pin")], ["--ca", self.certificate, "--pin", self.run_value("admin_pin")]):
            code, said = self.stoa(*server, *words, "status")
            self.assertEqual(code, 0, said)
        code, said = self.stoa(*server, "--ca", self.stranger, "status")
        self.assertEqual(code, 6, said)
        code, said = self.stoa(*server, "--pin", "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "status")
        self.assertEqual(code, 6, said)
        self.assertIn("another key", said)

    def test_a_token_of_the_environment_with_its_role(self):
        code, said = self.stoa("--data", self.data, "token", "add", "watcher", "--role", "auditor", "--expires", "1d")
        self.assertEqual(code, 0, said)
        secret = next(line.split()[1] for line in said.splitlines() if line.startswith("token "))
        server = ["--server", f"https://127.0.0.1:{self.port}", "--ca", self.certificate]
        code, said = self.stoa(*server, "token", "show", STOA_TOKEN=secret)
        self.assertEqual((code, said.split()[:4]), (0, ["name", "watcher", "role", "auditor"]))
        code, said = self.stoa(*server, "user", "create", "eve", STOA_TOKEN=secret)
        self.assertEqual(code, 6, said)
        self.assertIn("needs the role admin", said)

    def test_old_versions_and_plain_text_are_refused(self):
        context = ssl.create_default_context(cafile=self.certificate)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context.maximum_version = context.minimum_version = version
            with socket.create_connection(("127.0.0.1", self.port)) as plain, context.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                self.assertTrue(connection.recv(4096).startswith(b"HTTP/1.1 200"))
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
        with socket.create_connection(("127.0.0.1", self.port)) as plain, self.assertRaises((ssl.SSLError, ConnectionError)):
            context.wrap_socket(plain, server_hostname="127.0.0.1")
        with socket.create_connection(("127.0.0.1", self.port)) as plain:
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            try:
                got = plain.recv(4096)
            except ConnectionError:
                got = b""
            self.assertFalse(got.startswith(b"HTTP"), got)

    def reload(self, expected):
        log = os.path.join(self.data, "stoad.log")
        before = os.path.getsize(log)
        os.kill(int(self.run_value("pid")), signal.SIGHUP)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with open(log, encoding="utf-8") as file:
                file.seek(before)
                text = file.read()
            if "msg=reloaded" in text:
                self.assertIn(expected, text)
                return
            time.sleep(0.05)
        self.fail("no reload")

    def test_a_renewed_certificate_is_taken_over_and_a_bad_one_is_not(self):
        first, pin = self.shown(), self.run_value("admin_pin")
        kept = [shutil.copy(path, path + ".kept") for path in (self.certificate, self.key)]
        shutil.copy(self.stranger, self.certificate)
        self.reload("the admin interface keeps what it had")  # the key is not its
        self.assertEqual((self.shown(), self.run_value("admin_pin")), (first, pin))
        shutil.copy(self.stranger_key, self.key)
        self.reload("serving with the renewed certificate")
        self.assertNotEqual(self.shown(), first)
        self.assertNotEqual(self.run_value("admin_pin"), pin)
        code, said = self.stoa("--data", self.data, "status")
        self.assertEqual(code, 0, said)
        os.remove(self.key)
        self.reload("the admin interface keeps what it had")
        for path, copy in zip((self.certificate, self.key), kept):
            shutil.move(copy, path)
        self.reload("serving with the renewed certificate")
        self.assertEqual((self.shown(), self.run_value("admin_pin")), (first, pin))
        self.assertEqual(self.stoa("--data", self.data, "status")[0], 0)

    def test_who_watches_while_the_certificate_is_renewed_is_told_to_come_again(self):
        url = urllib.parse.urlsplit(self.run_value("admin_url"))
        with open(os.path.join(self.data, "admin.token"), encoding="utf-8") as file:
            token = file.read().strip()
        context = ssl._create_unverified_context()
        watching = http.client.HTTPSConnection(url.hostname, url.port, timeout=60, context=context)
        watching.request("GET", "/v1/watch?path=/", headers={"Authorization": "Bearer " + token})
        reply = watching.getresponse()
        self.assertIn(b"id: ", reply.readline())
        kept = [shutil.copy(path, path + ".watched") for path in (self.certificate, self.key)]
        shutil.copy(self.stranger, self.certificate)
        shutil.copy(self.stranger_key, self.key)
        self.reload("serving with the renewed certificate")
        self.assertIn(b"event: begin", reply.read())  # to its end
        watching.close()
        for path, copy in zip((self.certificate, self.key), kept):
            shutil.move(copy, path)
        self.reload("serving with the renewed certificate")
        self.assertEqual(self.stoa("--data", self.data, "status")[0], 0)

    def test_without_tls_a_network_is_refused_with_the_cure(self):
        for flags in (["--admin-listen", "0.0.0.0:0"], ["--admin-listen", "127.0.0.1:0", "--admin-tls-key", self.key]):
            done = subprocess.run([os.path.join(BIN, "stoad"), "--data", os.path.join(self.folder, "other"), *flags], capture_output=True,
                                  text=True, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 2)
            self.assertIn("admin.tls_certificate and admin.tls_key", done.stderr)
        done = subprocess.run([os.path.join(BIN, "stoad"), "--data", os.path.join(self.folder, "other"), "--nfs-enabled", "false", "--s3-enabled",
                               "false", "--admin-listen", "127.0.0.1:0", "--admin-tls-certificate", self.certificate, "--admin-tls-key",
                               self.stranger_key], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 3)
        self.assertIn("belong together", done.stderr)


if __name__ == "__main__":
    unittest.main()
