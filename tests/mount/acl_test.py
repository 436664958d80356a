"""POSIX ACLs of a mount, by getfacl, setfacl, ls and cp: each rule runs in a local directory, which is the reference, on one mount, and on two.

And the one ACL behind them: what NFSv4 sets shows over the mount, and back. As in rules_test.py, rules give what they have seen.
"""

import os
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mounts import TRANSPORTS, MountedCase, transport  # noqa: E402
from nfs41 import GETATTR, Nfs41Place, Reader, bitmap, opaque, u32  # noqa: E402
from rules_test import C, R, RW, W, Open, as_user, error, get, mode_of, put  # noqa: E402

ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
OWNER, USER, GROUP, MEMBER, MASK, OTHER, NO_ID = 1, 2, 4, 8, 16, 32, 0xffffffff
ACL = 12  # the attribute of NFSv4, RFC 8881 6.2.1
PLAIN = [(OWNER, 6, NO_ID), (GROUP, 4, NO_ID), (OTHER, 0, NO_ID)]
LISTED = [(OWNER, 6, NO_ID), (USER, 6, 1000), (GROUP, 4, NO_ID), (MASK, 6, NO_ID), (OTHER, 0, NO_ID)]


def run(*words):
    """What a program prints, or the last word of its complaint."""
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}, check=False)
    return done.stdout if done.returncode == 0 else done.stderr.strip().rpartition(": ")[2]


def facl(path):
    return ",".join(run("getfacl", "--numeric", "--omit-header", "--absolute-names", "--no-effective", path).split())


def setfacl(path, *words):
    return run("setfacl", *words, path)


def value(entries, version=2):
    return struct.pack("<I", version) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def acls(path):
    """The attributes that list an ACL."""
    return sorted(name[17:] for name in os.listxattr(path) if name.startswith("system."))


def ls(path):
    return run("ls", "-ld", path).split()[0]


def may(uid, gid, groups, path):
    """Which of reading and writing a user may."""
    return "".join(word for word, flags in (("r", R), ("w", W)) if as_user(uid, gid, groups, lambda flags=flags: os.close(os.open(path, flags))) == "None")


RULES = []


def rule(expected):
    def keep(function):
        RULES.append((function, expected))
        return function
    return keep


@rule(("user::rw-,group::r--,other::---", [], "ENODATA", "-rw-r-----"))
def a_mode_is_no_acl(d, other):
    put(d + "/x", b"", 0o640)
    return facl(other + "/x"), acls(other + "/x"), error(os.getxattr, d + "/x", ACCESS), ls(other + "/x")


@rule(("", "user::rw-,user:1000:rw-,group::r--,group:50:r-x,mask::rwx,other::---", ["access"], "0o670", "-rw-rwx---+"))
def users_and_groups(d, other):
    put(d + "/x", b"", 0o640)
    os.stat(other + "/x")
    done = setfacl(d + "/x", "-m", "u:1000:rw,g:50:rx")
    return done, facl(other + "/x"), acls(other + "/x"), mode_of(other + "/x"), ls(d + "/x")


@rule("640 670 660 660 600")
def the_mode_follows_at_once(d, _other):
    """Of an open file, which no look-up makes new: stat(1) asks for nothing but the mode, so times that have become invalid do not help."""
    put(d + "/x", b"", 0o640)
    mode = "stat -L -c %a /proc/self/fd/5"
    return " ".join(run("bash", "-c", f"cd {d}; exec 5< x; {mode}; for acl in u:1000:rwx m::rw; do setfacl -m $acl x; {mode}; done; setfacl -b x; setfacl -m u:5:rw x; {mode}; "
                        f"setfacl -m m::- x; {mode}").split())


@rule(["rw", "rw", "r", "r", "", "", "w"])
def the_acl_decides(d, other):
    put(d + "/x", b"", 0o640)
    os.chown(d + "/x", 500, 600)
    setfacl(d + "/x", "-m", "u:1000:rw,u:1001:r,u:1002:-,g:50:r,g:51:w,g:52:-")
    path = other + "/x"
    return [may(500, 1, [], path), may(1000, 600, [50], path), may(1001, 51, [], path), may(2000, 600, [], path), may(1002, 600, [50], path), may(2000, 52, [], path),
            may(2000, 52, [51], path)]


@rule(["user::rw-,user:1000:rwx,group::r--,mask::r--,other::---", "0o640", "r", "0o600", "", "user::rw-,user:1000:rwx,group::r--,mask::---,other::---", "rw"])
def chmod_sets_the_mask(d, other):
    put(d + "/x", b"", 0o640)
    setfacl(d + "/x", "-m", "u:1000:rwx,m::r")
    seen = [facl(other + "/x"), mode_of(d + "/x"), may(1000, 1000, [], d + "/x")]
    os.chmod(other + "/x", 0o600)
    seen += [mode_of(d + "/x"), may(1000, 1000, [], d + "/x"), facl(d + "/x")]
    os.chmod(d + "/x", 0o660)
    return seen + [may(1000, 1000, [], other + "/x")]


@rule(("", "user::rwx,group::r-x,other::r-x,default:user::rwx,default:user:1000:rwx,default:group::r-x,default:mask::rwx,default:other::---", ["default"], "drwxr-xr-x+", "ENODATA"))
def a_default_acl(d, other):
    done = setfacl(d, "-d", "-m", "u:1000:rwx,o::-")
    return done, facl(other), acls(other), ls(other), error(os.getxattr, other, ACCESS)


@rule(["user::rw-,user:1000:rwx,group::r-x,mask::rw-,other::---", "0o660", "0o600", "0o600",
       "user::rwx,user:1000:rwx,group::r-x,mask::rwx,other::---,default:user::rwx,default:user:1000:rwx,default:group::r-x,default:mask::rwx,default:other::---",
       "0o770", "0o750", "0o640", [], "0o660", "0o600"])
def new_files_under_a_default_acl(d, other):
    """The umask does not count, the mode does."""
    setfacl(d, "-d", "-m", "u:1000:rwx,o::-")
    os.umask(0o077)
    try:
        os.close(os.open(d + "/x", C | W, 0o666))
        os.close(os.open(d + "/y", C | W, 0o600))
        os.mknod(d + "/p", 0o010600)
        os.mkdir(d + "/s")
        os.mkdir(d + "/s/t", 0o750)
        os.close(os.open(d + "/s/z", C | W, 0o644))
        os.symlink("x", d + "/l")
        with Open(d, os.O_TMPFILE | RW, 0o666) as file:
            os.link(f"/proc/self/fd/{file}", d + "/late", src_dir_fd=0, follow_symlinks=True)
        setfacl(d, "-k")
        os.close(os.open(d + "/plain", C | W, 0o666))
    finally:
        os.umask(0)
    seen = [facl(other + "/x")] + [mode_of(other + "/" + name) for name in "xyp"] + [facl(other + "/s")] + [mode_of(other + "/s" + name) for name in ("", "/t", "/z")]
    return seen + [os.listxattr(other + "/l", follow_symlinks=False), mode_of(other + "/late"), mode_of(other + "/plain")]


@rule(("0o600", "0o700", "0o755", ["default"], "user::rwx,group::---,other::---,default:user::rwx,default:group::---,default:other::---"))
def a_default_acl_of_three(d, other):
    setfacl(d, "-d", "-m", "u::rwx,g::-,o::-")
    os.close(os.open(d + "/x", C | W, 0o666))
    os.mkdir(d + "/s")
    return mode_of(other + "/x"), mode_of(other + "/s"), mode_of(other), acls(other + "/s"), facl(other + "/s")


@rule(("user::rw-,group::r--,mask::r--,other::---", "user::rw-,group::r--,other::---", [], "0o640"))
def entries_go(d, other):
    put(d + "/x", b"", 0o640)
    setfacl(d + "/x", "-m", "u:1000:rw")
    setfacl(d + "/x", "-x", "u:1000")
    one = facl(other + "/x")
    setfacl(d + "/x", "-b")
    return one, facl(other + "/x"), acls(other + "/x"), mode_of(other + "/x")


@rule((True, True, "drwxrwxrwx+", True))
def copies_keep_acls(d, other):
    os.makedirs(d + "/from/s")
    put(d + "/from/s/x", b"text", 0o600)
    setfacl(d + "/from", "-R", "-m", "u:1000:rwX,g:50:r")
    setfacl(d + "/from", "-d", "-m", "u:1001:r")
    os.mkdir(d + "/into")
    setfacl(d + "/into", "-d", "-m", "u:7:rwx")
    run("cp", "-a", d + "/from", d + "/into/copy")

    def tree(path):
        return [run("bash", "-c", f"cd {path}; getfacl -nR ."), get(path + "/s/x")]
    same = tree(d + "/from") == tree(other + "/into/copy")
    saved = run("bash", "-c", f"cd {d}/into/copy; getfacl -nR . > ../saved; setfacl -R -b .; setfacl --restore=../saved")
    run("cp", d + "/from/s/x", d + "/into/plain")
    return same, tree(d + "/from") == tree(other + "/into/copy"), ls(other + "/into/copy"), "user:7:rwx" in facl(other + "/into/plain") and saved == ""


@rule(("", "user::rw-,user:1000:rw-,group::r--,mask::rw-,other::---", "0o660", [], "0o660"))
def raw_values(d, other):
    put(d + "/x", b"", 0o600)
    os.setxattr(d + "/x", ACCESS, value(LISTED), os.XATTR_REPLACE)
    assert os.getxattr(other + "/x", ACCESS) == value(LISTED)
    seen = facl(other + "/x"), mode_of(other + "/x")
    os.removexattr(d + "/x", ACCESS)
    os.removexattr(d + "/x", ACCESS)
    return "", *seen, acls(other + "/x"), mode_of(other + "/x")


@rule(["EINVAL"] * 17 + ["ENOTSUP"] * 2 + ["0o640"])
def malformed_values(d, other):
    put(d + "/x", b"", 0o640)
    owner, group, other_entry = PLAIN
    user, mask = (USER, 7, 5), (MASK, 7, NO_ID)
    wrong = [value(entries) for entries in (
        PLAIN[1:], PLAIN[:2], [owner, other_entry], [owner] + PLAIN, [group, owner, other_entry], [owner, user, group, other_entry], [owner, group, (MEMBER, 7, 5), other_entry],
        [owner, group, user, mask, other_entry], [owner, group, mask, mask, other_entry], PLAIN + [mask], [(OWNER, 8, NO_ID), group, other_entry], PLAIN + [(0x40, 7, NO_ID)],
        [(0, 7, NO_ID)] + PLAIN, [owner, (USER, 7, NO_ID), group, mask, other_entry])]
    wrong += [value(PLAIN) + b"x", value(PLAIN)[:-1], b"\2\0\0", value(PLAIN, 1), value(PLAIN, 0x02000000)]
    return [error(os.setxattr, d + "/x", ACCESS, one) for one in wrong] + [mode_of(other + "/x")]


@rule(["EACCES", None, "'EPERM'", "'EPERM'", "'EPERM'", "ENODATA", "ENODATA", "ERANGE", "ENOTSUP", "ENOTSUP", "None"])
def refusals(d, other):
    put(d + "/x", b"", 0o666)
    os.chmod(d, 0o777)
    os.symlink("x", d + "/l")
    setfacl(d + "/x", "-m", "u:1000:rw")
    seen = [error(os.setxattr, d + "/x", DEFAULT, value(PLAIN)), error(os.removexattr, d + "/x", DEFAULT)]
    seen += [as_user(1000, 1000, [], lambda: os.setxattr(d + "/x", ACCESS, value(PLAIN))), as_user(1000, 1000, [], lambda: os.removexattr(d + "/x", ACCESS)),
             as_user(1000, 1000, [], lambda: os.setxattr(d, DEFAULT, value(PLAIN)))]
    seen += [error(os.getxattr, other + "/x", DEFAULT), error(os.getxattr, other, ACCESS)]
    with Open(other + "/x", R) as file:
        seen.append(error(short_getxattr, file, ACCESS))
    seen += [error(os.setxattr, d + "/l", ACCESS, value(PLAIN), follow_symlinks=False), error(os.getxattr, other + "/l", ACCESS, follow_symlinks=False)]
    os.chown(d + "/x", 1000, 1000)
    return seen + [as_user(1000, 1000, [], lambda: os.setxattr(d + "/x", ACCESS, value(LISTED)))]


def short_getxattr(file, name):
    import ctypes  # pylint: disable=import-outside-toplevel
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.fgetxattr(file, name.encode(), ctypes.create_string_buffer(10), 10) < 0:
        raise OSError(ctypes.get_errno(), name)


@rule(("0o2755", "0o755", "0o2755"))
def set_group_id_goes_with_an_acl_of_a_stranger_to_the_group(d, other):
    seen = []
    for name, uid, groups in (("root", 0, []), ("owner", 1000, []), ("member", 1000, [50])):
        path = put(f"{d}/{name}")
        os.chown(path, 1000, 50)
        os.chmod(path, 0o2755)
        assert as_user(uid, uid, groups, lambda path=path: os.setxattr(path, ACCESS, value([(OWNER, 7, NO_ID), (GROUP, 5, NO_ID), (OTHER, 5, NO_ID)]))) == "None"
        seen.append(mode_of(f"{other}/{name}"))
    return tuple(seen)


@rule(("None", "'EACCES'", "'EACCES'", "'PermissionError'"))
def search_and_execution(d, other):
    os.mkdir(d + "/s", 0o700)
    put(d + "/s/x", b"#!/bin/sh\nexit 0\n", 0o644)
    setfacl(d + "/s", "-m", "u:1000:x")
    setfacl(d + "/s/x", "-m", "u:1000:rx")
    os.stat(other + "/s/x")
    allowed = as_user(1000, 1000, [], lambda: subprocess.run([other + "/s/x"], check=True) and None)
    denied = as_user(1001, 1001, [], lambda: os.stat(other + "/s/x"))
    listed = as_user(1000, 1000, [], lambda: os.listdir(other + "/s"))
    setfacl(d + "/s/x", "-x", "u:1000")

    def execute():
        try:
            subprocess.run([other + "/s/x"], check=True)
        except OSError as failed:
            return type(failed).__name__
        return None
    return allowed, denied, listed, as_user(1000, 1000, [], execute)


@rule(("b'text'", "'EACCES'", "user::rw-,user:1000:---,group::r--,mask::r--,other::r--"))
def an_open_file_goes_on(d, other):
    put(d + "/x", b"text")

    def read_and_see():
        with Open(d + "/x", R) as file:
            os.write(asks, b"x")
            os.read(answers, 1)
            return os.pread(file, 9, 0)
    asked, asks = os.pipe()
    answers, answer = os.pipe()
    import threading  # pylint: disable=import-outside-toplevel
    changes = threading.Thread(target=lambda: (os.read(asked, 1), setfacl(other + "/x", "-m", "u:1000:-"), os.write(answer, b"x")))
    changes.start()
    seen = as_user(1000, 1000, [], read_and_see)
    changes.join()
    for file in (asked, asks, answers, answer):
        os.close(file)
    return seen, as_user(1000, 1000, [], lambda: os.open(d + "/x", R)), facl(d + "/x")


@rule(("user::rw-,user:1000:rw-,group::r--,mask::rw-,other::---", 7, "0o660"))
def other_changes_keep_it(d, other):
    put(d + "/x", b"", 0o640)
    setfacl(d + "/x", "-m", "u:1000:rw")
    os.chown(d + "/x", 7, 8)
    os.rename(d + "/x", d + "/y")
    os.link(d + "/y", d + "/z")
    os.unlink(d + "/y")
    os.utime(d + "/z")
    put(d + "/z", b"more")
    return facl(other + "/z"), os.stat(other + "/z").st_uid, mode_of(other + "/z")


class AclTest(MountedCase):
    seconds = 120

    def run_at(self, directory, other):
        os.umask(0)
        for call, expected in RULES:
            with self.subTest(call.__name__):
                one, two = (os.path.join(at, call.__name__) for at in (directory, other))
                os.mkdir(one, 0o755)
                self.assertEqual(call(one, two), expected)

    def test_the_reference_is_a_local_directory(self):
        local = os.path.join(self.folder, "local")
        os.mkdir(local)
        if error(os.setxattr, local, ACCESS, value(PLAIN)) is not None:
            self.skipTest("this disk has no ACLs")
        os.chmod(local, 0o755)
        self.run_at(local, local)

    def test_mounts(self):
        for number, name in enumerate(TRANSPORTS):
            with self.subTest(name), transport(name):
                a, b = self.mount(f"a{number}").path, self.mount(f"b{number}").path
                for where in ("one", "two"):
                    os.mkdir(f"{a}/{where}{number}")
                self.run_at(f"{a}/one{number}", f"{a}/one{number}")
                self.run_at(f"{a}/two{number}", f"{b}/two{number}")

    def test_the_acl_is_that_of_nfsv4(self):
        path = self.mount("v4").path
        put(path + "/x", b"", 0o640)
        nfs = Nfs41Place(self.server.values)
        self.addCleanup(nfs.close)

        def entries(reply):
            reply.bitmap()
            acl = Reader(reply.opaque())
            return [(acl.u32(), acl.u32(), acl.u32(), acl.opaque().decode()) for _ in range(acl.u32())]
        # Over NFSv4, seen here at once, also when this mount has just looked.
        self.assertEqual(facl(path + "/x"), "user::rw-,group::r--,other::---")
        nfs.set("x", {ACL: u32(3) + b"".join(u32(kind, flags, rights) + opaque(who) for kind, flags, rights, who in (
            (0, 0, 0x1601b7, "OWNER@"), (1, 0, 0x2, "1000"), (0, 0, 0x1200a9, "EVERYONE@")))})
        self.assertEqual(facl(path + "/x"), "user::rwx,user:1000:r-x,group::r-x,mask::r-x,other::r-x")
        self.assertEqual(mode_of(path + "/x"), "0o755")
        # From here, over NFSv4.
        setfacl(path + "/x", "--set", "u::rw,u:1000:rw,g::r,o::-,m::r")
        seen = nfs.compound(*nfs.at("x"), (GETATTR, bitmap(ACL), entries))[-1]
        self.assertEqual([(kind, who) for kind, _, _, who in seen],
                         [(1, "OWNER@"), (0, "OWNER@"), (1, "1000"), (0, "1000"), (1, "1000"), (1, "GROUP@"), (0, "GROUP@"), (1, "GROUP@"), (1, "EVERYONE@"), (0, "EVERYONE@")])
        self.assertEqual(nfs.stat("x").mode & 0o777, 0o640)
        # chmod there is that of POSIX, and its list can be set again.
        nfs.chmod("x", 0o660)
        self.assertEqual(facl(path + "/x"), "user::rw-,user:1000:rw-,group::r--,mask::rw-,other::---")
        put(path + "/y", b"", 0o600)
        nfs.set("y", {ACL: u32(len(seen)) + b"".join(u32(kind, flags, rights) + opaque(who) for kind, flags, rights, who in seen)})
        self.assertEqual(facl(path + "/y"), "user::rw-,user:1000:rw-,group::r--,mask::r--,other::---")


if __name__ == "__main__":
    unittest.main(verbosity=2)
