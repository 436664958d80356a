"""Which loads each suite runs, with what size. `name` is the row in every table; targets.toml refers to it."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Tree:
    """Empty files in directories, for loads that list."""
    directories: int
    files: int


@dataclass
class Load:
    name: str
    load: str
    what: str
    arguments: list = field(default_factory=list)
    short: list = field(default_factory=list)  # what the smoke test says instead: small and quick
    per: str = "op"  # what one unit of the rate is
    scale: float = 1.0
    rounds_max: int = 1000  # long loads need not run in every round
    generator: str | None = None  # the program of bench/load that knows it, if it is not SUITE_load
    servers: tuple | None = None  # only these run it
    prepare: bool = False  # the generator is run before with --prepare
    cold: bool = False  # the client's caches are empty
    tree: Tree | None = None
    short_tree: Tree | None = None

    def tree_of(self, short):
        return self.short_tree if short else self.tree


def _sized(connections, inflight, *more):
    return ["--connections", str(connections), "--inflight", str(inflight), *map(str, more)]


GIB = 1 << 30
MIB = 1 << 20

NFS = [
    Load("getattr", "getattr", "GETATTR, pipelined, 10 000 files", _sized(2, 16, "--seconds", 4), ["--files", "200", "--seconds", "0.3"]),
    Load("lookup", "lookup", "LOOKUP among 10 000 files", _sized(2, 16, "--seconds", 4), ["--files", "200", "--seconds", "0.3"]),
    Load("stat", "stat", "LOOKUP + GETATTR", _sized(2, 16, "--seconds", 4), ["--files", "200", "--seconds", "0.3"]),
    Load("read-small", "read-small", "LOOKUP + READ of 4 KiB files", _sized(2, 16, "--seconds", 4), ["--files", "200", "--seconds", "0.3"]),
    Load("create-empty", "create-empty", "CREATE in one directory", _sized(2, 16, "--seconds", 4), ["--count", "300"]),
    Load("create-write", "create-write", "CREATE + WRITE 4 KiB + COMMIT, 32 in flight", _sized(2, 16, "--seconds", 4), ["--count", "300"]),
    Load("create-write-16", "create-write", "the same, 16 in flight", _sized(2, 8, "--seconds", 4), ["--count", "300"]),
    Load("create-write-64", "create-write", "the same, 64 in flight", _sized(2, 32, "--seconds", 4), ["--count", "300"]),
    Load("create-write-1", "create-write", "the same, one request at a time", _sized(1, 1, "--seconds", 4), ["--count", "50"]),
    Load("remove", "remove", "REMOVE of 20 000 files", _sized(2, 16, "--count", 20_000), ["--count", "300"]),
    Load("remove-100k", "remove", "REMOVE of 111 000 files: last tenth against first", _sized(2, 16, "--count", 111_000), ["--count", "1000"], rounds_max=2),
    Load("readdir", "readdir", "READDIR of 100 000 entries", _sized(2, 1, "--files", 100_000, "--seconds", 4),
         ["--files", "2000", "--seconds", "0.3"], "entry", 100_000),
    Load("readdirplus", "readdirplus", "READDIRPLUS of 100 000 entries", _sized(2, 1, "--files", 100_000, "--seconds", 4),
         ["--files", "2000", "--seconds", "0.3"], "entry", 100_000),
    Load("seq-write", "seq-write", "1 MiB WRITEs + COMMIT, 2 GiB", _sized(2, 16, "--bytes", 2 * GIB), ["--bytes", 32 * MIB], "MiB"),
    Load("read-written", "read-written", "1 MiB READs of 2 GiB just written", _sized(2, 16, "--bytes", 2 * GIB), ["--bytes", 32 * MIB], "MiB"),
    Load("seq-read", "seq-read", "1 MiB READs, 2 GiB", _sized(2, 16, "--bytes", 2 * GIB), ["--bytes", 32 * MIB], "MiB"),
    Load("rand-read", "rand-read", "READ 4 KiB at random, 2 GiB", _sized(2, 16, "--bytes", 2 * GIB, "--seconds", 4),
         ["--bytes", 32 * MIB, "--seconds", "0.3"]),
    Load("rand-write-sync", "rand-write-sync", "WRITE 4 KiB FILE_SYNC at random, 1 GiB", _sized(2, 16, "--bytes", GIB, "--seconds", 4),
         ["--bytes", 32 * MIB, "--seconds", "0.3"]),
]


def _v41(load, what, *more, short=("--seconds", "0.3")):
    return Load("v41-" + load, load, what, _sized(2, 16, *more), ["--files", "200", *short], generator="nfs41_load")


# One client with one session of 32 slots over two connections.
NFS += [
    _v41("getattr", "SEQUENCE + PUTFH + GETATTR, 10 000 files", "--seconds", 4),
    _v41("create-write", "OPEN (create) + WRITE 4 KiB + COMMIT + CLOSE, a COMPOUND each", "--seconds", 4, short=("--count", "300")),
    _v41("open-read-close", "OPEN + READ 4 KiB + CLOSE among 10 000 files, no delegations", "--seconds", 4),
    _v41("lock", "LOCK + LOCKU on an open file, 32 owners, each with its file", "--seconds", 4),
    _v41("deleg-open", "open + read + close of 4 KiB files, each 8 times in a row, as far as the delegation lets without a call", "--seconds", 4),
    _v41("recall", "a read delegation is granted, recalled for another client's OPEN, returned", "--count", 10_000, short=("--count", "150")),
]


def _s3(inflight, *more):
    return ["--inflight", str(inflight), *map(str, more)]


S3 = [
    Load("get-4k", "get-4k", "GET of 4 KiB among 10 000", _s3(32, "--seconds", 4), ["--files", "200", "--seconds", "0.3"]),
    Load("head", "head", "HEAD among 10 000", _s3(32, "--seconds", 4), ["--files", "200", "--seconds", "0.3"]),
    Load("put-4k", "put-4k", "PUT of 4 KiB, new keys", _s3(32, "--seconds", 4), ["--count", "200"]),
    Load("get-8m", "get-8m", "GET of 8 MiB among 16", _s3(4, "--seconds", 4), ["--seconds", "0.3"]),
    Load("range-8m", "range-8m", "GET of an 8 MiB range of 64 MiB", _s3(4, "--seconds", 4), ["--seconds", "0.3"]),
    Load("put-8m", "put-8m", "PUT of 8 MiB, signed payload", _s3(4, "--seconds", 4), ["--count", "4"]),
    Load("list-100k", "list", "ListObjectsV2 of 100 000 keys, 1000 a page", _s3(1, "--files", 100_000, "--seconds", 4),
         ["--files", "2000", "--seconds", "0.3"], "key", 100_000),
]
# Not part of the suite, as radosgw takes minutes to get so many keys: bench/compare s3 --only list-1m.
S3_EXTRA = [
    Load("list-1m", "list", "ListObjectsV2 of 1 000 000 keys, 1000 a page", _s3(1, "--files", 1_000_000, "--seconds", 4),
         ["--files", "5000", "--seconds", "0.3"], "key", 1_000_000),
]


def _posix(name, load, what, *more, short=(), servers=("stoa", "bindfs"), **other):
    return Load(name, load, what, [str(word) for word in more], [str(word) for word in short], generator="posix_load", servers=servers, **other)


def _tree(name, load, what, directories, files, **other):
    return _posix(name, load, what, "--threads", 1, tree=Tree(directories, files), short_tree=Tree(min(directories, 10), 1000),
                  servers=("stoa", "null_fuse"), per="file", **other)


_SMALL = {"short": ("--files", 400), "prepare": True}
_DATA = {"short": ("--bytes", 16 * MIB, "--seconds", 0.3), "prepare": True}

# System calls on a mount. Small and data files lie in a directory of each thread.
NATIVE = [
    _posix("rest", "rest", "nothing: CPU and memory at rest", "--seconds", 10, short=("--seconds", 0.3), servers=("stoa",), cold=True, rounds_max=1),
    _posix("create-write", "create-write", "open (create) + write 4 KiB + close, 4 threads", "--seconds", 4, short=("--count", 200)),
    _posix("create-fsync", "create-fsync", "open (create) + write 4 KiB + fsync + close, 4 threads", "--seconds", 4, short=("--count", 200)),
    _posix("stat-cold", "stat", "stat of 20 000 files, each once, 4 threads, cold", "--files", 20_000, cold=True, **_SMALL),
    _posix("open-read-close-cold", "open-read-close", "open + read 4 KiB + close of 20 000 files, each once, 4 threads, cold", "--files", 20_000,
           cold=True, **_SMALL),
    _posix("open-read-close-warm", "open-read-close", "the same again", "--files", 20_000, **_SMALL),
    _posix("unlink", "unlink", "unlink of 8 000 files, 4 threads", "--count", 8_000, short=("--count", 200)),
    _posix("seq-write", "seq-write", "1 MiB writes + fsync, 4 threads, 1 GiB", "--bytes", GIB, short=("--bytes", 16 * MIB), per="MiB"),
    _posix("seq-read", "seq-read", "1 MiB reads, 4 threads, 1 GiB, client cold, server warm", "--bytes", GIB, cold=True, per="MiB", **_DATA),
    _posix("rand-read-direct", "rand-read-direct", "4 KiB O_DIRECT reads at random, 16 threads, 1 GiB", "--bytes", GIB, "--threads", 16, "--seconds", 4,
           cold=True, **_DATA),
    _posix("rand-write-sync", "rand-write-sync", "4 KiB writes at random + fdatasync, 4 threads, 1 GiB", "--bytes", GIB, "--seconds", 4, **_DATA),
    _posix("mmap-read", "mmap-read", "a byte of each page of mappings, in mixed order, 4 threads, 256 MiB, cold", "--bytes", 256 * MIB, cold=True, **_DATA),
    _posix("mmap-write", "mmap-write", "a page of a shared mapping at random + msync, 4 threads, 256 MiB", "--bytes", 256 * MIB, "--seconds", 4, **_DATA),
    _tree("walk-warm", "walk", "a walk through 100 000 files with their attributes, the second time", 100, 100_000, prepare=True),
    _tree("ls-l", "ls-l", "readdir of 1 000 000 files with the attributes of each, cold", 1, 1_000_000, cold=True, rounds_max=2),
]


def _lib(load, what, connections, inflight, *more, name=None, generator="lib_load", **other):
    return Load(name or load, load, what, _sized(connections, inflight, *more), ["--files", "200", "--bytes", str(16 * MIB), "--seconds", "0.3"],
                generator=generator, **other)


# libstoa, and NFSv3 against the same server. Some loads are of one of the two.
NATIVE_LIB = [
    _lib("getattr", "attributes by name, 16 a call, 2 threads : GETATTR, 2 x 16", 2, 16, "--seconds", 4),
    _lib("lookup", "attributes by name, 16 a call, 2 threads : LOOKUP by name, 2 x 16", 2, 16, "--seconds", 4),
    _lib("getattr-ring", "attributes by name, a ring of 16 in each of 2 threads", 2, 16, "--seconds", 4, servers=("stoa",)),
    _lib("read-small", "4 KiB files by name, a ring of 16 in each of 2 threads : LOOKUP + READ, 2 x 16", 2, 16, "--seconds", 4),
    _lib("read-small", "4 KiB file by name : LOOKUP + READ, one at a time", 1, 1, "--seconds", 4, name="read-small-1"),
    _lib("create-write", "durable 4 KiB files, 16 a call, 2 threads : CREATE + WRITE + COMMIT, 2 x 16", 2, 16, "--seconds", 4),
    _lib("create-write", "durable 4 KiB file : CREATE + WRITE + COMMIT, one at a time", 1, 1, "--seconds", 4, name="create-write-1"),
    _lib("read-small-call", "4 KiB files by name, 64 a call, one thread", 1, 64, "--seconds", 4, name="read-small-64", servers=("stoa",)),
    _posix("posix-small-1", "open-read-close", "one thread's open + read + close of 4 KiB files, mount cold", "--files", 10_000, "--threads", 1, cold=True,
           servers=("stoa",), **_SMALL),
    _lib("seq-write", "1 MiB writes + fsync, 1 GiB, one thread", 1, 1, "--bytes", GIB, per="MiB", servers=("stoa",)),
    _lib("seq-read", "1 MiB reads, 1 GiB, one thread", 1, 1, "--bytes", GIB, per="MiB", servers=("stoa",)),
]
SUITES = {"nfs": NFS, "s3": S3, "native": NATIVE, "native-dev": NATIVE, "native-lib": NATIVE_LIB, "rest": []}
