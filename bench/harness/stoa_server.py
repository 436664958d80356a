"""Stoa as tests/serve starts it: a throw-away server whose facts come as KEY=VALUE lines, then READY."""
import os
import subprocess
import threading

from harness.process import ServerFailed, tail
from harness.server import Server


class Stoa(Server):
    name = "stoa"
    durability = "every reply that the protocol calls stable is durable before it leaves, CREATE and REMOVE included"

    def __init__(self, work, root, build, data=None):
        """With `data`, a folder, the server's data is kept there and found again by the next that is given it."""
        self.work = work
        self.data = data
        self.serve = os.environ.get("STOA_SERVE", os.path.join(root, "tests", "serve"))
        self.build = build
        self.log = os.path.join(work, "stoa.log")
        self.server = None
        self.facts = {}

    def start(self):
        if not os.access(self.serve, os.X_OK):
            raise ServerFailed(f"{self.serve} is missing")
        environment = dict(os.environ, TMPDIR=self.work, STOA_BUILD=self.build)  # its data must lie on the same disk as the peers'
        with open(self.log, "ab") as log:
            self.server = subprocess.Popen([self.serve, *(["--data", self.data] if self.data else [])], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                                           env=environment, start_new_session=True)
        guard = threading.Timer(60, self.server.kill)
        guard.start()
        try:
            for line in self.server.stdout:
                line = line.strip()
                if line == "READY":
                    return
                key, equals, value = line.partition("=")
                if equals:
                    self.facts[key] = value.strip("'\"")
        finally:
            guard.cancel()
        raise ServerFailed(f"tests/serve ended before READY: {tail(self.log)}")

    def pids(self):
        return [int(self.facts["STOA_PID"])]

    def nfs_arguments(self):
        return ["--host", self.facts["STOA_NFS_HOST"], "--port", self.facts["STOA_NFS_PORT"],
                "--mount-port", self.facts["STOA_MOUNT_PORT"], "--export", self.facts["STOA_EXPORT"]]

    def nfs41_arguments(self):
        return ["--host", self.facts["STOA_NFS_HOST"], "--port", self.facts["STOA_NFS_PORT"], "--export", self.facts["STOA_EXPORT"]]

    def lib_arguments(self):
        return ["--url", self.facts["STOA_NATIVE_URL"], "--key-file", self.facts["STOA_NATIVE_KEY_FILE"]]

    def s3_arguments(self):
        return ["--url", self.facts["STOA_S3_URL"], "--access-key", self.facts["STOA_S3_ACCESS_KEY"],
                "--secret-key", self.facts["STOA_S3_SECRET_KEY"]]

    def stop(self):
        if self.server is None or self.server.poll() is not None:
            return
        self.server.stdin.close()  # tests/serve ends, and removes its data, when its input closes
        try:
            self.server.wait(60)
        except subprocess.TimeoutExpired:
            self.server.terminate()
            self.server.wait(20)
