"""The S3 server as AWS CLI and rclone see it: trees go in and come back byte for byte."""

import filecmp
import os
import shutil
import subprocess
import tempfile
import unittest
import urllib.request

from protocol import ProtocolTest

MIB = 1 << 20


@unittest.skipUnless(os.path.exists("/usr/bin/aws") and shutil.which("rclone"), "needs awscli and rclone")
class CommandLineTest(ProtocolTest):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.source = os.path.join(self.folder.name, "source")
        os.makedirs(os.path.join(self.source, "deep", "er folder"))
        for name, size in (("empty", 0), ("small", 100), ("deep/ünï", 20_000), ("deep/er folder/a+b", 70_000), ("large", 18 * MIB)):
            with open(os.path.join(self.source, name), "wb") as file:
                file.write(os.urandom(size))
        self.environment = {
            "PATH": "/usr/bin:/bin", "HOME": self.folder.name, "LC_ALL": "C.UTF-8",
            "AWS_ACCESS_KEY_ID": self.server["S3_ACCESS_KEY"], "AWS_SECRET_ACCESS_KEY": self.server["S3_SECRET_KEY"],
            "AWS_DEFAULT_REGION": "us-east-1",
            "RCLONE_CONFIG_S_TYPE": "s3", "RCLONE_CONFIG_S_PROVIDER": "Other", "RCLONE_CONFIG_S_ENDPOINT": self.server["S3_URL"],
            "RCLONE_CONFIG_S_ACCESS_KEY_ID": self.server["S3_ACCESS_KEY"],
            "RCLONE_CONFIG_S_SECRET_ACCESS_KEY": self.server["S3_SECRET_KEY"]}

    def run_tool(self, *arguments):
        done = subprocess.run(arguments, env=self.environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def aws(self, *arguments):
        return self.run_tool("/usr/bin/aws", "--endpoint-url", self.server["S3_URL"], *arguments)

    def rclone(self, *arguments):
        return self.run_tool(shutil.which("rclone"), *arguments)

    def same(self, copy):
        compared = filecmp.dircmp(self.source, copy)
        pending = [compared]
        while pending:
            at = pending.pop()
            self.assertEqual((at.left_only, at.right_only), ([], []))
            self.assertEqual(filecmp.cmpfiles(at.left, at.right, at.common_files, shallow=False)[1:], ([], []))
            pending += at.subdirs.values()

    def test_aws_sync_there_and_back(self):
        copy = os.path.join(self.folder.name, "copy")
        self.aws("s3", "sync", self.source, f"s3://{self.bucket}/tree")
        self.aws("s3", "sync", f"s3://{self.bucket}/tree", copy)
        self.same(copy)
        self.assertIn("large", self.aws("s3", "ls", "--recursive", f"s3://{self.bucket}/tree/"))
        self.aws("s3", "cp", f"s3://{self.bucket}/tree/large", f"s3://{self.bucket}/copied")
        self.aws("s3", "mv", f"s3://{self.bucket}/copied", f"s3://{self.bucket}/moved")
        self.aws("s3", "rm", "--recursive", f"s3://{self.bucket}/")
        self.assertEqual(self.keys(), [])
        self.aws("s3", "rb", f"s3://{self.bucket}")

    def test_aws_presigns_as_it_pleases(self):
        self.aws("s3", "cp", os.path.join(self.source, "small"), f"s3://{self.bucket}/a small+one")
        with open(os.path.join(self.source, "small"), "rb") as file:
            content = file.read()
        # With version 2 or 4, as the installed one does by default; both are tried in boto3_auth_test.py.
        url = self.aws("s3", "presign", f"s3://{self.bucket}/a small+one", "--expires-in", "60").strip()
        self.assertIn("Signature=", url)
        with urllib.request.urlopen(url) as reply:
            self.assertEqual(reply.read(), content)

    def test_rclone_sync_check_and_purge(self):
        copy = os.path.join(self.folder.name, "copy")
        self.rclone("sync", "--s3-upload-cutoff", "6M", "--s3-chunk-size", "5M", self.source, f"s:{self.bucket}/tree")
        self.rclone("check", "--download", self.source, f"s:{self.bucket}/tree")
        self.rclone("sync", f"s:{self.bucket}/tree", copy)
        self.same(copy)
        self.rclone("copyto", f"s:{self.bucket}/tree/large", f"s:{self.bucket}/other")
        self.rclone("purge", f"s:{self.bucket}/tree")
        self.assertEqual(self.keys(), ["other"])


if __name__ == "__main__":
    unittest.main()
