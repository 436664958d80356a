"""Prints the tables and writes JSON and SVG."""
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from harness import judge, plot


def environment():
    model = "unknown"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) // (1 << 20)
    return {"cpu": model, "cores": os.cpu_count(), "memory_gib": memory, "kernel": platform.release()}


def commit(root):
    done = subprocess.run(["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def number(value):
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(header, rows):
    widths = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header))]
    lines = []
    for index, row in enumerate([header, *rows]):
        lines.append("| " + " | ".join(str(c).ljust(w) if i == 0 else str(c).rjust(w) for i, (c, w) in enumerate(zip(row, widths))) + " |")
        if index == 0:
            lines.append("|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)


def markdown(suite_loads, servers, results, verdicts):
    rows = []
    for load in suite_loads:
        for server in servers:
            runs = results[load.name].get(server.name, [])
            if not runs:
                continue
            fine = judge.good(runs)
            errors = sum(run.get("errors", 0) for run in runs if "failed" not in run)
            rows.append([load.name, server.name, number(judge.median(runs, "rate")) + f" {load.per}/s",
                         number(judge.median(runs, "server_cpu_us_per_op")), number(judge.median(runs, "p50_us")),
                         number(judge.median(runs, "p99_us")), number(judge.median(runs, "p999_us")),
                         number(max((run["peak_mib"] for run in fine), default=None)),
                         f"{errors}" + (f", {len(runs) - len(fine)} runs failed" if len(fine) < len(runs) else "")])
    text = table(["load", "server", "rate", "CPU us/unit", "p50 us", "p99 us", "p99.9 us", "peak MiB", "errors"], rows)
    rows = []
    for verdict in verdicts:
        got = verdict["got"]
        rows.append([verdict["what"], verdict["target"], number(got["median"]) if got else "not measured",
                     f"{number(got['min'])} .. {number(got['max'])}" if got else "",
                     {True: "met", False: "NOT met", None: "not measured"}[verdict["met"]]])
    if not rows:
        return text
    return text + "\n\n" + table(["target", "wanted", "median", "spread", ""], rows)


def publish(options, began, suite_loads, servers, absent, results, root):
    for load in results.values():
        for runs in load.values():
            for run in runs:
                judge.derive(run)
    verdicts = [] if options.short else judge.judge(options.suite, results)
    print(f"\n{options.suite}: rounds: {options.rounds}, interleaved; medians\n")
    print(markdown(suite_loads, servers, results, verdicts))
    for name, why in absent.items():
        print(f"\nleft out: {name}: {why}")
    failed = [(load, server, run["failed"]) for load, by in results.items() for server, runs in by.items() for run in runs if "failed" in run]
    wrong = [(load, server, run["errors_by_reason"]) for load, by in results.items() for server, runs in by.items()
             for run in runs if run.get("errors")]
    for load, server, why in failed + wrong:
        print(f"\n!! {load} on {server}: {why}")
    if options.short:
        print("\n(short form: sizes are too small to judge anything)")
    else:
        os.makedirs(options.results, exist_ok=True)
        stem = Path(options.results) / options.suite
        if options.only or options.servers:
            stem = Path(options.results) / f"{options.suite}-part"
        document = {
            "suite": options.suite, "began": began.isoformat(timespec="seconds"), "commit": commit(root), "rounds": options.rounds,
            "environment": environment(), "left_out": absent, "durability": {server.name: server.durability for server in servers},
            "loads": {load.name: {"what": load.what, "arguments": load.arguments, "unit": load.per} for load in suite_loads},
            "targets": verdicts, "results": results,
        }
        stem.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
        stem.with_suffix(".svg").write_text(plot.ratios(options.suite, began, verdicts))
        stem.with_suffix(".md").write_text(
            f"# {options.suite}, {began:%Y-%m-%d %H:%M} UTC, commit {document['commit']}, {options.rounds} rounds\n\n"
            f"![ratios]({stem.name}.svg)\n\n" + markdown(suite_loads, servers, results, verdicts) + "\n"
            + "".join(f"\nLeft out: {name}: {why}\n" for name, why in absent.items())
            + "".join(f"\nErrors: {load} on {server}: {why}\n" for load, server, why in failed + wrong))
        print(f"\nwritten: {stem}.json, .md, .svg", file=sys.stderr)
    # A smoke test fails when Stoa fails; a peer that fails, or a target that is missed, is only reported.
    return 1 if any(server == "stoa" for _, server, _ in failed + wrong) or "stoa" in absent else 0
