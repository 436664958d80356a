"""What a server costs when nobody asks for anything, and how its memory grows with the number of files."""
import datetime
import json
import os
import subprocess
import time
from pathlib import Path

from harness import process, report
from harness.judge import TARGETS
from harness.runner import say


def _cpu_percent(pids, seconds):
    before, began = process.cpu_seconds(pids), time.monotonic()
    time.sleep(seconds)
    return 100 * (process.cpu_seconds(pids) - before) / (time.monotonic() - began)


def measure(server, generator, files, seconds):
    pids = server.pids()
    process.reset_peak(pids)
    time.sleep(1)
    result = {"resident_mib_rest": process.resident_mib(pids), "cpu_percent_rest": _cpu_percent(pids, seconds)}
    done = subprocess.run([generator, *server.nfs_arguments(), "--load", "create-empty", "--tag", "rest", "--count", str(files),
                           "--seconds", "0", "--pid", ",".join(map(str, pids))], capture_output=True, text=True, timeout=3600)
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        return {**result, "failed": (done.stderr.strip() or done.stdout)[-400:]}
    run = json.loads(lines[-1])
    result |= {"files": files, "creates_per_s": run["ops_per_s"], "server_cpu_us_per_create": run["server_cpu_us_per_op"],
               "resident_mib_filled": process.resident_mib(pids), "peak_mib": process.peak_mib(pids)}
    time.sleep(min(seconds, 5))  # background work that the load left behind may end
    result |= {"cpu_percent_filled": _cpu_percent(pids, seconds), "resident_mib_filled_later": process.resident_mib(pids)}
    return result


def compare(options, servers, absent, generator, root):
    files, seconds = (2_000, 2) if options.short else (1_000_000, 20)
    began = datetime.datetime.now(datetime.timezone.utc)
    results = {}
    for server in servers:
        results[server.name] = measure(server, generator, files, seconds)
        say(f"[rest] {server.name}: {results[server.name]}")
    keys = ["resident_mib_rest", "cpu_percent_rest", "creates_per_s", "resident_mib_filled", "peak_mib", "resident_mib_filled_later",
            "cpu_percent_filled"]
    print("\n" + report.table(["server", "MiB at rest", "CPU % at rest", f"creates/s ({files:,})", "MiB after", "peak MiB", "MiB later",
                               "CPU % later"],
                              [[name, *(report.number(result.get(key)) for key in keys)] for name, result in results.items()]))
    for name, why in absent.items():
        print(f"\nleft out: {name}: {why}")
    ours = results.get("stoa", {})
    limits = TARGETS["rest"]
    verdicts = []
    for what, key, limit in (("CPU at rest, %", "cpu_percent_rest", limits["cpu_percent_max"]),
                             ("resident memory at rest, MiB", "resident_mib_rest", limits["resident_mib_rest_max"]),
                             ("resident memory after a million files, MiB", "resident_mib_filled", limits["resident_mib_million_max"])):
        got = ours.get(key)
        verdicts.append({"what": what, "target": f"<= {limit}", "got": got, "met": got <= limit if got is not None else None})
    if not options.short:
        for verdict in verdicts:
            print(f"{verdict['what']}: wanted {verdict['target']}, got {report.number(verdict['got'])}: "
                  f"{ {True: 'met', False: 'NOT met', None: 'not measured'}[verdict['met']] }")
        os.makedirs(options.results, exist_ok=True)
        path = Path(options.results) / "rest.json"
        path.write_text(json.dumps({"suite": "rest", "began": began.isoformat(timespec="seconds"), "commit": report.commit(root),
                                    "environment": report.environment(), "targets": verdicts, "results": results}, indent=1) + "\n")
    return 1 if "failed" in ours or "stoa" in absent else 0
