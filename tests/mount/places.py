"""Ways to one export, with the same calls: a mount, NFSv3 by libnfs (which keeps nothing), S3. Each call raises OSError."""

import ctypes
import datetime
import errno
import fcntl
import hashlib
import hmac
import http.client
import os
import stat
import struct
import urllib.parse
import xml.etree.ElementTree
from collections import namedtuple

Status = namedtuple("Status", "ino mode links uid gid size mtime ctime")  # times in ns


class MountPlace:
    """A directory, by the calls of the kernel."""

    makes_names = True

    def __init__(self, name, root):
        self.name, self.root = name, root

    def at(self, path):
        return os.path.join(self.root, path)

    def stat(self, path):
        return self.status(os.lstat(self.at(path)))

    @staticmethod
    def status(seen):
        return Status(seen.st_ino, seen.st_mode, seen.st_nlink, seen.st_uid, seen.st_gid, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)

    def open(self, path, flags, mode=0o644):
        return os.open(self.at(path), flags, mode)

    def read(self, path):
        file = self.open(path, os.O_RDONLY)
        try:
            parts = []
            while part := os.read(file, 1 << 17):
                parts.append(part)
            return b"".join(parts)
        finally:
            os.close(file)

    def create(self, path, mode, content):
        file = self.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
        try:
            if content:
                os.write(file, content)
        finally:
            os.close(file)

    def write(self, path, offset, content):
        file = self.open(path, os.O_WRONLY)
        try:
            os.pwrite(file, content, offset)
        finally:
            os.close(file)

    def append(self, path, content):
        file = self.open(path, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(file, content)
        finally:
            os.close(file)

    def rewrite(self, path, content):
        file = self.open(path, os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(file, content)
        finally:
            os.close(file)

    def truncate(self, path, size):
        os.truncate(self.at(path), size)

    def unlink(self, path):
        os.unlink(self.at(path))

    def rename(self, old, new):
        os.rename(self.at(old), self.at(new))

    def link(self, old, new):
        os.link(self.at(old), self.at(new), follow_symlinks=False)

    def symlink(self, target, path):
        os.symlink(target, self.at(path))

    def readlink(self, path):
        return os.readlink(self.at(path))

    def mkdir(self, path):
        os.mkdir(self.at(path), 0o755)

    def rmdir(self, path):
        os.rmdir(self.at(path))

    def chmod(self, path, mode):
        os.chmod(self.at(path), mode)

    def utime(self, path, mtime):
        os.utime(self.at(path), ns=(mtime, mtime))

    def names(self, path):
        return sorted(os.listdir(self.at(path)))

    # Locks of ranges, by open file descriptions: those of a process would go with the next close(2) of the file.

    @staticmethod
    def lock_range(file, kind, offset, length):
        """False: another is in the way."""
        try:
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, offset, length, 0))
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
            return False
        return True

    def take_lock(self, path, exclusive, offset, length):
        """The lock; None: another is in the way."""
        file = self.open(path, os.O_RDWR)
        if self.lock_range(file, fcntl.F_WRLCK if exclusive else fcntl.F_RDLCK, offset, length):
            return file
        os.close(file)
        return None

    def drop_lock(self, file):
        self.lock_range(file, fcntl.F_UNLCK, 0, 0)
        os.close(file)

    def may_lock(self, path, exclusive, offset, length):
        held = self.take_lock(path, exclusive, offset, length)
        if held is not None:
            self.drop_lock(held)
        return held is not None


class NfsStatus(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("dev", "ino", "mode", "nlink", "uid", "gid", "rdev", "size", "blksize", "blocks", "atime",
                                                     "mtime", "ctime", "atime_ns", "mtime_ns", "ctime_ns", "used")]


class NfsEntry(ctypes.Structure):
    _fields_ = [("next", ctypes.c_void_p), ("name", ctypes.c_char_p)]


class Timeval(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("micros", ctypes.c_long)]


class NfsPlace:
    """NFSv3. libnfs asks the server for each component of each path."""

    makes_names = True
    name = "nfs"

    def __init__(self, values):
        self.lib = ctypes.CDLL("libnfs.so.13")
        self.lib.nfs_init_context.restype = ctypes.c_void_p
        self.lib.nfs_parse_url_dir.restype = ctypes.c_void_p
        self.lib.nfs_readdir.restype = ctypes.POINTER(NfsEntry)
        self.nfs = ctypes.c_void_p(self.lib.nfs_init_context())
        self.lib.nfs_set_dircache(self.nfs, 0)
        url = f"nfs://{values['STOA_NFS_HOST']}{values['STOA_EXPORT']}?nfsport={values['STOA_NFS_PORT']}&mountport={values['STOA_MOUNT_PORT']}"
        if not self.lib.nfs_parse_url_dir(self.nfs, url.encode()):
            raise OSError(errno.EINVAL, url)
        self.call("mount", values["STOA_NFS_HOST"].encode(), values["STOA_EXPORT"].encode())

    def call(self, what, *words):
        done = getattr(self.lib, "nfs_" + what)(self.nfs, *words)
        if done < 0:
            raise OSError(-done, f"nfs {what}: {os.strerror(-done)}")
        return done

    def path(self, path):
        return b"/" + path.encode()

    def stat(self, path):
        seen = NfsStatus()
        self.call("lstat64", self.path(path), ctypes.byref(seen))
        return Status(seen.ino, seen.mode, seen.nlink, seen.uid, seen.gid, seen.size, seen.mtime * 10**9 + seen.mtime_ns, seen.ctime * 10**9 + seen.ctime_ns)

    def with_file(self, path, flags, work):
        file = ctypes.c_void_p()
        self.call("open", self.path(path), flags, ctypes.byref(file))
        try:
            return work(file)
        finally:
            self.call("close", file)

    def read(self, path):
        def work(file):
            parts, offset, room = [], 0, ctypes.create_string_buffer(1 << 17)
            while count := self.call("pread", file, ctypes.c_uint64(offset), ctypes.c_uint64(len(room)), room):
                parts.append(room.raw[:count])
                offset += count
            return b"".join(parts)
        return self.with_file(path, os.O_RDONLY, work)

    def put(self, file, offset, content):
        while content:
            count = self.call("pwrite", file, ctypes.c_uint64(offset), ctypes.c_uint64(len(content)), content)
            offset, content = offset + count, content[count:]

    def create(self, path, mode, content):
        file = ctypes.c_void_p()
        self.call("create", self.path(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode, ctypes.byref(file))
        try:
            self.put(file, 0, content)
        finally:
            self.call("close", file)

    def write(self, path, offset, content):
        self.with_file(path, os.O_WRONLY, lambda file: self.put(file, offset, content))

    def append(self, path, content):
        self.write(path, self.stat(path).size, content)

    def rewrite(self, path, content):
        self.truncate(path, 0)
        self.write(path, 0, content)

    def truncate(self, path, size):
        self.call("truncate", self.path(path), ctypes.c_uint64(size))

    def unlink(self, path):
        self.call("unlink", self.path(path))

    def rename(self, old, new):
        self.call("rename", self.path(old), self.path(new))

    def link(self, old, new):
        self.call("link", self.path(old), self.path(new))

    def symlink(self, target, path):
        self.call("symlink", target.encode(), self.path(path))

    def readlink(self, path):
        room = ctypes.create_string_buffer(4097)
        self.call("readlink", self.path(path), room, 4096)
        return room.value.decode()

    def mkdir(self, path):
        self.call("mkdir", self.path(path))

    def rmdir(self, path):
        self.call("rmdir", self.path(path))

    def chmod(self, path, mode):
        self.call("chmod", self.path(path), mode)

    def utime(self, path, mtime):
        times = (Timeval * 2)(*[Timeval(mtime // 10**9, mtime % 10**9 // 1000)] * 2)
        self.call("utimes", self.path(path), times)

    def names(self, path):
        listing = ctypes.c_void_p()
        self.call("opendir", self.path(path), ctypes.byref(listing))
        names = []
        while entry := self.lib.nfs_readdir(self.nfs, listing):
            names.append(entry.contents.name.decode())
        self.lib.nfs_closedir(self.nfs, listing)
        return sorted(name for name in names if name not in (".", ".."))


class S3Place:
    """Whole objects: PUT, GET, DELETE and listings, signed by AWS Signature Version 4."""

    makes_names = False
    name = "s3"
    codes = {403: errno.EACCES, 404: errno.ENOENT, 409: errno.EEXIST, 412: errno.EEXIST}

    def __init__(self, values):
        self.bucket, self.access, self.secret, self.region = (values["STOA_S3_" + what] for what in ("BUCKET", "ACCESS_KEY", "SECRET_KEY", "REGION"))
        self.host = urllib.parse.urlsplit(values["STOA_S3_URL"]).netloc
        self.connection = http.client.HTTPConnection(self.host)

    def request(self, method, key, query=None, body=b""):
        path = urllib.parse.quote(f"/{self.bucket}/{key}" if key else f"/{self.bucket}")
        words = "&".join(f"{urllib.parse.quote(name, '')}={urllib.parse.quote(value, '')}" for name, value in sorted((query or {}).items()))
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        digest = hashlib.sha256(body).hexdigest()
        signed = "host;x-amz-content-sha256;x-amz-date"
        canonical = "\n".join((method, path, words, f"host:{self.host}", f"x-amz-content-sha256:{digest}", f"x-amz-date:{now}", "", signed, digest))
        scope = f"{now[:8]}/{self.region}/s3/aws4_request"
        key_bytes = b"AWS4" + self.secret.encode()
        for part in scope.split("/"):
            key_bytes = hmac.digest(key_bytes, part.encode(), "sha256")
        text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        signature = hmac.digest(key_bytes, text.encode(), "sha256").hex()
        self.connection.request(method, path + ("?" + words if words else ""), body, {
            "x-amz-content-sha256": digest, "x-amz-date": now,
            "Authorization": f"AWS4-HMAC-SHA256 Credential={self.access}/{scope}, SignedHeaders={signed}, Signature={signature}"})
        reply = self.connection.getresponse()
        content = reply.read()
        if reply.status >= 300:
            raise OSError(self.codes.get(reply.status, errno.EIO), f"s3 {method} {key}: {reply.status} {content[:200]!r}")
        return content

    def read(self, path):
        return self.request("GET", path)

    def put(self, path, content):
        self.request("PUT", path, body=content)

    def unlink(self, path):
        self.request("DELETE", path)

    def names(self, path):
        found, more = [], {}
        while True:
            tree = xml.etree.ElementTree.fromstring(self.request("GET", "", {"list-type": "2", "prefix": path + "/", "delimiter": "/", **more}))
            space = tree.tag[:tree.tag.index("}") + 1]
            found += [key.text for key in tree.iter(space + "Key")] + [key.findtext(space + "Prefix")[:-1] for key in tree.iter(space + "CommonPrefixes")]
            token = tree.findtext(space + "NextContinuationToken")
            if not token:
                return sorted(name[len(path) + 1:] for name in found if name != path + "/")
            more = {"continuation-token": token}


def is_file(status):
    return stat.S_ISREG(status.mode)
