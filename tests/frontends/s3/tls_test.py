"""S3 over TLS, by real clients: certificates that are right, wrong, missing and renewed; buckets in the host name."""

import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import unittest
import urllib.parse

import boto3
import botocore.config
import botocore.exceptions

from protocol import TOP, Server

MIB = 1 << 20
DOMAIN = "s3.localhost"


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def make_certificate(folder, name):
    """A self-signed certificate, which is its own authority, and its key: the paths of both."""
    certificate, key = os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key")
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", f"/CN={name}", "-addext", f"subjectAltName=IP:127.0.0.1,DNS:{DOMAIN},DNS:*.{DOMAIN}",
            "-keyout", key, "-out", certificate)
    return certificate, key


class LocalNames:
    """Within this process, names below DOMAIN are this machine, as a name server would say."""

    def __enter__(self):
        self.real = socket.getaddrinfo
        socket.getaddrinfo = lambda host, *more, **named: self.real(
            "127.0.0.1" if str(host).endswith(DOMAIN) else host, *more, **named)

    def __exit__(self, *_):
        socket.getaddrinfo = self.real


class TlsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="stoa-tls-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.certificate, cls.key = make_certificate(cls.folder, "first")
        cls.server = Server("--", "--s3-tls-certificate", cls.certificate, "--s3-tls-key", cls.key, "--s3-domain", DOMAIN)
        cls.addClassCleanup(cls.server.stop)
        cls.port = urllib.parse.urlsplit(cls.server["S3_URL"]).port

    def client(self, endpoint=None, verify=None, style="path"):
        # Told the version: this boto3 presigns with version 2 else.
        client = boto3.client(
            "s3", endpoint_url=endpoint or self.server["S3_URL"], region_name="us-east-1", verify=verify or self.certificate,
            aws_access_key_id=self.server["S3_ACCESS_KEY"], aws_secret_access_key=self.server["S3_SECRET_KEY"],
            config=botocore.config.Config(signature_version="s3v4", retries={"max_attempts": 1},
                                          s3={"addressing_style": style}))
        self.addCleanup(client.close)
        return client

    def shown(self):
        """The certificate that a new connection is shown, PEM."""
        return ssl.get_server_certificate(("127.0.0.1", self.port))

    def log_after(self, position, pattern):
        """Waits until a line of the log behind `position` matches."""
        with open(self.server["LOG"], encoding="utf-8") as log:
            log.seek(position)
            text = ""
            while not re.search(pattern, text):
                self.assertIsNone(self.server.process.poll())
                text += log.read()

    def reload(self, pattern):
        position = os.path.getsize(self.server["LOG"])
        os.kill(int(self.server["PID"]), signal.SIGHUP)
        self.log_after(position, pattern)

    def replace(self, pair):
        for source, target in zip(pair, (self.certificate, self.key)):
            shutil.copy(source, target + ".new")
            os.rename(target + ".new", target)

    def test_boto3_over_https(self):
        self.assertTrue(self.server["S3_URL"].startswith("https://"))
        s3 = self.client()
        s3.create_bucket(Bucket="boto")
        small, large = b"hello", os.urandom(6 * MIB + 1)  # `large` leaves the memory path
        for key, data in (("small", small), ("large", large)):
            s3.put_object(Bucket="boto", Key=key, Body=data)
            self.assertEqual(s3.get_object(Bucket="boto", Key=key)["Body"].read(), data)
        self.assertEqual([c["Key"] for c in s3.list_objects_v2(Bucket="boto")["Contents"]], ["large", "small"])
        upload = s3.create_multipart_upload(Bucket="boto", Key="parts/ü")["UploadId"]
        tag = s3.upload_part(Bucket="boto", Key="parts/ü", UploadId=upload, PartNumber=1, Body=large)["ETag"]
        done = s3.complete_multipart_upload(Bucket="boto", Key="parts/ü", UploadId=upload,
                                            MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": tag}]})
        self.assertEqual(done["Location"], f"{self.server['S3_URL']}/boto/parts/%C3%BC")

    def test_ranges_are_those_of_the_object(self):
        """Over TLS bytes are copied to be encrypted, where else they are sent from the file."""
        s3 = self.client()
        s3.create_bucket(Bucket="ranges")
        for size in (13497, 131093):
            data = os.urandom(size)
            s3.put_object(Bucket="ranges", Key="object", Body=data)
            self.assertEqual(s3.get_object(Bucket="ranges", Key="object")["Body"].read(), data)
            for border in (1, 4096, 16384, 65536):
                for first in (0, border - 1, border):
                    for length in (border - 1, border, border + 1):
                        if not length or first >= size:
                            continue
                        got = s3.get_object(Bucket="ranges", Key="object", Range=f"bytes={first}-{first + length - 1}")
                        self.assertEqual(got["Body"].read(), data[first:first + length], (size, first, length))

    def test_aws_cli_over_https(self):
        self.client().create_bucket(Bucket="cli")
        path = os.path.join(self.folder, "file")
        with open(path, "wb") as file:
            file.write(os.urandom(12 * MIB))
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.folder, "AWS_DEFAULT_REGION": "us-east-1",
                       "AWS_ACCESS_KEY_ID": self.server["S3_ACCESS_KEY"],
                       "AWS_SECRET_ACCESS_KEY": self.server["S3_SECRET_KEY"], "AWS_CA_BUNDLE": self.certificate}

        def aws(*words):
            return subprocess.run(["/usr/bin/aws", "--endpoint-url", self.server["S3_URL"], "s3", *words], env=environment,
                                  capture_output=True, text=True)
        for words in (("cp", path, "s3://cli/tree/file"), ("ls", "s3://cli/tree/"), ("cp", "s3://cli/tree/file", path + ".back")):
            done = aws(*words)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(path, "rb") as sent, open(path + ".back", "rb") as back:
            self.assertEqual(sent.read(), back.read())
        del environment["AWS_CA_BUNDLE"]  # no authority vouches for the certificate now
        done = aws("ls", "s3://cli/")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("CERTIFICATE_VERIFY_FAILED", done.stderr)

    def test_plain_http_is_not_answered(self):
        with socket.create_connection(("127.0.0.1", self.port)) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            answer = b""
            try:
                while more := plain.recv(4096):
                    answer += more
            except ConnectionResetError:
                pass
        self.assertNotIn(b"HTTP/", answer)
        self.client().list_buckets()

    def test_old_protocol_versions_are_refused(self):
        context = ssl.create_default_context(cafile=self.certificate)
        context.set_ciphers("ALL:@SECLEVEL=0")  # else the client's own library refuses
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
        with socket.create_connection(("127.0.0.1", self.port)) as plain, self.assertRaises(ssl.SSLError):
            context.wrap_socket(plain, server_hostname="127.0.0.1")

    def test_buckets_in_the_host_name(self):
        s3 = self.client(f"https://{DOMAIN}:{self.port}", style="virtual")
        asked = []
        s3.meta.events.register("before-send.s3", lambda request, **_: asked.append(request.url))
        with LocalNames():
            s3.create_bucket(Bucket="virtual-host")
            s3.put_object(Bucket="virtual-host", Key="a/b ü", Body=b"content", Metadata={"m": "1"})
            got = s3.get_object(Bucket="virtual-host", Key="a/b ü")
            self.assertEqual((got["Body"].read(), got["Metadata"]), (b"content", {"m": "1"}))
            self.assertEqual([c["Key"] for c in s3.list_objects_v2(Bucket="virtual-host", Prefix="a/")["Contents"]], ["a/b ü"])
            s3.copy_object(Bucket="virtual-host", Key="copy", CopySource={"Bucket": "virtual-host", "Key": "a/b ü"})
            upload = s3.create_multipart_upload(Bucket="virtual-host", Key="big")["UploadId"]
            tag = s3.upload_part(Bucket="virtual-host", Key="big", UploadId=upload, PartNumber=1, Body=b"x")["ETag"]
            done = s3.complete_multipart_upload(Bucket="virtual-host", Key="big", UploadId=upload,
                                                MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": tag}]})
            self.assertEqual(done["Location"], f"https://virtual-host.{DOMAIN}:{self.port}/big")
            s3.delete_objects(Bucket="virtual-host", Delete={"Objects": [{"Key": "copy"}, {"Key": "big"}]})
            self.assertIn("virtual-host", [b["Name"] for b in s3.list_buckets()["Buckets"]])
            with self.assertRaises(botocore.exceptions.ClientError) as missing:
                s3.list_objects_v2(Bucket="no-such-bucket")
            self.assertEqual(missing.exception.response["Error"]["Code"], "NoSuchBucket")
            presigned = s3.generate_presigned_url("get_object", {"Bucket": "virtual-host", "Key": "a/b ü"}, ExpiresIn=60)
        # Not a path-style request in disguise.
        self.assertTrue(asked[0].startswith(f"https://virtual-host.{DOMAIN}:{self.port}/"), asked[0])
        # The same key by the path: one object, two ways to it.
        self.assertEqual(self.client().get_object(Bucket="virtual-host", Key="a/b ü")["Body"].read(), b"content")
        # curl resolves every name below "localhost" to this machine by itself.
        fetched = subprocess.run(["curl", "--silent", "--show-error", "--fail", "--cacert", self.certificate, presigned],
                                 capture_output=True)
        self.assertEqual((fetched.returncode, fetched.stdout), (0, b"content"), fetched.stderr)

    def test_a_renewed_certificate_is_taken_over_while_serving(self):
        old = self.shown()
        s3 = self.client()
        s3.create_bucket(Bucket="renewal")
        data = os.urandom(40 * MIB)
        s3.put_object(Bucket="renewal", Key="long", Body=data)
        began = s3.get_object(Bucket="renewal", Key="long")["Body"]  # far from read when the certificate changes
        first = began.read(MIB)

        self.replace(make_certificate(self.folder, "second"))
        self.reload("serving with the renewed certificate")
        self.assertNotEqual(self.shown(), old)
        with open(self.certificate, encoding="ascii") as file:
            self.assertEqual(self.shown().strip(), file.read().strip())
        self.assertEqual(self.client().get_object(Bucket="renewal", Key="long", Range="bytes=5-9")["Body"].read(), data[5:10])
        self.assertEqual(first + began.read(), data)

        # An unusable one is refused, and the server keeps the present one.
        good = self.shown()
        stranger, _ = make_certificate(self.folder, "stranger")
        garbage = os.path.join(self.folder, "garbage")
        with open(garbage, "w", encoding="ascii") as file:
            file.write("no certificate")
        safe = os.path.join(self.folder, "safe.pem"), os.path.join(self.folder, "safe.key")
        for source, target in zip((self.certificate, self.key), safe):
            shutil.copy(source, target)
        for wrong in ((stranger, safe[1]), (garbage, safe[1]), (safe[0], garbage)):
            self.replace(wrong)
            self.reload("the server keeps what it had")
            self.assertEqual(self.shown(), good)
        os.remove(self.key)
        self.reload("the server keeps what it had")
        self.replace(safe)
        self.reload("reloaded")
        self.assertEqual(self.shown(), good)
        self.client().list_buckets()


class StartTest(unittest.TestCase):
    """What an administrator reads when the server cannot start."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="stoa-tls-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.certificate, self.key = make_certificate(self.folder, "good")

    def refused(self, *flags):
        stoad = os.path.join(os.environ.get("STOA_BUILD", os.path.join(TOP, "build", "release")), "bin", "stoad")
        done = subprocess.run([stoad, "--data", os.path.join(self.folder, "data"), "--nfs-listen", "127.0.0.1:0",
                               "--s3-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", *flags],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertNotEqual(done.returncode, 0)
        return done.stdout + done.stderr

    def test_a_missing_file_is_named(self):
        for pair in (("/nonexistent.pem", self.key), (self.certificate, "/nonexistent.key")):
            said = self.refused("--s3-tls-certificate", pair[0], "--s3-tls-key", pair[1])
            self.assertIn("cannot read /nonexistent.", said)

    def test_files_that_do_not_fit_are_named(self):
        other, _ = make_certificate(self.folder, "other")
        garbage = os.path.join(self.folder, "garbage.pem")
        with open(garbage, "w", encoding="ascii") as file:
            file.write("no certificate")
        os.chmod(garbage, 0o600)  # a world-readable key is refused for that
        empty = os.path.join(self.folder, "empty.pem")
        open(empty, "w", encoding="ascii").close()
        for certificate, key in ((other, self.key), (garbage, self.key), (self.certificate, garbage), (self.folder, self.key)):
            said = self.refused("--s3-tls-certificate", certificate, "--s3-tls-key", key)
            self.assertIn(certificate, said)
        self.assertIn("or it is empty", self.refused("--s3-tls-certificate", empty, "--s3-tls-key", self.key))

    def test_one_file_is_not_enough(self):
        self.assertIn("belong together", self.refused("--s3-tls-certificate", self.certificate))


if __name__ == "__main__":
    unittest.main()
