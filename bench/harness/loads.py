"""Which loads each suite runs, with what size. `name` is the row in every table; targets.toml refers to it."""
from dataclasses import dataclass, field


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
