"""Small files that a mount reads ahead together: their content, how often the server is asked, and that nothing is stale when another mount writes,
replaces, cuts or removes them meanwhile.
"""

import json
import os
import random
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mounts import TRANSPORTS, MountedCase, seed, transport  # noqa: E402

SIZES = (0, 1, 511, 4095, 4096, 4097, 20_000, 131_073, 262_144, 262_145)  # the last is not small


def content(name, version, size=4096):
    """Tells what it is in each of its parts."""
    stamp = f"{name} {version:08} ".encode()
    return (stamp * (size // len(stamp) + 1))[:size]


def write(path, data, flags=os.O_CREAT):
    file = os.open(path, os.O_WRONLY | flags, 0o644)
    try:
        assert os.pwrite(file, data, 0) == len(data)
    finally:
        os.close(file)


def read(path):
    with open(path, "rb", buffering=0) as file:
        return file.read()


class AheadTest(MountedCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.dice = random.Random(seed())

    def calls(self, mount):
        """Requests of a mount to the server so far."""
        return json.loads(subprocess.run([mount.stoa, "--json", "stats", mount.path], stdout=subprocess.PIPE, check=True).stdout)["calls"]

    def make(self, prefix, directories, count, sizes=(4096,)):
        """Directories that differ by their number, each with these files. Their mount has ended then, so that nobody has leases."""
        maker = self.mount("maker-" + prefix)
        files = {f"f{i:04}": content(f"f{i:04}", 0, sizes[i % len(sizes)]) for i in range(count)}
        for number in range(directories):
            directory = os.path.join(maker.path, f"{prefix}-{number}")
            os.mkdir(directory)
            for name, data in files.items():
                write(os.path.join(directory, name), data)
        maker.end()
        return files

    def read_all(self, reader, directory, known, order):
        """Tells how many requests that took."""
        path = os.path.join(reader.path, directory)
        names = os.listdir(path)
        self.assertEqual(sorted(names), sorted(known))
        if order == "sorted":
            names.sort()
        if order == "mixed":
            self.dice.shuffle(names)
        before = self.calls(reader)
        for name in names:
            self.assertEqual(read(os.path.join(path, name)), known[name], f"{directory}/{name}")
        return self.calls(reader) - before

    def test_content_and_calls(self):
        orders = ("listed", "sorted", "mixed")
        same = self.make("same", len(TRANSPORTS) * len(orders), 1000)
        others = self.make("others", len(TRANSPORTS) * len(orders), 200, SIZES)
        for number, (name, order) in enumerate((name, order) for name in TRANSPORTS for order in orders):
            with transport(name):
                reader = self.mount(f"reader-{number}")
            # Alone, each file is one request. A machine that is busy may miss some of what is read ahead.
            self.assertLess(self.read_all(reader, f"same-{number}", same, order), len(same), f"{name}, {order}")
            self.read_all(reader, f"others-{number}", others, order)
            reader.end()

    def change(self, path, name, version):
        """One of several ways to give a file another content, whole at each moment."""
        way = self.dice.randrange(3)
        data = content(name, version)
        if way == 0:
            write(path, data)
        elif way == 1:
            write(path + ".new", data)
            os.rename(path + ".new", path)
        else:
            write(path + ".new", data)
            os.unlink(path)
            os.link(path + ".new", path)
            os.unlink(path + ".new")

    def race(self, reader, writer, directory, files):
        """One mount reads all files of a directory while another changes some of them."""
        done, begun, wrong = dict.fromkeys(files, 0), dict.fromkeys(files, 0), []
        begins = threading.Event()

        def change_some():
            try:
                begins.wait()
                for version in (1, 2):
                    for name in self.dice.sample(sorted(files), 30):
                        begun[name] = version
                        self.change(os.path.join(writer.path, directory, name), name, version)
                        done[name] = version
            except BaseException as error:  # pylint: disable=broad-except
                wrong.append(repr(error))

        changer = threading.Thread(target=change_some)
        changer.start()
        start = self.dice.randrange(30)
        for number, name in enumerate(sorted(files)):
            if number == start:
                begins.set()
            least = done[name]
            try:
                seen = read(os.path.join(reader.path, directory, name))
            except FileNotFoundError:
                continue  # between its removal and the new link
            if seen not in [content(name, version) for version in range(least, begun[name] + 1)]:
                wrong.append(f"{directory}/{name}: {seen[:24]} of {len(seen)} bytes, {least} was written")
        changer.join()
        for name in files:
            self.assertEqual(read(os.path.join(reader.path, directory, name)), content(name, done[name]), f"{directory}/{name} in the end")
        self.assertEqual(wrong, [])

    def test_nothing_is_stale(self):
        turns = 15
        files = self.make("raced", len(TRANSPORTS) * turns, 120)
        writer = self.mount("writer")
        for number, name in enumerate(TRANSPORTS):
            with transport(name):
                reader = self.mount(f"racing-{number}")
            for turn in range(turns):
                self.race(reader, writer, f"raced-{number * turns + turn}", files)


if __name__ == "__main__":
    unittest.main(verbosity=2)
