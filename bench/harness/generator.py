"""The programs of bench/load: which of them runs a load, where it lies, and how it is told of a server."""
import os
import sys


def name_of(suite, load, server=None):
    return getattr(server, "generator", None) or load.generator or f"{suite}_load"


def path(build, name):
    program = os.path.join(build, "bench", "load", name)
    if not os.access(program, os.X_OK):
        sys.exit(f"bench: {program} is not built (ninja -C {build} {name})")
    return program


def command(build, suite, load, server):
    """The program and what it has to know of the server."""
    name = name_of(suite, load, server)
    known = {"nfs_load": "nfs_arguments", "nfs41_load": "nfs41_arguments", "s3_load": "s3_arguments", "posix_load": "posix_arguments",
             "lib_load": "lib_arguments"}
    return [path(build, name), *getattr(server, known[name])()]
