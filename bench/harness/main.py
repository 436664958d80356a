"""Command line of bench/compare."""
import argparse
import datetime
import os
import shutil
import sys
import tempfile
from pathlib import Path

from harness import isolate, loads, nfs_servers, report, runner, s3_servers
from harness.stoa_server import Stoa

ROOT = Path(__file__).resolve().parent.parent.parent


def main():
    parser = argparse.ArgumentParser(prog="bench/compare", description=__doc__)
    parser.add_argument("suite", choices=["nfs", "s3"])
    parser.add_argument("--rounds", type=int, help="rounds, interleaved (default 5; 1 with --short)")
    parser.add_argument("--short", action="store_true", help="a smoke test: every load, tiny sizes, nothing is judged")
    parser.add_argument("--only", help="loads, separated by commas")
    parser.add_argument("--servers", help="servers, separated by commas (default: all)")
    parser.add_argument("--build", default=str(ROOT / "build" / "release"), help="build directory with the generators")
    parser.add_argument("--work", help="where servers keep their data (default: a new folder in $TMPDIR or /var/tmp)")
    parser.add_argument("--results", default=str(ROOT / "bench" / "results"), help="where JSON and SVG go")
    options = parser.parse_args()
    isolate.enter()
    if options.rounds is None:
        options.rounds = 1 if options.short else 5
    base = options.work or os.environ.get("TMPDIR") or "/var/tmp"
    os.makedirs(base, exist_ok=True)
    work = tempfile.mkdtemp(prefix="stoa-bench.", dir=base)
    os.environ["TMPDIR"] = work
    try:
        return compare(options, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def compare(options, work):
    suite_loads = {"nfs": loads.NFS, "s3": loads.S3}[options.suite]
    if options.only:
        wanted = options.only.split(",")
        suite_loads = suite_loads + (loads.S3_EXTRA if options.suite == "s3" else [])
        unknown = set(wanted) - {load.name for load in suite_loads}
        if unknown:
            sys.exit(f"bench/compare: no such load: {', '.join(sorted(unknown))}; there are: {', '.join(l.name for l in suite_loads)}")
        suite_loads = [load for load in suite_loads if load.name in wanted]
    if options.suite == "nfs":
        servers = [Stoa(work, str(ROOT)), nfs_servers.Ganesha(work)]
    else:
        servers = [Stoa(work, str(ROOT)), s3_servers.Nginx(work), s3_servers.Radosgw(work, str(ROOT))]
    if options.servers:
        servers = [server for server in servers if server.name in options.servers.split(",")]
    generator = os.path.join(options.build, "bench", "load", f"{options.suite}_load")
    if not os.access(generator, os.X_OK):
        sys.exit(f"bench/compare: {generator} is not built (ninja -C {options.build} {options.suite}_load)")
    running, absent = runner.start_all(servers)
    if options.suite == "s3":
        runner.make_buckets(running, generator)
    began = datetime.datetime.now(datetime.timezone.utc)
    try:
        results = runner.run_rounds(options.suite, running, suite_loads, options.rounds, options.short, generator,
                                    lambda server: getattr(server, options.suite + "_arguments")())
    finally:
        for server in running:
            server.stop()
    return report.publish(options, began, suite_loads, running, absent, results, ROOT)
