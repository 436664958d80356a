"""Rounds: in each, every load runs against every server in turn, so that both see the same minute of the machine."""
import json
import os
import subprocess
import sys

from harness import generator, process


def say(text):
    print(text, file=sys.stderr, flush=True)


def start_all(servers):
    """Starts each server; those that fail are named with the reason and left out."""
    running, absent = [], {}
    for server in servers:
        try:
            server.start()
            running.append(server)
        except (process.ServerFailed, OSError, subprocess.SubprocessError) as failure:
            absent[server.name] = str(failure)
            say(f"!! {server.name} is left out: {failure}")
            server.stop()
    return running, absent


def make_buckets(servers, program):
    for server in servers:
        if server.name == "radosgw":
            subprocess.run([program, *server.s3_arguments(), "--load", "create-bucket"], check=True, stdout=subprocess.DEVNULL)


def _words(load, short):
    """The load's arguments; those of the short form replace others."""
    order = load.arguments + (load.short if short else [])
    arguments = dict(zip(order[::2], map(str, order[1::2])))
    return ["--load", load.load, *(word for pair in arguments.items() for word in pair)]


def run_once(program, load, pids, tag, short, seconds_limit=900, client_pids=()):
    """One run of a load by generator.command(); its JSON, or {"failed": why}."""
    command = [*program, *_words(load, short), "--tag", tag, "--pid", ",".join(map(str, pids))]
    if client_pids:
        command += ["--client-pid", ",".join(map(str, client_pids))]
    os.sync()  # what an earlier run left dirty must not be written at this one's cost
    process.reset_peak(pids)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds_limit)
    except subprocess.TimeoutExpired:
        return {"failed": f"no end after {seconds_limit} s"}
    lines = done.stdout.strip().splitlines()
    if not lines:
        return {"failed": (done.stderr.strip() or f"status {done.returncode}")[-400:]}
    result = json.loads(lines[-1])
    result["rate"] = result["ops_per_s"] * (1.0 if load.scale == 1.0 else result.get("entries", load.scale))
    if load.scale != 1.0 and "server_cpu_us_per_op" in result:
        result["server_cpu_us_per_op"] /= result.get("entries", load.scale)
    result["peak_mib"] = process.peak_mib(pids)
    result["resident_mib"] = process.resident_mib(pids)
    if client_pids:
        result["client_resident_mib"] = process.resident_mib(client_pids)
    return result


def _prepare(program, load, short, seconds_limit=900):
    done = subprocess.run([*program, *_words(load, short), "--prepare"], capture_output=True, text=True, timeout=seconds_limit)
    if done.returncode != 0:
        raise process.ServerFailed(f"preparing: {done.stderr.strip()[-400:] or f'status {done.returncode}'}")


def _run_against(server, suite, load, tag, short, build):
    """Prepares what a load wants, runs it, and adds what the client counted."""
    try:
        server.get_ready(load, short)
        program = generator.command(build, suite, load, server)
        if load.tree_of(short):
            program += server.tree_arguments(load.tree_of(short))
        if load.prepare:
            _prepare(program, load, short)
        if load.cold:
            server.make_cold()
        before = server.counters()
        result = run_once(program, load, server.pids(), tag, short, client_pids=server.client_pids())
        result |= {f"client_{name}": value - before[name] for name, value in server.counters().items()}
    except (process.ServerFailed, OSError, subprocess.SubprocessError) as failure:
        return {"failed": str(failure)}
    return result


def run_rounds(suite, servers, loads, rounds, short, build):
    """results[load][server] = list of one JSON a round."""
    results = {load.name: {server.name: [] for server in servers} for load in loads}
    for number in range(rounds):
        for load in loads:
            if number >= load.rounds_max:
                continue
            # The order turns each round, so that nobody always comes second.
            for server in servers if number % 2 == 0 else servers[::-1]:
                if load.load in server.lacks or (load.servers and server.name not in load.servers):
                    continue
                result = _run_against(server, suite, load, f"{load.name}-{number}", short, build)
                results[load.name][server.name].append(result)
                if "failed" in result:
                    say(f"[{suite} {number + 1}/{rounds}] {load.name:16} {server.name:10} FAILED: {result['failed']}")
                else:
                    say(f"[{suite} {number + 1}/{rounds}] {load.name:16} {server.name:10} {result['rate']:12.0f} {load.per}/s"
                        f"  cpu {result.get('server_cpu_us_per_op', 0):9.1f} us/{load.per}  p50 {result['p50_us']:9.0f} us"
                        f"  p99 {result['p99_us']:9.0f} us" + (f"  ERRORS {result['errors_by_reason']}" if result["errors"] else ""))
    return results
