"""NFSv4.1 spoken by hand (RFC 8881), as a way to one export like those of places.py: nothing is kept, each look asks the server."""

import errno
import itertools
import os
import socket
import stat
import struct
import time

from places import Status

# Operations, RFC 8881 16.2.
(CLOSE, CREATE, GETATTR, GETFH, LINK, LOCK, LOCKT, LOCKU, LOOKUP, OPEN, PUTFH, PUTROOTFH, READ, READDIR, READLINK, REMOVE, RENAME, SAVEFH, SETATTR, WRITE, EXCHANGE_ID,
 CREATE_SESSION, DESTROY_SESSION, SEQUENCE, DESTROY_CLIENTID, RECLAIM_COMPLETE) = (
    4, 6, 9, 10, 11, 12, 13, 14, 15, 18, 22, 24, 25, 26, 27, 28, 29, 32, 34, 38, 42, 43, 44, 53, 57, 58)
DELAY, DENIED, GRACE = 10008, 10010, 10013
# Attributes, RFC 8881 5.6 and 5.7.
TYPE, SIZE, FILEID, MODE, LINKS, OWNER, GROUP, CHANGED, MODIFIED, MODIFY_TO = 1, 4, 20, 33, 35, 36, 37, 52, 53, 54
TYPES = {1: stat.S_IFREG, 2: stat.S_IFDIR, 3: stat.S_IFBLK, 4: stat.S_IFCHR, 5: stat.S_IFLNK, 6: stat.S_IFSOCK, 7: stat.S_IFIFO}
ANONYMOUS = bytes(16)


def u32(*numbers):
    return struct.pack(f">{len(numbers)}I", *numbers)


def u64(*numbers):
    return struct.pack(f">{len(numbers)}Q", *numbers)


def opaque(text):
    text = text.encode() if isinstance(text, str) else text
    return u32(len(text)) + text + bytes(-len(text) % 4)


def bitmap(*numbers):
    words = [0] * (max(numbers, default=-1) // 32 + 1)
    for number in numbers:
        words[number // 32] |= 1 << number % 32
    return u32(len(words), *words)


def attributes(values):
    """fattr4: number -> bytes."""
    return bitmap(*values) + opaque(b"".join(values[number] for number in sorted(values)))


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def u32(self):
        return struct.unpack(">I", self.take(4))[0]

    def u64(self):
        return struct.unpack(">Q", self.take(8))[0]

    def opaque(self):
        size = self.u32()
        text = self.take(size)
        self.take(-size % 4)
        return text

    def bitmap(self):
        words = [self.u32() for _ in range(self.u32())]
        return [32 * at + bit for at, word in enumerate(words) for bit in range(32) if word >> bit & 1]


def cinfo(reply):
    reply.take(4 + 16)


def skip_bitmap(reply):
    reply.bitmap()


def nothing(_reply):
    return None


def attributes_of(reply):
    numbers, values, seen = reply.bitmap(), Reader(reply.opaque()), {}
    for number in numbers:
        if number in (TYPE, MODE, LINKS):
            seen[number] = values.u32()
        elif number in (SIZE, FILEID):
            seen[number] = values.u64()
        elif number in (OWNER, GROUP):
            seen[number] = int(values.opaque())
        else:
            seconds, ns = struct.unpack(">qI", values.take(12))
            seen[number] = seconds * 10**9 + ns
    return seen


def opened(reply):
    stateid = reply.take(16)
    cinfo(reply)
    reply.u32()
    reply.bitmap()
    if reply.u32() == 3 and reply.u32() in (1, 2):  # no delegation, and why
        reply.u32()
    return stateid


class Nfs41Place:
    """A session with one slot."""

    makes_names = True
    name = "nfs41"

    def __init__(self, values):
        self.root = values["STOA_EXPORT"].strip("/").split("/")
        self.socket = socket.create_connection((values["STOA_NFS_HOST"], int(values["STOA_NFS_PORT"])))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.xid, self.session, self.sequence, self.numbers = 1, None, 1, itertools.count(1)
        owner = b"mount test %d %d" % (os.getpid(), time.monotonic_ns())
        self.client, first = self.compound((EXCHANGE_ID, os.urandom(8) + opaque(owner) + u32(0, 0, 0),
                                            lambda r: (r.u64(), r.u32(), r.u32(), r.u32(), r.u64(), r.opaque(), r.opaque(), r.u32())))[-1][:2]
        channel = u32(0, 1 << 20, 1 << 20, 1 << 16, 16, 1, 0)
        self.session = self.compound((CREATE_SESSION, u64(self.client) + u32(first, 0) + channel + channel + u32(0x40000000, 1, 0),
                                      lambda r: (r.take(16), r.take(8 + 2 * 28))))[-1][0]
        self.compound((RECLAIM_COMPLETE, u32(0), nothing))

    def close(self):
        session, self.session = self.session, None
        self.compound((DESTROY_SESSION, session, nothing))
        self.compound((DESTROY_CLIENTID, u64(self.client), nothing))
        self.socket.close()

    def receive(self, count):
        parts = b""
        while len(parts) < count:
            part = self.socket.recv(count - len(parts))
            if not part:
                raise OSError(errno.ECONNRESET, "nfs41")
            parts += part
        return parts

    def call(self, body):
        self.xid += 1
        sys_auth = opaque(u32(0) + opaque("test") + u32(0, 0, 0))
        message = u32(self.xid, 0, 2, 100003, 4, 1, 1) + sys_auth + u32(0, 0) + body
        self.socket.sendall(u32(0x80000000 | len(message)) + message)
        reply, last = b"", False
        while not last:
            mark = struct.unpack(">I", self.receive(4))[0]
            last = bool(mark >> 31)
            reply += self.receive(mark & 0x7fffffff)
        reader = Reader(reply)
        if reader.u32() != self.xid or reader.u32() != 1 or reader.u32() != 0:
            raise OSError(errno.EIO, "nfs41: no reply")
        reader.u32()
        reader.opaque()
        if reader.u32() != 0:
            raise OSError(errno.EIO, "nfs41: refused")
        return reader

    def compound(self, *operations):
        """What each gives. Asked again while the server says that it is to be later; only the last operation changes something."""
        while True:
            wanted = list(operations)
            if self.session is not None:
                wanted.insert(0, (SEQUENCE, self.session + u32(self.sequence, 0, 0, 0), lambda r: r.take(16 + 5 * 4)))
                self.sequence += 1
            reader = self.call(opaque("") + u32(1, len(wanted)) + b"".join(u32(number) + words for number, words, _ in wanted))
            reader.u32()
            reader.opaque()
            results, status = [], 0
            for _ in range(reader.u32()):
                number, status = reader.u32(), reader.u32()
                if status:
                    break
                results.append(wanted[len(results)][2](reader))
            if status in (DELAY, GRACE):
                time.sleep(0.01)
                continue
            if status:
                code = errno.EAGAIN if status == DENIED else status if status < 10000 else errno.EIO
                raise OSError(code, f"nfs41: operation {number}: status {status}")
            return results

    def at(self, path):
        names = self.root + (path.split("/") if path else [])
        return [(PUTROOTFH, b"", nothing)] + [(LOOKUP, opaque(name), nothing) for name in names]

    def above(self, path):
        return self.at(os.path.dirname(path)), opaque(os.path.basename(path))

    def stat(self, path):
        wanted = (TYPE, SIZE, FILEID, MODE, LINKS, OWNER, GROUP, CHANGED, MODIFIED)
        seen = self.compound(*self.at(path), (GETATTR, bitmap(*wanted), attributes_of))[-1]
        return Status(seen[FILEID], TYPES[seen[TYPE]] | seen[MODE], seen[LINKS], seen[OWNER], seen[GROUP], seen[SIZE], seen[MODIFIED], seen[CHANGED])

    def open(self, path, access, how=u32(0)):
        """The handle, and the state. Without a delegation."""
        above, name = self.above(path)
        owner = u64(self.client) + opaque(b"owner %d" % next(self.numbers))
        *_, stateid, handle = self.compound(*above, (OPEN, u32(0, access | 0x400, 0) + owner + how + u32(0) + name, opened), (GETFH, b"", Reader.opaque))
        return handle, stateid

    def close_file(self, handle, stateid):
        self.compound((PUTFH, opaque(handle), nothing), (CLOSE, u32(0) + stateid, lambda r: r.take(16)))

    def with_file(self, path, access, work, how=u32(0)):
        handle, stateid = self.open(path, access, how)
        try:
            return work(handle, stateid)
        finally:
            self.close_file(handle, stateid)

    def read(self, path):
        def work(handle, stateid):
            parts, end = b"", False
            while not end:
                end, part = self.compound((PUTFH, opaque(handle), nothing), (READ, stateid + u64(len(parts)) + u32(1 << 17), lambda r: (r.u32(), r.opaque())))[-1]
                parts += part
            return parts
        return self.with_file(path, 1, work)

    def put(self, handle, stateid, offset, content):
        while content:
            count = self.compound((PUTFH, opaque(handle), nothing),
                                  (WRITE, stateid + u64(offset) + u32(2) + opaque(content[:1 << 17]), lambda r: (r.u32(), r.u32(), r.take(8))))[-1][0]
            offset, content = offset + count, content[count:]

    def create(self, path, mode, content):
        self.with_file(path, 2, lambda handle, stateid: self.put(handle, stateid, 0, content), u32(1, 1) + attributes({MODE: u32(mode)}))

    def write(self, path, offset, content):
        self.with_file(path, 2, lambda handle, stateid: self.put(handle, stateid, offset, content))

    def append(self, path, content):
        self.write(path, self.stat(path).size, content)

    def rewrite(self, path, content):
        self.truncate(path, 0)
        self.write(path, 0, content)

    def set(self, path, values):
        self.compound(*self.at(path), (SETATTR, ANONYMOUS + attributes(values), skip_bitmap))

    def truncate(self, path, size):
        self.set(path, {SIZE: u64(size)})

    def chmod(self, path, mode):
        self.set(path, {MODE: u32(mode)})

    def utime(self, path, mtime):
        self.set(path, {MODIFY_TO: u32(1) + struct.pack(">qI", mtime // 10**9, mtime % 10**9)})

    def unlink(self, path):
        above, name = self.above(path)
        self.compound(*above, (REMOVE, name, cinfo))

    rmdir = unlink

    def rename(self, old, new):
        (from_above, from_name), (to_above, to_name) = self.above(old), self.above(new)
        self.compound(*from_above, (SAVEFH, b"", nothing), *to_above, (RENAME, from_name + to_name, lambda r: (cinfo(r), cinfo(r))))

    def link(self, old, new):
        above, name = self.above(new)
        self.compound(*self.at(old), (SAVEFH, b"", nothing), *above, (LINK, name, cinfo))

    def make(self, kind, path, mode):
        above, name = self.above(path)
        self.compound(*above, (CREATE, kind + name + attributes({MODE: u32(mode)}), lambda r: (cinfo(r), r.bitmap())))

    def symlink(self, target, path):
        self.make(u32(5) + opaque(target), path, 0o777)

    def mkdir(self, path):
        self.make(u32(2), path, 0o755)

    def readlink(self, path):
        return self.compound(*self.at(path), (READLINK, b"", Reader.opaque))[-1].decode()

    def names(self, path):
        found, cookie, verifier, end = [], 0, bytes(8), False

        def entries(reply):
            some, place = [], cookie
            proof = reply.take(8)
            while reply.u32():
                place = reply.u64()
                some.append(reply.opaque().decode())
                reply.bitmap()
                reply.opaque()
            return proof, some, place, reply.u32()

        while not end:
            verifier, some, cookie, end = self.compound(*self.at(path), (READDIR, u64(cookie) + verifier + u32(8192, 32768) + bitmap(FILEID), entries))[-1]
            found += some
        return sorted(found)

    # Locks of ranges; each has an open and an owner of its own.

    def owner(self):
        return u64(self.client) + opaque(b"lock %d" % next(self.numbers))

    def take_lock(self, path, exclusive, offset, length):
        """The lock; None: another is in the way."""
        handle, stateid = self.open(path, 3)
        kind = u32(2 if exclusive else 1)
        try:
            lock = self.compound((PUTFH, opaque(handle), nothing),
                                 (LOCK, kind + u32(0) + u64(offset, length) + u32(1, 0) + stateid + u32(0) + self.owner(), lambda r: r.take(16)))[-1]
        except OSError as error:
            self.close_file(handle, stateid)
            if error.errno != errno.EAGAIN:
                raise
            return None
        return handle, stateid, lock, kind, offset, length

    def drop_lock(self, held):
        handle, stateid, lock, kind, offset, length = held
        self.compound((PUTFH, opaque(handle), nothing), (LOCKU, kind + u32(0) + lock + u64(offset, length), lambda r: r.take(16)))
        self.close_file(handle, stateid)

    def may_lock(self, path, exclusive, offset, length):
        try:
            self.compound(*self.at(path), (LOCKT, u32(2 if exclusive else 1) + u64(offset, length) + self.owner(), nothing))
        except OSError as error:
            if error.errno != errno.EAGAIN:
                raise
            return False
        return True
