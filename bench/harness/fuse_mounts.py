"""File systems in user space that are compared: the mount of `stoa mount`, bindfs, and null_fuse."""
import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import time

from harness import generator, process
from harness.process import ServerFailed
from harness.server import Server
from harness.stoa_server import Stoa

URING = "/sys/module/fuse/parameters/enable_uring"


def unavailable(suite):
    """Why this machine cannot run a suite with mounts; None: it can."""
    if os.geteuid() != 0:
        return "mounts need root"
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "there is no /dev/fuse"
    if suite == "native" and not os.path.exists(URING):
        return "this kernel has no FUSE over io_uring (Linux 6.14 has); bench/compare native-dev"
    return None


@contextlib.contextmanager
def fuse_over_uring(wanted):
    """The kernel's parameter while a mount begins, restored afterwards. Others who set it wait."""
    try:
        file = open(URING, "r+b", buffering=0)
    except FileNotFoundError:
        yield
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        before = file.read(1)
        file.write(b"Y" if wanted else b"N")
        try:
            yield
        finally:
            file.write(before)


class Mount(Server):
    """A directory that a process of ours serves."""

    uring = False

    def __init__(self, work):
        self.work = work
        self.directory = os.path.join(work, f"{self.name}-mount")
        self.log = os.path.join(work, f"{self.name}-mount.log")
        self.process = None

    def command(self):
        raise NotImplementedError

    def mount(self):
        os.makedirs(self.directory, exist_ok=True)
        with fuse_over_uring(self.uring):
            self.process = process.start(self.command(), self.log)
            end = time.monotonic() + 20
            while not os.path.ismount(self.directory):
                if self.process.poll() is not None:
                    raise ServerFailed(f"ended with status {self.process.returncode}: {process.tail(self.log)}")
                if time.monotonic() > end:
                    raise ServerFailed(f"mounts nothing after 20 s: {process.tail(self.log)}")
                time.sleep(0.01)

    def unmount(self):
        if self.process is None:
            return
        if os.path.ismount(self.directory):
            subprocess.run(["umount", self.directory], check=False)
        try:
            self.process.wait(60)  # what was written goes to the server
        except subprocess.TimeoutExpired:
            process.stop(self.process)
            subprocess.run(["umount", "--lazy", self.directory], check=False, stderr=subprocess.DEVNULL)
        self.process = None

    def start(self):
        self.mount()

    def stop(self):
        self.unmount()

    def make_cold(self):
        self.unmount()
        self.mount()

    def pids(self):
        return self.client_pids()

    def client_pids(self):
        return [self.process.pid]

    def posix_arguments(self):
        return ["--directory", self.directory]


class StoaMount(Mount):
    """`stoa mount` and the server behind it."""

    name = "stoa"
    durability = "names and attributes are durable when a call returns; content after fsync"

    def __init__(self, work, root, build, uring, server=None):
        super().__init__(work)
        self.build = build
        self.uring = uring
        self.server = server or Stoa(work, root, build)
        self.owns_server = server is None
        self.trees = set()

    def command(self):
        return [os.path.join(self.build, "bin", "stoa"), "mount", "--foreground", "--key-file", self.server.facts["STOA_NATIVE_KEY_FILE"],
                self.server.facts["STOA_NATIVE_URL"], self.directory]

    def start(self):
        if self.owns_server:
            self.server.start()
        self.mount()
        transport = self._stats()["transport"]
        if transport != ("ring" if self.uring else "fuse"):
            raise ServerFailed(f"the mount speaks over {transport}: {process.tail(self.log)}")

    def stop(self):
        self.unmount()
        if self.owns_server:
            self.server.stop()

    def pids(self):
        return [*self.server.pids(), *self.client_pids()]

    def get_ready(self, load, short):
        """The tree of a load is made over NFS, which is quicker than through the mount."""
        tree = load.tree_of(short)
        if tree is None or tree in self.trees:
            return
        done = subprocess.run([generator.path(self.build, "nfs_load"), *self.server.nfs_arguments(), "--load", "create-empty", "--tag", "tree",
                               "--directories", str(tree.directories), "--count", str(tree.files), "--seconds", "0"], capture_output=True, text=True)
        if done.returncode != 0:
            raise ServerFailed(f"a tree of {tree.files} files: {done.stderr or done.stdout}")
        self.trees.add(tree)

    def tree_arguments(self, tree):
        return ["--tree", f"prep-dirs-{tree.directories}", "--files", str(tree.files)]

    def counters(self):
        stats = self._stats()
        return {name: stats[name] for name in ("calls", "cache_hits", "cache_misses")}

    def _stats(self):
        done = subprocess.run([os.path.join(self.build, "bin", "stoa"), "--json", "stats", self.directory], capture_output=True, text=True)
        if done.returncode != 0:
            raise ServerFailed(f"stoa stats: {done.stderr}")
        return json.loads(done.stdout)


class Bindfs(Mount):
    """bindfs over a directory of the same disk."""

    name = "bindfs"
    durability = "that of the file system below: nothing is durable before fsync"

    def __init__(self, work):
        super().__init__(work)
        self.data = os.path.join(work, "bindfs-data")

    def command(self):
        # Its default is one thread for all requests; this is its fastest form.
        return ["bindfs", "-f", "--multithreaded", self.data, self.directory]

    def start(self):
        if not shutil.which("bindfs"):
            raise ServerFailed("bindfs is not installed (package bindfs)")
        os.makedirs(self.data, exist_ok=True)
        self.mount()

    def stop(self):
        self.unmount()
        shutil.rmtree(self.data, ignore_errors=True)


class NullFuse(Mount):
    """A tree that is made up on the spot: the kernel's own limit. Only for loads with a tree, which it is mounted for."""

    name = "null_fuse"
    durability = "read-only"

    def __init__(self, work, build, uring):
        super().__init__(work)
        self.build = build
        self.uring = uring
        self.tree = None

    def start(self):
        generator.path(self.build, "null_fuse")

    def command(self):
        return [generator.path(self.build, "null_fuse"), self.directory, "--files", str(self.tree.files), "--per-directory",
                str(self.tree.files // self.tree.directories)]

    def get_ready(self, load, short):
        tree = load.tree_of(short)
        if tree != self.tree:
            self.unmount()
            self.tree = tree
            self.mount()

    def tree_arguments(self, tree):
        return ["--files", str(tree.files)]
