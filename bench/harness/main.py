"""Command line of bench/compare."""
import argparse
import datetime
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from harness import fuse_mounts, generator, isolate, loads, native_library, nfs_servers, report, rest, runner, s3_servers
from harness.stoa_server import Stoa

ROOT = Path(__file__).resolve().parent.parent.parent
SKIPPED = 77


def main():
    parser = argparse.ArgumentParser(
        prog="bench/compare", description="Compares Stoa with what a user would otherwise pick, side by side. See bench/README.md.")
    parser.add_argument("suite", choices=sorted(loads.SUITES),
                        help="native: mounts, FUSE over io_uring; native-dev: over /dev/fuse; native-lib: libstoa; rest: idle cost, and memory after a million files")
    parser.add_argument("--rounds", type=int, help="rounds, interleaved (default 5; 1 with --short)")
    parser.add_argument("--short", action="store_true", help="a smoke test: every load, tiny sizes, nothing is judged or written")
    parser.add_argument("--seconds", type=float, help="length of each load that has one (default 4)")
    parser.add_argument("--only", help="loads, separated by commas")
    parser.add_argument("--servers", help="servers, separated by commas (default: all of the suite)")
    parser.add_argument("--build", default=str(ROOT / "build" / "release"), help="build directory with the generators")
    parser.add_argument("--work", help="servers keep their data in a new folder of this one (default: $TMPDIR or /var/tmp)")
    parser.add_argument("--results", default=str(ROOT / "bench" / "results"), help="where JSON and SVG go")
    options = parser.parse_args()
    missing = fuse_mounts.unavailable(options.suite) if options.suite.startswith("native") else None
    if missing:
        print(f"bench/compare {options.suite}: {missing}", file=sys.stderr)
        return SKIPPED
    # Alone, Stoa needs no namespace (its ports are free ones), so the smoke test runs without root too.
    if options.servers != "stoa":
        isolate.enter()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench/compare: ended by SIGTERM"))  # so that the servers are stopped
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


def chosen_loads(options):
    chosen = loads.SUITES[options.suite]
    if options.seconds:
        for load in chosen + loads.S3_EXTRA:
            if "--seconds" in load.arguments:
                load.arguments[load.arguments.index("--seconds") + 1] = str(options.seconds)
    if not options.only:
        return chosen
    wanted = options.only.split(",")
    known = chosen + (loads.S3_EXTRA if options.suite == "s3" else [])
    unknown = set(wanted) - {load.name for load in known}
    if unknown:
        sys.exit(f"bench/compare: no such load: {', '.join(sorted(unknown))}; there are: {', '.join(load.name for load in known)}")
    return [load for load in known if load.name in wanted]


def chosen_servers(options, work):
    if options.suite in ("native", "native-dev"):
        uring = options.suite == "native"
        servers = [fuse_mounts.StoaMount(work, str(ROOT), options.build, uring), fuse_mounts.Bindfs(work), fuse_mounts.NullFuse(work, options.build, uring)]
    elif options.suite == "native-lib":
        servers = native_library.servers(work, str(ROOT), options.build)
    elif options.suite == "s3":
        servers = [Stoa(work, str(ROOT), options.build), s3_servers.Nginx(work), s3_servers.Radosgw(work, str(ROOT))]
    else:
        servers = [Stoa(work, str(ROOT), options.build), nfs_servers.Ganesha(work)]
    if not options.servers:
        return servers
    wanted = options.servers.split(",")
    unknown = set(wanted) - {server.name for server in servers}
    if unknown:
        sys.exit(f"bench/compare: no such server: {', '.join(sorted(unknown))}; there are: {', '.join(s.name for s in servers)}")
    return [server for server in servers if server.name in wanted]


def compare(options, work):
    suite_loads = chosen_loads(options)
    servers = chosen_servers(options, work)
    for name in {generator.name_of(options.suite, load, server) for load in suite_loads for server in servers}:
        generator.path(options.build, name)  # missing is said before anything starts
    try:
        running, absent = runner.start_all(servers)
        if options.suite == "rest":
            return rest.compare(options, running, absent, generator.path(options.build, "nfs_load"), ROOT)
        if options.suite == "s3":
            runner.make_buckets(running, generator.path(options.build, "s3_load"))
        began = datetime.datetime.now(datetime.timezone.utc)
        results = runner.run_rounds(options.suite, running, suite_loads, options.rounds, options.short, options.build)
    finally:
        for server in servers:
            server.stop()
    return report.publish(options, began, suite_loads, running, absent, results, ROOT)
