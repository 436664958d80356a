#!/usr/bin/env python3
"""Rules of the repository that no compiler checks. Prints each breach as FILE:LINE: what; exit code 1 when there is one."""
import os
import re
import subprocess
import sys

SOURCES = (".h", ".cc", ".c")
# A concept without a name (CONTRIBUTING.md).
FORBIDDEN_NAMES = re.compile(r"(^|[_/])(utils?|helpers?|common|misc)[._/]")
MACHINE_PATHS = re.compile(r"(?<![\w/.])/(work|root)/\w")
# The core takes the time from VolumeOptions::time (base/time_source.h), so that a test or a simulation decides it.
CLOCK_READ = re.compile(r"\b(wall_now\b|\w*[cC]lock::now\(\)|clock_gettime|std::time\()")
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")

# Who may include whom: appliance -> frontends -> core <- backends, core -> qos, all on base. Tests and benchmarks see everything.
# The admin interface is for administrators: it sees the volume, too.
ALLOWED = {
    "base": {"base"},
    "qos": {"base", "qos"},
    "core": {"base", "qos", "core"},
    "backends": {"base", "core", "backends"},
    "frontends": {"base", "qos", "core", "frontends"},
    "appliance": {"base", "core", "backends", "frontends", "appliance"},
}
# The folders of the core as floors: each may include those before it, never one behind it.
CORE_FLOORS = ("api", "head", "kv", "blob", "usage", "inode", "access", "commit", "journal", "state", "txn", "data", "links", "recycle",
               "namespace", "verify", "registry", "audit", "volume")
# Of the front ends: what the others stand on, from the ground up.
FRONTEND_FLOORS = ("tls", "wire", "kerberos", "http")
PROTOCOL_CORE = ("core/api/",)
ADMIN_CORE = ("core/api/", "core/volume/volume.h", "core/verify/check_report.h", "core/blob/blob_store.h", "core/journal/", "core/registry/name_rules.h")


def files():
    """Every file of the repository; of an unpacked archive, everything but build folders."""
    try:
        out = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
        return [name for name in out.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        found = []
        for folder, folders, names in os.walk("."):
            folders[:] = [f for f in folders if not f.startswith("build") and f not in (".git", ".cache")]
            found += [os.path.relpath(os.path.join(folder, name), ".") for name in names]
        return sorted(found)


def include_breach(name, target):
    top, target_top = name.split("/")[0], target.split("/")[0]
    if top not in ALLOWED or target_top not in ALLOWED:
        return None
    if target_top not in ALLOWED[top]:
        return f"{top} must not include {target}"
    if top == "frontends" and target_top == "core":
        allowed = ADMIN_CORE if name.startswith("frontends/admin/") else PROTOCOL_CORE
        if not target.startswith(allowed):
            return f"a front end sees {', '.join(allowed)} of the core, not {target}"
    if top == "frontends" and target_top == "frontends":
        folder, target_folder = name.split("/")[1], target.split("/")[1]
        if folder != target_folder and target_folder not in FRONTEND_FLOORS:
            return f"a front end must not include another front end: {target}"
        if folder in FRONTEND_FLOORS and FRONTEND_FLOORS.index(target_folder) > FRONTEND_FLOORS.index(folder):
            return f"frontends/{folder} must not include {target}, which is a floor above"
    if top == "core" and target_top == "core":
        floor, target_floor = name.split("/")[1], target.split("/")[1]
        for folder in (floor, target_floor):
            if folder not in CORE_FLOORS:
                return f"core/{folder} has no floor (CORE_FLOORS in .ci/tidy.py)"
        if CORE_FLOORS.index(target_floor) > CORE_FLOORS.index(floor):
            return f"core/{floor} must not include {target}, which is a floor above"
    return None


def check_source(name, text, breaches):
    if name.endswith(".h") and "#pragma once" not in text:
        breaches.append(f"{name}:1: has no #pragma once")
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r'#include "([^"]+)"', line)
        if name.startswith("core/") and CLOCK_READ.search(line):
            breaches.append(f"{name}:{number}: reads the clock itself")
        if match:
            breach = include_breach(name, match.group(1))
            if breach:
                breaches.append(f"{name}:{number}: {breach}")


# A test of the core is named after its source. These test a rule that several sources keep, or one source under a condition.
CORE_SUBJECTS = {
    "access/acl_rules": ("access/access", "access/acl"),
    "access/posix_acl_rules": ("access/acl", "links/new_inode"),
    "data/cached_write": ("data/write",),
    "data/concurrency": ("data/write", "data/truncate", "data/read"),
    "data/failed_sync": ("commit/committer", "data/flush"),
    "data/model": ("data/write", "data/range", "data/truncate"),
    "data/replace": ("data/content",),
    "data/rot": ("data/verify", "data/sum_change"),
    "data/shared_blobs": ("data/gc", "data/copy_range"),
    "data/sync": ("data/flush", "commit/committer"),
    "faults/fault_loop": ("txn/meta_txn",),
    "faults/fault_read": ("txn/volume_view",),
    "faults/late_operations": ("txn/volume_context",),
    "inode/records": ("inode/inode", "inode/entry", "inode/layout"),
    "namespace/charged_elsewhere": ("links/drop_link", "namespace/rename"),
    "namespace/dangling_entry": ("namespace/lookup", "namespace/remove"),
    "namespace/found_by_model": ("namespace/rename", "namespace/link"),
    "namespace/names": ("namespace/create", "namespace/lookup", "namespace/remove", "namespace/rename", "namespace/readdir"),
    "namespace/permissions": ("access/access",),
    "recycle/bare_directory": ("recycle/bin",),
    "recycle/concurrency": ("recycle/bin", "recycle/restore", "recycle/purge"),
    "recycle/delete": ("recycle/bin",),
    "recycle/purged_open": ("recycle/purge", "links/orphan"),
    "recycle/read_only": ("recycle/bin",),
    "state/break_leases": ("state/state_leases", "state/lease_gate"),
    "state/lock_turns": ("state/state_lock_waits",),
    "state/state_concurrency": ("state/state_table",),
    "state/volume_race": ("state/state_table", "volume/watch_files"),
    "usage/attribute_bytes": ("usage/ledger",),
    "usage/classes": ("usage/ledger", "namespace/quota"),
    "usage/ledger_classes": ("usage/ledger",),
    "usage/multipart": ("usage/ledger", "data/upload"),
    "usage/orphan_usage": ("usage/ledger", "links/orphan"),
    "volume/deadline": ("volume/volume_impl",),
    "volume/full_disk": ("volume/space_watch", "txn/metadata_room"),
    "volume/time_source": ("volume/volume_impl",),
    "volume/two_volumes": ("head/head", "volume/volume_impl"),
}


def test_breach(name, known):
    """Whether a test of the core is found by guessing the file name of what it tests."""
    if not (name.startswith("tests/core/") and name.endswith("_test.cc")):
        return None
    test = name[len("tests/core/"):-len("_test.cc")]
    for source in CORE_SUBJECTS.get(test, (test,)):
        if not any(f"core/{source}{ending}" in known for ending in (".h", ".cc")):
            return f"tests core/{source}, which is not there (CORE_SUBJECTS in .ci/tidy.py)"
    return None


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(files()))
        return 0
    breaches = []
    known = set(files())
    for name in sorted(known):
        breach = test_breach(name, known)
        if breach:
            breaches.append(f"{name}:1: {breach}")
        if FORBIDDEN_NAMES.search(name):
            breaches.append(f"{name}: names no concept")
        try:
            with open(name, encoding="utf-8") as file:
                text = file.read()
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        if name == ".ci/tidy.py":
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if MACHINE_PATHS.search(line):
                breaches.append(f"{name}:{number}: a path of one machine")
            if UNFINISHED.search(line):
                breaches.append(f"{name}:{number}: a mark of unfinished work")
        if name.endswith(SOURCES):
            check_source(name, text, breaches)
    print("\n".join(breaches))
    return 1 if breaches else 0


sys.exit(main())
