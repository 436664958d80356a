"""The programs of docs/programmers/libstoa.md, compiled and run as the page says, against a library that is installed.

    tests/cross/with_server documented_programs.py PREFIX

PREFIX is the /usr of the library's packages. A block that begins with a comment that is a file's name is that file; the others are commands, and what they print is behind
them: `# prints: one line | another`. Runs beside a server: library_package_test.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(TOP, "docs", "programmers", "libstoa.md")
STOA = os.path.join(os.environ["STOA_BUILD"], "bin", "stoa")
PREFIX = os.path.abspath(sys.argv.pop(1))
# What the server of this test tells by itself, and where its mount is.
SETTINGS = "export STOA_NATIVE_URL="
MOUNTED = "/mnt/data/"


def blocks(text):
    """Indented lines that follow each other."""
    return [[line[4:] for line in block.splitlines()] for block in re.findall(r"(?:^    .*\n)+", text, re.M)]


class DocumentedProgramsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(PAGE, encoding="utf-8") as file:
            cls.text = file.read()
        cls.folder = tempfile.mkdtemp(prefix="stoa-programs-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        (package,) = [folder for folder, _, files in os.walk(PREFIX) if "stoa.pc" in files]
        cls.environment = {**os.environ, "PKG_CONFIG_PATH": package, "LD_LIBRARY_PATH": os.path.dirname(package)}
        cls.mount = None
        if os.geteuid() == 0 and os.access("/dev/fuse", os.R_OK | os.W_OK):
            cls.mount = os.path.join(cls.folder, "mount")
            os.mkdir(cls.mount)
            subprocess.run([STOA, "mount", cls.mount], check=True, env=cls.environment)
            cls.addClassCleanup(subprocess.run, [STOA, "umount", cls.mount], check=True)

    def run_words(self, *words):
        return subprocess.run(words, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)

    def run_line(self, line):
        command, _, expected = line.partition("# prints: ")
        if MOUNTED in command:
            if self.mount is None:
                return  # compiled all the same
            command = command.replace(MOUNTED, self.mount + "/")
        done = self.run_words("bash", "-ec", command)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.splitlines(), [part.strip() for part in expected.split(" | ")] if expected else [])
        self.assertEqual(done.stderr, "")

    def test_the_programs_do_what_the_page_says(self):
        programs = []
        for block in blocks(self.text):
            name = re.fullmatch(r"/\* (\w+\.c) \*/|// (\w+\.cc)", block[0])
            if name:
                programs.append(name[1] or name[2])
                with open(os.path.join(self.folder, programs[-1]), "w", encoding="utf-8") as file:
                    file.write("\n".join(block) + "\n")
                continue
            for line in block:
                if not line.startswith(SETTINGS):
                    with self.subTest(line=line):
                        self.run_line(line)
        self.assertGreaterEqual(len(programs), 6)
        flags = self.run_words("pkg-config", "--cflags", "stoa").stdout.split()
        for program in programs:
            language = ["cc", "-std=gnu99"] if program.endswith(".c") else ["c++", "-std=c++17"]
            done = self.run_words(*language, "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *flags, program)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_first_program_is_as_short_as_that(self):
        (program,) = [block for block in blocks(self.text) if block[0] == "/* hello.c */"]
        self.assertLessEqual(len(program) - 1, 15)

    def test_the_page_names_each_call(self):
        with open(os.path.join(PREFIX, "include", "stoa.h"), encoding="utf-8") as file:
            calls = set(re.findall(r"^(?:int|int64_t) (stoa_\w+)\(", file.read(), re.M))
        table = self.text[self.text.index("| group | calls |"):].split("\n\n")[0]
        self.assertEqual(set(re.findall(r"`(stoa_\w+)`", table)), calls)

    def test_a_program_is_told_the_version(self):
        with open(os.path.join(TOP, "CMakeLists.txt"), encoding="utf-8") as file:
            version = re.search(r"project\(stoa VERSION (\S+)", file.read())[1]
        self.assertEqual(self.run_words("pkg-config", "--modversion", "stoa").stdout.strip(), version)


if __name__ == "__main__":
    unittest.main()
