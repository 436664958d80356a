"""A network and mount namespace of its own for all servers and the load generator.

NFS-Ganesha needs a portmapper on the well-known port and an address that is not loopback; in a namespace of its own it
clashes with nothing, and every server is reached over the same local path. The address is one end of a veth pair, so
packets to it take the loopback route.
"""
import os
import shutil
import subprocess
import sys

ADDRESS = "192.0.2.2"
MARK = "STOA_BENCH_ISOLATED"


def enter():
    """Runs this program again inside fresh namespaces; returns only there."""
    if os.environ.get(MARK) == "1":
        _prepare()
        return
    if os.geteuid() != 0:
        sys.exit("bench/compare: needs root (namespaces, NFS-Ganesha)")
    for tool in ("unshare", "ip"):
        if not shutil.which(tool):
            sys.exit(f"bench/compare: {tool} is not installed (packages util-linux, iproute2)")
    os.environ[MARK] = "1"
    os.execvp("unshare", ["unshare", "-m", "-n", sys.executable, *sys.argv])


def _prepare():
    def run(*command):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    run("mount", "--make-rprivate", "/")
    run("mount", "-t", "tmpfs", "bench-run", "/run")
    for folder in ("/run/rpcbind", "/run/lock", "/run/ganesha"):
        os.makedirs(folder, exist_ok=True)
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "d0", "type", "veth", "peer", "name", "d1")
    run("ip", "addr", "add", f"{ADDRESS}/24", "dev", "d0")
    run("ip", "link", "set", "d0", "up")
    run("ip", "link", "set", "d1", "up")
    run("ip", "route", "add", "default", "via", "192.0.2.1")
