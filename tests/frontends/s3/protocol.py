"""A throw-away server for tests with real clients: starts tests/serve and reads what it prints."""

import hashlib
import http.client
import os
import subprocess
import unittest
import urllib.error
import urllib.request

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials
import botocore.exceptions

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


MIB = 1 << 20


def md5(data):
    return hashlib.md5(data).hexdigest()


class Server:
    def __init__(self, *flags):
        self.process = subprocess.Popen([os.path.join(TOP, "tests", "serve"), *flags], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.values = {}
        for line in self.process.stdout:
            line = line.strip()
            if line == "READY":
                return
            key, _, value = line.partition("=")
            self.values[key] = value
        raise RuntimeError("tests/serve did not become ready")

    def __getitem__(self, key):
        return self.values["STOA_" + key]

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def stoa(self, *words):
        """Runs the administrator's command line; gives what it printed."""
        done = subprocess.run([self["CLI"], "--data", self["DATA"], *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"stoa {' '.join(words)}: {done.returncode}: {done.stderr}")
        return done.stdout

    def client(self, who="", region="us-east-1", **config):
        return boto3.client(
            "s3", endpoint_url=self["S3_URL"], region_name=region,
            aws_access_key_id=self[f"S3_{who}ACCESS_KEY"], aws_secret_access_key=self[f"S3_{who}SECRET_KEY"],
            config=botocore.config.Config(retries={"max_attempts": 1}, s3={"addressing_style": "path"}, **config))


class ProtocolTest(unittest.TestCase):
    """One server for all tests of a class; each test has a bucket of its own."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.s3 = cls.server.client()
        cls.alt = cls.server.client("ALT_")

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def setUp(self):
        name = "".join(c if c.isalnum() else "-" for c in self.id().split(".")[-1].lower())
        self.bucket = name.strip("-")[:60]
        self.s3.create_bucket(Bucket=self.bucket)

    def refused(self, status, code, call, **arguments):
        with self.assertRaises(botocore.exceptions.ClientError) as caught:
            call(**arguments)
        response = caught.exception.response
        self.assertEqual((response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]), (status, code))
        return response

    def put(self, key, body=b"", **more):
        return self.s3.put_object(Bucket=self.bucket, Key=key, Body=body, **more)

    def get(self, key, **more):
        return self.s3.get_object(Bucket=self.bucket, Key=key, **more)["Body"].read()

    def keys(self, **more):
        return [entry["Key"] for entry in self.s3.list_objects_v2(Bucket=self.bucket, **more).get("Contents", [])]

    def fetch(self, url, method="GET", headers=None, data=None):
        try:
            with urllib.request.urlopen(urllib.request.Request(url, data, headers or {}, method=method)) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def signed(self, method, path, headers, body_hash, when=None):
        request = botocore.awsrequest.AWSRequest(method, self.server["S3_URL"] + path, dict(headers))
        request.headers["X-Amz-Content-SHA256"] = body_hash
        credentials = botocore.credentials.Credentials(self.server["S3_ACCESS_KEY"], self.server["S3_SECRET_KEY"])
        signer = botocore.auth.S3SigV4Auth(credentials, "s3", "us-east-1")
        signer.payload = lambda _: body_hash
        if when is None:
            signer.add_auth(request)
        else:
            real = botocore.auth.datetime.datetime
            class Fixed(real):
                @classmethod
                def utcnow(cls):
                    return when
            botocore.auth.datetime.datetime = Fixed
            try:
                signer.add_auth(request)
            finally:
                botocore.auth.datetime.datetime = real
        return dict(request.headers.items())

    def send(self, method, path, headers=None, body=b"", body_hash=None, unsigned=None, without=()):
        """A request as no client would send it: `unsigned` headers replace signed ones, `without` are left out."""
        signed = self.signed(method, path, headers or {}, body_hash or hashlib.sha256(body).hexdigest())
        signed.setdefault("Content-Length", str(len(body)))
        signed.update(unsigned or {})
        connection = http.client.HTTPConnection(self.server["S3_URL"].split("//")[1])
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in signed.items():
            if name not in without:
                connection.putheader(name, value)
        connection.endheaders(body)
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return reply.status, reply.headers, text

    def answered(self, status, code, method, path, **more):
        """The status, and in the document an error of that code; empty: no error."""
        got, _, text = self.send(method, path, **more)
        found = text.partition("<Code>")[2].partition("</Code>")[0]
        self.assertEqual((got, found), (status, code), f"{method} {path} {more}: {text}")
        return text
