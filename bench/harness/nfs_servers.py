"""The NFS servers that are compared."""
import os
import shutil

from harness import isolate, process
from harness.process import ServerFailed
from harness.server import Server


class Ganesha(Server):
    """NFS-Ganesha with its VFS back end on the same file system as Stoa's data."""

    name = "ganesha"
    lacks = ("recall",)  # its VFS back end gives no delegations
    durability = "syncs at COMMIT and FILE_SYNC only; CREATE, OPEN that creates and REMOVE are answered before they are durable"

    def __init__(self, work):
        self.data = os.path.join(work, "ganesha-data")
        self.log = os.path.join(work, "ganesha.log")
        self.config = os.path.join(work, "ganesha.conf")
        self.recovery = os.path.join(work, "ganesha-recovery")
        self.rpcbind = self.server = None

    def start(self):
        for tool in ("rpcbind", "ganesha.nfsd"):
            if not shutil.which(tool):
                raise ServerFailed(f"{tool} is not installed (packages rpcbind, nfs-ganesha, nfs-ganesha-vfs)")
        os.makedirs(self.data, exist_ok=True)
        os.makedirs(self.recovery, exist_ok=True)
        with open(self.config, "w") as file:
            file.write(f"""
NFS_CORE_PARAM {{ Protocols = 3, 4; NFS_Port = 20490; MNT_Port = 20480; Enable_NLM = false; Enable_RQUOTA = false;
  Bind_addr = {isolate.ADDRESS}; }}
NFSV4 {{ Graceless = true; Minor_Versions = 1, 2; Delegations = true; RecoveryBackend = fs; RecoveryRoot = {self.recovery}; }}
EXPORT {{ Export_Id = 1; Path = {self.data}; Pseudo = /bench; Access_Type = RW; Squash = No_Root_Squash;
  SecType = sys; Protocols = 3, 4; Delegations = RW; Transports = TCP; MaxRead = 1048576; MaxWrite = 1048576;
  PrefRead = 1048576; PrefWrite = 1048576; FSAL {{ Name = VFS; }} }}
LOG {{ Default_Log_Level = WARN; }}
""")
        self.rpcbind = process.start(["rpcbind", "-f"], self.log)
        process.wait_for_port("127.0.0.1", 111, self.rpcbind, 10, self.log)
        self.server = process.start(["ganesha.nfsd", "-F", "-f", self.config, "-p", "/run/ganesha.pid", "-L", self.log], self.log)
        process.wait_for_port(isolate.ADDRESS, 20490, self.server, 30, self.log)

    def pids(self):
        return [self.server.pid]

    def nfs_arguments(self):
        return ["--host", isolate.ADDRESS, "--port", "20490", "--mount-port", "20480", "--export", self.data]

    def nfs41_arguments(self):
        return ["--host", isolate.ADDRESS, "--port", "20490", "--export", "/bench"]

    def stop(self):
        process.stop(self.server)
        process.stop(self.rpcbind)
        shutil.rmtree(self.data, ignore_errors=True)
