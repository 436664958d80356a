"""A throw-away server for tests with real clients: starts tests/serve and reads what it prints."""

import os
import subprocess
import unittest

import boto3
import botocore.config
import botocore.exceptions

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


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

    def client(self, who="", **config):
        return boto3.client(
            "s3", endpoint_url=self["S3_URL"], region_name="us-east-1",
            aws_access_key_id=self[f"S3_{who}ACCESS_KEY"], aws_secret_access_key=self[f"S3_{who}SECRET_KEY"],
            config=botocore.config.Config(retries={"max_attempts": 1}, s3={"addressing_style": "path"}, **config))


class DoorTest(unittest.TestCase):
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
