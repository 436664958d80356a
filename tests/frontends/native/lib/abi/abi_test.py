"""libstoa.so.1 as programs that are built already know it: its name, its symbols, what it needs, and the languages its headers are for.

    abi_test.py LIBRARY

Sizes, values and types are pinned by pinned.cc, when it is compiled.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 5))
HEADERS = os.path.join(TOP, "frontends", "native", "lib")
LIBRARY = sys.argv.pop(1)
LIBRARIES = {"libgssapi_krb5.so.2", "libssl.so.3", "libcrypto.so.3", "libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def committed():
    """name@version of each symbol, from the list that the package brings."""
    with open(os.path.join(TOP, "packaging", "debian", "libstoa1", "symbols"), encoding="utf-8") as file:
        first, *lines = file.read().splitlines()
    assert first.startswith("libstoa.so.1 libstoa1 "), first
    return {line.split()[0] for line in lines}


class AbiTest(unittest.TestCase):
    def dynamic(self, tag):
        return set(re.findall(rf"\({tag}\).*\[(.*)\]", output("readelf", "--dynamic", "--wide", LIBRARY)))

    def test_the_name_has_the_version_of_the_interface(self):
        self.assertEqual(self.dynamic("SONAME"), {"libstoa.so.1"})
        self.assertEqual(self.dynamic("RUNPATH") | self.dynamic("RPATH"), set())

    def test_it_needs_what_every_debian_has(self):
        self.assertLessEqual(self.dynamic("NEEDED"), LIBRARIES)

    def test_the_symbols_are_the_committed_ones_and_nothing_else_is_seen(self):
        found = {line.split()[0].replace("@@", "@") for line in output("nm", "--dynamic", "--defined-only", "--format=posix", LIBRARY).splitlines()}
        self.assertEqual(found - {"STOA_1@STOA_1"}, committed())  # some linkers list the version itself

    def test_each_call_of_the_header_is_a_symbol(self):
        with open(os.path.join(HEADERS, "stoa.h"), encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        calls = set(re.findall(r"^(?:int|int64_t) (stoa_\w+)\(", text, re.M))
        self.assertEqual(calls, {name.split("@")[0] for name in committed()})

    def compiles(self, header, language, standards, compilers):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "source." + language)
            with open(source, "w", encoding="utf-8") as file:
                file.write(f"#include <{header}>\n#include <{header}>\n")
            for standard in standards:
                for compiler in compilers:
                    with self.subTest(header=header, standard=standard, compiler=compiler):
                        done = subprocess.run([compiler, "-std=" + standard, "-pedantic-errors", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-fsyntax-only",
                                               "-I", HEADERS, source], capture_output=True, text=True, check=False)
                        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_headers_need_no_other_and_no_newer_language(self):
        self.compiles("stoa.h", "c", ["c89", "c99", "c17"], ["gcc", "clang-19"])
        self.compiles("stoa.h", "cc", ["c++98", "c++20"], ["g++", "clang++-19"])
        self.compiles("stoa.hpp", "cc", ["c++17", "c++20"], ["g++", "clang++-19"])


if __name__ == "__main__":
    unittest.main()
