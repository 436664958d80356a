"""libstoa and NFSv3 against one server: what a program gains that uses the library."""
from harness.fuse_mounts import StoaMount
from harness.server import Server
from harness.stoa_server import Stoa


class Library(StoaMount):
    """The server, and a mount of it for loads of system calls."""

    by_mount = False

    def get_ready(self, load, short):
        self.by_mount = load.generator == "posix_load"

    def client_pids(self):
        return super().client_pids() if self.by_mount else []

    def lib_arguments(self):
        return self.server.lib_arguments()


class OwnNfs(Server):
    """The same server over NFSv3."""

    name = "nfs"
    generator = "nfs_load"
    durability = Stoa.durability

    def __init__(self, library):
        self.library = library

    def start(self):
        """It runs."""

    def stop(self):
        """The library's end ends it."""

    def pids(self):
        return self.library.server.pids()

    def nfs_arguments(self):
        return self.library.server.nfs_arguments()


def servers(work, root, build):
    library = Library(work, root, build, uring=False)
    return [library, OwnNfs(library)]
