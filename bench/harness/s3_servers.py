"""The HTTP and S3 servers that are compared."""
import json
import os
import shutil
import subprocess
from pathlib import Path

from harness import process
from harness.process import ServerFailed
from harness.server import Server

BUCKET = "test"


class Nginx(Server):
    """nginx with static files and WebDAV PUT: what HTTP itself costs. It checks no signature and syncs nothing."""

    name = "nginx"
    durability = "PUT is answered from the page cache, never synced; no signature is checked, no digest computed"
    port = 18080
    lacks = ("list",)

    def __init__(self, work):
        self.folder = os.path.join(work, "nginx")
        self.log = os.path.join(work, "nginx.log")
        self.server = None

    def start(self):
        if not shutil.which("nginx"):
            raise ServerFailed("nginx is not installed (package nginx-light)")
        for name in ("data/" + BUCKET, "body", "proxy", "fastcgi", "uwsgi", "scgi"):
            os.makedirs(os.path.join(self.folder, name), exist_ok=True)
        config = os.path.join(self.folder, "nginx.conf")
        with open(config, "w") as file:
            file.write(f"""
user root; worker_processes auto; daemon off; pid {self.folder}/nginx.pid; error_log {self.log} warn;
events {{ worker_connections 1024; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; client_max_body_size 0;
  client_body_temp_path {self.folder}/body; proxy_temp_path {self.folder}/proxy; fastcgi_temp_path {self.folder}/fastcgi;
  uwsgi_temp_path {self.folder}/uwsgi; scgi_temp_path {self.folder}/scgi;
  server {{ listen 127.0.0.1:{self.port}; root {self.folder}/data;
    location / {{ dav_methods PUT DELETE; create_full_put_path on; }} }}
}}
""")
        self.server = process.start(["nginx", "-c", config, "-e", self.log], self.log)
        process.wait_for_port("127.0.0.1", self.port, self.server, 10, self.log)

    def pids(self):
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.server.pid)], capture_output=True, text=True).stdout
        return [self.server.pid, *map(int, children.split())]

    def s3_arguments(self):
        return ["--url", f"http://127.0.0.1:{self.port}", "--bucket", BUCKET]

    def stop(self):
        process.stop(self.server)
        shutil.rmtree(self.folder, ignore_errors=True)


class Radosgw(Server):
    """Ceph's S3 gateway on a throw-away cluster of three OSDs, bluestore in files on the same disk."""

    name = "radosgw"
    durability = "durable in three OSDs before the reply (all on the same disk here)"
    port = 18090

    def __init__(self, work, root):
        self.folder = os.path.join(work, "ceph")
        self.log = os.path.join(work, "radosgw.log")
        self.cephlab = os.environ.get("CEPHLAB") or next(
            (str(p / "shared/lab/cephlab") for p in Path(root).resolve().parents if (p / "shared/lab/cephlab").exists()), "")
        self.server = None
        self.up = False
        self.keys = {}

    def _run(self, *command, seconds=180):
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        if done.returncode != 0:
            raise ServerFailed(f"{' '.join(command[:3])}: {(done.stderr or done.stdout).strip()[-300:]}")
        return done.stdout

    def start(self):
        if not self.cephlab:
            raise ServerFailed("cephlab was not found beside the repository (set CEPHLAB)")
        for tool in ("ceph-mon", "ceph-osd", "radosgw", "radosgw-admin"):
            if not shutil.which(tool):
                raise ServerFailed(f"{tool} is not installed (cephlab setup; package radosgw)")
        self._run(self.cephlab, "up", "3", self.folder)
        self.up = True
        config = os.path.join(self.folder, "ceph.conf")
        with open(config, "a") as file:
            file.write(f"""[client.admin]
rgw_frontends = beast endpoint=127.0.0.1:{self.port} tcp_nodelay=1
rgw_data = {self.folder}/rgw
rgw_enable_usage_log = false
rgw_enable_ops_log = false
""")
        os.makedirs(os.path.join(self.folder, "rgw"), exist_ok=True)
        self.server = process.start(["radosgw", "-f", "-c", config, "-n", "client.admin", "--log-file", self.log], self.log)
        process.wait_for_port("127.0.0.1", self.port, self.server, 120, self.log)
        text = self._run("radosgw-admin", "-c", config, "user", "create", "--uid=bench", "--display-name=bench")
        self.keys = json.loads(text[text.index("{"):])["keys"][0]

    def pids(self):
        pids = [self.server.pid]
        run = Path(self.folder) / "run"
        for file in sorted(run.glob("*.pid")):
            if file.name.startswith(("osd.", "mon.")):
                pids.append(int(file.read_text().split()[0]))
        return pids

    def s3_arguments(self):
        return ["--url", f"http://127.0.0.1:{self.port}", "--bucket", BUCKET, "--access-key", self.keys["access_key"],
                "--secret-key", self.keys["secret_key"]]

    def stop(self):
        process.stop(self.server)
        if self.up:
            self.up = False
            subprocess.run([self.cephlab, "down", self.folder, "--rm"], capture_output=True, timeout=180)
