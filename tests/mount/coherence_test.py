"""What one client has written, every other sees: random changes at one place and looks at another, over two mounts, NFSv3, NFSv4.1 and S3:
content, sizes, names, attributes and locks.

Pairs run one behind the other against a model of the tree; races have readers that ask all the time while a writer goes on.
STOA_MOUNT_PAIRS and STOA_MOUNT_SEED change how many and which (the seed is printed); the number is cut by time on slow machines, which is printed too.
"""

import errno
import os
import random
import stat
import sys
import threading
import time
import traceback
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mounts import MountedCase  # noqa: E402
from nfs41 import Nfs41Place  # noqa: E402
from places import MountPlace, NfsPlace, S3Place  # noqa: E402

SIZES = (0, 1, 3, 511, 512, 4095, 4096, 4097, 10_007, 65_535, 65_537, 131_071, 131_073)


class Node:
    """A file of the model. `mode` None: not known yet, what is seen first counts."""

    def __init__(self, content=None, target=None, mode=None):
        self.content, self.target, self.mode, self.links, self.mtime = content, target, mode, 1, None


class Pairs:
    """The model, the places, and one change with its looks at a time."""

    def __init__(self, case, places, dice, directories):
        self.case, self.places, self.dice, self.directories = case, places, dice, directories
        self.full = [place for place in places if place.makes_names]
        self.mounts = [place for place in places if isinstance(place, MountPlace)]
        self.tree = {directory: {} for directory in directories}
        self.held = []  # (mount, descriptor, node)
        self.lockers = [place for place in places if hasattr(place, "take_lock")]
        self.locks = []  # (place, what it needs to give it up, node, exclusive, first byte, the one behind the last)
        self.history = []

    def any_path(self):
        return self.dice.choice(self.directories), f"n{self.dice.randrange(6)}"

    def files(self):
        return [(directory, name, node) for directory, names in self.tree.items() for name, node in names.items() if node.content is not None]

    def bytes(self):
        return self.dice.randbytes(self.dice.choice(SIZES))

    def fails(self, code, call, *words):
        try:
            call(*words)
        except OSError as error:
            self.case.assertEqual(errno.errorcode[error.errno], errno.errorcode[code], f"{call} {words}")
            return
        self.case.fail(f"{call} {words[:2]} should fail with {errno.errorcode[code]}")

    def step(self):
        """A look that warms what a place keeps, a change, and looks at others."""
        directory, name = self.any_path()
        for place in self.places:
            if self.dice.random() < 0.5:
                self.look(place, directory, name)
        place = self.dice.choice(self.places)
        change = getattr(self, self.dice.choice(CHANGES if place.makes_names else ("put", "remove")))
        touched = change(place, directory, name)
        for directory, name in touched:
            for place in self.dice.sample(self.places, 2):
                self.look(place, directory, name)
        if self.held and self.dice.random() < 0.3:
            self.look_at_held(self.dice.choice(self.held))
        if self.locks and self.dice.random() < 0.3:
            self.look_at_locks()

    def note(self, *words):
        self.history.append(" ".join(str(word) for word in words))

    # Looks.

    def look(self, place, directory, name):
        self.note("look", place.name, directory, name)
        path, node = f"{directory}/{name}", self.tree[directory].get(name)
        if self.dice.random() < 0.25:
            self.case.assertEqual(place.names(directory), sorted(self.seen_names(place, directory)))
        if not place.makes_names:
            if node is None:
                self.fails(errno.ENOENT, place.read, path)
            elif node.content is not None:
                self.same(place.read(path), node.content)
            return
        if node is None:
            self.fails(errno.ENOENT, place.stat, path)
            return
        if node.target is not None:
            self.case.assertEqual(place.readlink(path), node.target)
            return
        if self.dice.random() < 0.5:
            self.same(place.read(path), node.content)
        self.same_status(place.stat(path), node)
        if self.dice.random() < 0.5:
            self.same(place.read(path), node.content)
        if self.dice.random() < 0.2:
            pair = self.dice.sample(self.full, 2)
            one, two = (other.stat(path) for other in pair)
            if one != two and one._replace(mtime=0, ctime=0) == two._replace(mtime=0, ctime=0):
                # A client shows its own clock's time for what it has not written yet; the second look had it written.
                one, two = (other.stat(path) for other in pair)
            self.case.assertEqual(one, two)

    def seen_names(self, place, directory):
        return [name for name, node in self.tree[directory].items() if place.makes_names or node.content is not None]

    def same(self, seen, known):
        if seen != known:
            at = next((at for at in range(min(len(seen), len(known))) if seen[at] != known[at]), min(len(seen), len(known)))
            self.case.fail(f"content of {len(seen)} bytes for {len(known)}, other from byte {at}: {seen[at:at + 16].hex()} for {bytes(known[at:at + 16]).hex()}")

    def same_status(self, seen, node):
        if node.mode is None:
            node.mode = stat.S_IMODE(seen.mode)
        self.case.assertEqual((seen.size, oct(stat.S_IMODE(seen.mode)), seen.links), (len(node.content), oct(node.mode), node.links))
        if node.mtime is not None:
            self.case.assertEqual(seen.mtime, node.mtime)

    def look_at_held(self, one):
        mount, file, node = one
        self.note("held", mount.name, file)
        self.same_status(mount.status(os.fstat(file)), node)
        self.same(os.pread(file, len(node.content) + 1, 0), node.content)
        self.same_status(mount.status(os.fstat(file)), node)

    def look_at_locks(self):
        found = self.on_file()
        if found is None:
            return
        directory, name, node = found
        place, exclusive, (begin, end) = self.dice.choice(self.lockers), self.dice.random() < 0.5, self.range()
        self.note("may lock", place.name, directory, name, exclusive, begin, end)
        seen = place.may_lock(f"{directory}/{name}", exclusive, begin, end - begin)
        self.case.assertEqual(seen, not self.in_the_way(node, exclusive, begin, end), f"a lock of {directory}/{name} at {place.name}")

    def range(self):
        begin = self.dice.choice((0, 0, 10, 4096, 1 << 33))
        return begin, begin + self.dice.choice((1, 10, 11, 4086, 1 << 34))

    def in_the_way(self, node, exclusive, begin, end):
        return any(other is node and (exclusive or excludes) and begin < behind and first < end for _, _, other, excludes, first, behind in self.locks)

    # Changes; each returns the names that it touched.

    def drop(self, directory, name):
        node = self.tree[directory].pop(name, None)
        if node is not None:
            node.links -= 1

    def create(self, place, directory, name):
        content, mode = self.bytes(), self.dice.choice((0o644, 0o600, 0o755, 0o640))
        self.note("create", place.name, directory, name, len(content), oct(mode))
        if name in self.tree[directory]:
            self.fails(errno.EEXIST, place.create, f"{directory}/{name}", mode, content)
        else:
            place.create(f"{directory}/{name}", mode, content)
            self.tree[directory][name] = Node(bytearray(content), mode=mode)
        return [(directory, name)]

    def put(self, place, directory, name):
        content = self.bytes()
        node = self.tree[directory].get(name)
        if node is not None and node.target is not None:
            return self.write(self.mounts[0], directory, name)  # a symbolic link is no object
        self.note("put", place.name, directory, name, len(content))
        place.put(f"{directory}/{name}", content)
        if node is None:
            self.tree[directory][name] = Node(bytearray(content))
        else:  # the file stays, and so do its other names
            self.changed(node, 0, content, len(content))
        return [(directory, name)]

    def remove(self, place, directory, name):
        self.note("remove", place.name, directory, name)
        node = self.tree[directory].get(name)
        if not place.makes_names:
            place.unlink(f"{directory}/{name}")  # a symbolic link is no object, and stays
            if node is not None and node.target is None:
                self.drop(directory, name)
        elif node is not None:
            place.unlink(f"{directory}/{name}")
            self.drop(directory, name)
        else:
            self.fails(errno.ENOENT, place.unlink, f"{directory}/{name}")
        return [(directory, name)]

    def changed(self, node, offset, content, size=None):
        if offset > len(node.content):
            node.content.extend(bytes(offset - len(node.content)))
        node.content[offset:offset + len(content)] = content
        if size is not None:
            del node.content[size:]
            node.content.extend(bytes(size - len(node.content)))
        node.mtime = None

    def on_file(self):
        """One that is there: most changes are to be for files."""
        files = self.files()
        return self.dice.choice(files) if files else None

    def write(self, place, directory, name):
        found = self.on_file()
        if found is None:
            return self.create(place, directory, name)
        directory, name, node = found
        offset, content = self.dice.randrange(len(node.content) + 5000), self.bytes()
        if len(content) + offset > 1 << 19:
            offset = 0
        self.note("write", place.name, directory, name, offset, len(content))
        place.write(f"{directory}/{name}", offset, content)
        if content:
            self.changed(node, offset, content)
        return [(directory, name)]

    def append(self, place, directory, name):
        found = self.on_file()
        if found is None:
            return self.create(place, directory, name)
        directory, name, node = found
        content = self.dice.randbytes(self.dice.choice((1, 7, 4096, 5001)))
        self.note("append", place.name, directory, name, "to", len(node.content), len(content))
        place.append(f"{directory}/{name}", content)
        self.changed(node, len(node.content), content)
        return [(directory, name)]

    def rewrite(self, place, directory, name):
        found = self.on_file()
        if found is None:
            return self.create(place, directory, name)
        directory, name, node = found
        content = self.bytes()
        self.note("rewrite", place.name, directory, name, len(content))
        place.rewrite(f"{directory}/{name}", content)
        self.changed(node, 0, content, len(content))
        return [(directory, name)]

    def truncate(self, place, directory, name):
        found = self.on_file()
        if found is None:
            return self.create(place, directory, name)
        directory, name, node = found
        size = self.dice.choice((*SIZES, len(node.content), len(node.content) // 2, len(node.content) + 1))
        self.note("truncate", place.name, directory, name, len(node.content), size)
        place.truncate(f"{directory}/{name}", size)
        self.changed(node, 0, b"", size)
        return [(directory, name)]

    def rename(self, place, directory, name):
        to_directory, to_name = self.any_path()
        self.note("rename", place.name, directory, name, to_directory, to_name)
        old, new = f"{directory}/{name}", f"{to_directory}/{to_name}"
        node = self.tree[directory].get(name)
        if node is None:
            self.fails(errno.ENOENT, place.rename, old, new)
        else:
            place.rename(old, new)
            if self.tree[to_directory].get(to_name) is not node:
                self.drop(to_directory, to_name)
                self.tree[to_directory][to_name] = self.tree[directory].pop(name)
        return [(directory, name), (to_directory, to_name)]

    def link(self, place, directory, name):
        found = self.on_file()
        if found is None:
            return self.create(place, directory, name)
        from_directory, from_name, node = found
        self.note("link", place.name, from_directory, from_name, directory, name)
        old, new = f"{from_directory}/{from_name}", f"{directory}/{name}"
        if name in self.tree[directory]:
            self.fails(errno.EEXIST, place.link, old, new)
        else:
            place.link(old, new)
            self.tree[directory][name] = node
            node.links += 1
        return [(directory, name), (from_directory, from_name)]

    def symlink(self, place, directory, name):
        target = "t" * self.dice.randrange(1, 100)
        self.note("symlink", place.name, directory, name)
        if name in self.tree[directory]:
            self.fails(errno.EEXIST, place.symlink, target, f"{directory}/{name}")
        else:
            place.symlink(target, f"{directory}/{name}")
            self.tree[directory][name] = Node(target=target)
        return [(directory, name)]

    def chmod(self, place, directory, name):
        found = self.on_file()
        if found is None:
            return self.create(place, directory, name)
        directory, name, node = found
        node.mode = self.dice.choice((0o644, 0o600, 0o755, 0o640))
        self.note("chmod", place.name, directory, name, oct(node.mode))
        place.chmod(f"{directory}/{name}", node.mode)
        return [(directory, name)]

    def utime(self, place, directory, name):
        found = self.on_file()
        if found is None:
            return self.create(place, directory, name)
        directory, name, node = found
        node.mtime = self.dice.randrange(1, 1 << 31) * 10**9 + self.dice.randrange(10**6) * 1000
        self.note("utime", place.name, directory, name, node.mtime)
        place.utime(f"{directory}/{name}", node.mtime)
        return [(directory, name)]

    def hold(self, _place, directory, name):
        """Keeps a file open at a mount, or writes through one that is: names may have gone since."""
        if len(self.held) < 6 and self.files():
            directory, name, node = self.on_file()
            mount = self.dice.choice(self.mounts)
            file = mount.open(f"{directory}/{name}", os.O_RDWR)
            self.note("hold", mount.name, directory, name, file)
            self.held.append((mount, file, node))
        elif self.held:
            one = self.dice.choice(self.held)
            mount, file, node = one
            kind = self.dice.randrange(4)
            content, offset = self.bytes(), self.dice.randrange(len(node.content) + 100)
            self.note("through", mount.name, file, ("write", "truncate", "close", "sync")[kind], offset, len(content))
            if kind == 0 and offset < 1 << 19:
                os.pwrite(file, content, offset)
                if content:
                    self.changed(node, offset, content)
            elif kind == 1:
                os.ftruncate(file, offset)
                self.changed(node, 0, b"", offset)
            elif kind == 2:
                os.close(file)
                self.held.remove(one)
            else:
                os.fsync(file)
            for place in self.full:
                for directory, names in self.tree.items():
                    for name, other in names.items():
                        if other is node:
                            self.look(place, directory, name)
        return [(directory, name)]

    def lock(self, _place, directory, name):
        """Takes a lock, or gives one up; it stays whatever becomes of the file's names."""
        place = self.dice.choice(self.lockers)
        if len(self.locks) < 5 and self.files():
            directory, name, node = self.on_file()
            exclusive, (begin, end) = self.dice.random() < 0.5, self.range()
            self.note("lock", place.name, directory, name, exclusive, begin, end)
            held = place.take_lock(f"{directory}/{name}", exclusive, begin, end - begin)
            self.case.assertEqual(held is not None, not self.in_the_way(node, exclusive, begin, end), f"a lock of {directory}/{name} at {place.name}")
            if held is not None:
                self.locks.append((place, held, node, exclusive, begin, end))
        elif self.locks:
            self.give_up(self.dice.randrange(len(self.locks)))
        self.look_at_locks()
        return [(directory, name)]

    def give_up(self, number):
        place, held, *rest = self.locks.pop(number)
        self.note("unlock", place.name, *rest[1:])
        place.drop_lock(held)

    def close(self):
        for _mount, file, _node in self.held:
            os.close(file)
        while self.locks:
            self.give_up(0)

    def end(self):
        for place in self.places:
            for directory in self.directories:
                self.case.assertEqual(place.names(directory), sorted(self.seen_names(place, directory)))
                for name in self.tree[directory]:
                    self.look(place, directory, name)


CHANGES = ("create", "create", "remove", "write", "write", "append", "rewrite", "truncate", "rename", "rename", "link", "symlink", "chmod", "utime",
           "hold", "hold", "lock", "lock")


class CoherenceTest(MountedCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.a, cls.b = (MountPlace(name, cls.mount(name).path) for name in "ab")

    def test_random_pairs_are_never_stale(self):
        seed = int(os.environ.get("STOA_MOUNT_SEED") or random.randrange(1 << 32))
        count = int(os.environ.get("STOA_MOUNT_PAIRS") or 20_000)
        until = time.monotonic() + (45 if "STOA_MOUNT_PAIRS" not in os.environ else 1e9)
        directories = ["one", "two", "three/deep"]
        for directory in directories:
            os.makedirs(self.a.at(directory))
        session = Nfs41Place(self.server.values)
        self.addCleanup(session.close)
        places = [self.a, self.b, NfsPlace(self.server.values), session, S3Place(self.server.values)]
        pairs = Pairs(self, places, random.Random(seed), directories)
        done = 0
        try:
            while done < count and time.monotonic() < until:
                pairs.step()
                done += 1
            pairs.end()
        except BaseException:
            traceback.print_exc()
            print(f"seed {seed}, behind {done} pairs; the last of them:", *pairs.history[-25:], sep="\n  ", file=sys.stderr)
            raise
        finally:
            pairs.close()
            print(f"{done} of {count} pairs, seed {seed}", file=sys.stderr)

    def test_a_name_that_came_by_a_move_is_not_kept_without_a_lease(self):
        """The kernel takes along for how long it may keep a name, and the lease of the new directory may not be there."""
        os.mkdir(self.b.at("from"))
        os.mkdir(self.a.at("to"))
        self.b.create("from/moved", 0o644, b"moved")
        self.a.create("to/other", 0o644, b"other")  # so that b has no lease on the directory
        self.b.stat("from/moved")
        held = self.b.open("from/moved", os.O_RDONLY)  # else the server says that the file is gone, and the kernel asks again
        self.addCleanup(os.close, held)
        self.b.rename("from/moved", "to/name")
        self.a.rename("to/other", "to/name")
        self.assertEqual(self.b.stat("to/name"), self.a.stat("to/name"))
        self.assertEqual(self.b.read("to/name"), b"other")
        self.assertEqual(os.pread(held, 9, 0), b"moved")

    def race(self, write, read, seconds):
        """`write(number)` at mount a; `read(place)` gives the number that is seen, which is never below one that was written before it was asked."""
        done, begun, wrong, ended, looks = [0], [0], [], threading.Event(), [0]
        places = [self.a, self.b, self.b, NfsPlace(self.server.values)]
        write(0)

        def look(place):
            try:
                while not ended.is_set():
                    least = done[0]
                    seen = read(place)
                    if not least <= seen <= begun[0]:
                        wrong.append(f"{place.name} saw {seen}, {least} was done")
                    looks[0] += 1
            except BaseException as error:  # pylint: disable=broad-except
                wrong.append(f"{place.name}: {error!r}")

        readers = [threading.Thread(target=look, args=(place,)) for place in places]
        for reader in readers:
            reader.start()
        until = time.monotonic() + seconds
        try:
            # On a slow machine it takes longer, as each write recalls what all readers cache.
            while not wrong and (time.monotonic() < until or begun[0] <= 10):
                begun[0] += 1
                write(begun[0])
                done[0] = begun[0]
        finally:
            ended.set()
            for reader in readers:
                reader.join()
        print(f"{begun[0]} writes, {looks[0]} looks", file=sys.stderr)
        self.assertEqual(wrong, [])
        self.assertGreater(begun[0], 10)

    def test_readers_that_race_with_a_writer_see_what_was_written(self):
        self.a.create("raced", 0o644, b"0" * 20)
        self.race(lambda number: self.a.write("raced", 0, b"%020d" % number), lambda place: int(place.read("raced")), 4)

    def test_sizes_and_times_race(self):
        self.a.create("grown", 0o644, b"")
        self.race(lambda number: self.a.truncate("grown", number), lambda place: place.stat("grown").size, 3)

    def test_names_race(self):
        os.mkdir(self.a.at("raced-names"))
        self.a.create("raced-names/0", 0o644, b"")

        def write(number):
            if number > 0:
                self.a.rename(f"raced-names/{number - 1}", f"raced-names/{number}")

        def read(place):
            while len(names := place.names("raced-names")) != 1:  # a listing while the name changes may have both or none
                pass
            return int(names[0])

        self.race(write, read, 3)

    def test_appends_race(self):
        self.a.create("appended", 0o644, b"")
        file = self.a.open("appended", os.O_WRONLY | os.O_APPEND)
        self.addCleanup(os.close, file)
        self.race(lambda number: number and os.write(file, b"x"), lambda place: len(place.read("appended")), 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
