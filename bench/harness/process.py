"""Processes that this program started: start, wait until they listen, measure, end. Nothing else is ever signalled."""
import os
import signal
import socket
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")


class ServerFailed(Exception):
    """A server that could not be started; its text says why."""


def start(command, log, **options):
    with open(log, "ab") as out:
        return subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, start_new_session=True, **options)


def stop(process, seconds=20):
    if process is None or process.poll() is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def wait_for_port(host, port, process, seconds, log):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process is not None and process.poll() is not None:
            raise ServerFailed(f"ended with status {process.returncode}: {tail(log)}")
        with socket.socket() as probe:
            probe.settimeout(0.5)
            if probe.connect_ex((host, port)) == 0:
                return
        time.sleep(0.05)
    raise ServerFailed(f"does not listen on {host}:{port} after {seconds} s: {tail(log)}")


def tail(path, lines=5):
    try:
        with open(path, errors="replace") as file:
            return " | ".join(file.read().strip().splitlines()[-lines:])
    except OSError:
        return "no log"


def status_kib(pid, field):
    try:
        with open(f"/proc/{pid}/status") as file:
            for line in file:
                if line.startswith(field + ":"):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


def resident_mib(pids):
    return sum(status_kib(pid, "VmRSS") for pid in pids) / 1024


def peak_mib(pids):
    return sum(status_kib(pid, "VmHWM") for pid in pids) / 1024


def reset_peak(pids):
    for pid in pids:
        try:
            with open(f"/proc/{pid}/clear_refs", "w") as file:
                file.write("5")
        except OSError:
            pass


def cpu_seconds(pids):
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
        except OSError:
            pass
    return total / TICKS
