"""Every command of README.md and of the manual pages is run, in the order in which it is written, as a user would paste it.

A command is a line of an indented block, or a span between backticks that begins with `stoa` or another program of PROGRAMS. Lines are run by bash, whole;
they must succeed. What cannot be run as it is written is named below, with what is put in its place or where else it is run. A new command
that fails, or that is neither run nor named, fails the test, and so does a name below that the text does not have any more.
"""

import datetime
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ["STOA_BUILD"]
README = os.path.join(TOP, "README.md")
PROGRAMS = ("stoa", "stoad", "mount", "aws", "cat", "git", "apt", "systemctl", "ssh", "./quickstart", "packaging/ensure-build")

# Lines run by another test: the line, the test, and the part of it found there.
ELSEWHERE = {
    "git clone … stoa && cd stoa": ("tests/appliance/quickstart_test", "quickstart"),
    "./quickstart": ("tests/appliance/quickstart_test", '"$top/quickstart" --port-base'),
    "packaging/ensure-build && (cd build/release && cpack)": ("tests/appliance/package_test", "cpack"),
    "apt install ./stoa_*.deb": ("tests/appliance/package_test", "dpkg-deb --extract"),
    "systemctl enable --now stoad": ("tests/appliance/package_test", "systemd-analyze"),
    # The mount itself needs a kernel's client, which the lab has; here its options and its port are looked at.
    "mount -t nfs -o port=20490 127.0.0.1:/demo /mnt/demo": ("tests/vmlab/guest", "mount"),
    "cat /mnt/demo/2026/report.pdf": ("tests/vmlab/guest", "mount"),
    # Needs a kernel that mounts, and the key file.
    "stoa mount --key-file /etc/stoa/host.key stoa://nas.example.org/data /mnt/data ; stoa umount /mnt/data": ("tests/appliance/mount_test.py", '"umount"'),
    "stoa mount -o sec=krb5 stoa://nas.example.org/data /mnt/data": ("tests/appliance/mount_kerberos_test.py", '"sec=krb5"'),
    "ssh -L 9090:127.0.0.1:9090 SERVER": ("README.md", "ssh -L 9090:127.0.0.1:9090 SERVER"),
    "aws s3 presign": ("tests/frontends/s3/cli_test.py", "presign"),
    "aws s3 sync": ("tests/appliance/documented_commands_test.py", '"s3", "sync"'),
}
# Blocks that are no commands, by how their first line begins, and how they are tested.
OTHER_BLOCKS = {"A::OWNER@": "acl", "rule_files:": "yaml"}
# A client has to be there first, which this test has none of.
REFUSALS = {"stoa client list ; stoa client evict 65536": (4, "no client '65536'")}
# Runs until it is ended: the test waits for the first line of its output.
ENDLESS = {"stoa watch /team --json"}


def blocks(text):
    """Indented lines that follow each other, without what is a part of a list."""
    found, block = [], []
    for line in text.split("\n") + [""]:
        if line.startswith("    "):
            block.append(line[4:])
        elif block:
            found.append(block)
            block = []
    return found


def without_comment(line):
    return re.sub(r"\s+# .*$", "", line).strip()


def spans(text):
    """Between backticks, outside of blocks."""
    prose = "\n".join(line for line in text.split("\n") if not line.startswith("    "))
    return re.findall(r"`([^`]+)`", prose)


def manual_examples(page):
    with open(os.path.join(BUILD, "manual", page), encoding="utf-8") as file:
        text = file.read()
    lines = []
    for part in re.findall(r"^\.SH EXAMPLES\n(.*?)(?=^\.SH|\Z)", text, re.M | re.S):
        for listing in re.findall(r"^\.nf\n(.*?)^\.fi", part, re.M | re.S):
            lines += [line.replace("\\-", "-").replace("\\e", "\\") for line in listing.split("\n") if line]
    return lines


class Server:
    """tests/serve, and commands beside it."""

    def __init__(self, *flags):
        self.folder = tempfile.mkdtemp(prefix="stoa-documented-")
        self.process = subprocess.Popen([os.path.join(TOP, "tests", "serve"), "--build", BUILD, "--data", os.path.join(self.folder, "data"), "--keytab", "--", *flags],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.values = {}
        for line in self.process.stdout:
            if line == "READY\n":
                break
            name, value = line.rstrip("\n").split("=", 1)
            self.values[name] = value
        else:
            raise RuntimeError("tests/serve did not start")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("STOA_", "XDG_", "AWS_"))}
        self.environment.update(PATH=os.path.join(BUILD, "bin") + ":" + os.environ["PATH"], HOME=self.folder, STOA_DATA=self.values["STOA_DATA"],
                                AWS_ACCESS_KEY_ID=self.values["STOA_S3_ACCESS_KEY"], AWS_SECRET_ACCESS_KEY=self.values["STOA_S3_SECRET_KEY"],
                                AWS_DEFAULT_REGION=self.values["STOA_S3_REGION"], NO_PROXY="*")

    def stop(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        shutil.rmtree(self.folder)

    def run(self, line):
        return subprocess.run(["bash", "-ec", line], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)

    def must(self, line):
        done = self.run(line)
        if done.returncode != 0:
            raise AssertionError(f"{line}: exit code {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def aws(self, *words):
        return self.must(" ".join(["aws", "--endpoint-url", self.values["STOA_S3_URL"], *words]))

    def first_line(self, line):
        process = subprocess.Popen(["bash", "-c", "exec " + line], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        try:
            return process.stdout.readline()
        finally:
            process.kill()
            process.stdout.close()
            process.wait()


class DocumentedCommandsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(README, encoding="utf-8") as file:
            cls.text = file.read()
        cls.files = tempfile.mkdtemp(prefix="stoa-documented-files-")
        cls.addClassCleanup(shutil.rmtree, cls.files)
        cls.certificate, cls.key = (os.path.join(cls.files, name) for name in ("ca.pem", "key.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=nas",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", cls.key, "-out", cls.certificate], check=True, capture_output=True)
        cls.server = Server("--admin-tls-certificate", cls.certificate, "--admin-tls-key", cls.key)
        cls.addClassCleanup(cls.server.stop)
        shutil.copy(cls.certificate, os.path.join(cls.server.folder, "ca.pem"))
        # Things that README expects of the reader.
        for name in ("home", "scratch", "db"):
            cls.server.must(f"stoa export create {name} --create --protocol nfs --client 127.0.0.1")
        cls.server.must("stoa export create ann-home --path /home/ann --create --client 127.0.0.1")
        cls.server.must("echo report > report.pdf")
        cls.used = set()

    # --- preconditions of commands, and values in place of the reader's own ---

    def before(self, line):
        if line.startswith("stoa ls -l /team"):
            self.server.must("stoa export create upload --path /team --protocol s3 --owner root")
            for name in ("a", "report.pdf", "gone"):
                self.server.aws("s3", "cp", "report.pdf", f"s3://upload/{name}")
        if line.startswith("stoa recycle list"):
            self.server.aws("s3", "rm", "s3://upload/gone")

    def replaced(self, line):
        """The line as it is run, with the reader's own names, addresses and times."""
        def replace(what, by):
            nonlocal line
            if what in line:
                self.used.add(what)
                line = line.replace(what, by() if callable(by) else by)
        replace("2026-11-22", lambda: datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"))
        replace("1042-2077", lambda: json.loads(self.server.must("stoa recycle list /team --json"))["items"][0]["id"])
        replace("stoa_…", lambda: json.loads(self.server.must("stoa token add reader --role auditor --json"))["token"])
        replace("https://nas.example.org:9090", self.server.values["STOA_ADMIN_URL"])
        replace("http://127.0.0.1:20491", self.server.values["STOA_S3_URL"])
        replace("s3://demo/", "s3://test/")
        return line

    def run_line(self, line):
        if line in ELSEWHERE:
            self.used.add(line)
            test, words = ELSEWHERE[line]
            with open(os.path.join(TOP, test), encoding="utf-8") as file:
                self.assertIn(words, file.read(), f"{line}: it is said to be run by {test}")
            return
        self.before(line)
        asked = self.replaced(line)
        if line in ENDLESS:
            self.used.add(line)
            self.assertTrue(self.server.first_line(asked), line)
            return
        done = self.server.run(asked)
        code, words = REFUSALS.get(line, (0, ""))
        if line in REFUSALS:
            self.used.add(line)
        self.assertEqual(done.returncode, code, f"{line}\n{done.stdout}{done.stderr}")
        self.assertIn(words, done.stdout + done.stderr, line)

    def test_readme(self):
        for block in blocks(self.text):
            kind = next((kind for begin, kind in OTHER_BLOCKS.items() if block[0].startswith(begin)), None)
            if kind == "acl":
                with open(os.path.join(self.server.folder, "entries"), "w", encoding="utf-8") as file:
                    file.write("\n".join(without_comment(line) for line in block) + "\n")
                self.server.must("stoa acl set /scratch entries")
            elif kind == "yaml":
                import yaml  # Debian's, as for the test of the REST interface
                self.assertIn("scrape_configs", yaml.safe_load("\n".join(block)))
            else:
                for line in block:
                    with self.subTest(line=line):
                        self.run_line(without_comment(line))
        for span in spans(self.text):
            if span.split()[0] not in PROGRAMS:
                continue
            with self.subTest(span=span):
                self.run_span(span)
        for named in [*ELSEWHERE, *REFUSALS, *ENDLESS]:
            self.assertIn(named, self.used, "it is not in README.md any more")

    def run_span(self, span):
        if span in ELSEWHERE:
            return self.run_line(span)
        # The name of a command, or of an option of it, in a sentence: it must exist.
        if re.fullmatch(r"stoad?( [a-z][a-z-]*)*( --[a-z-]+)?", span):
            command, _, option = span.partition(" --")
            shown = self.server.must(command + " --help")
            return self.assertIn("--" + option if option else "sage", shown)
        for placeholder, by in {"NAME": "example", "DIR": "/team", "POLICY": "keep", "SHELL": "bash", "PATH": "/team",
                                "ADDRESS": "10.1.2.3", "FILE": os.path.join(self.files, "stoad.toml")}.items():
            span = re.sub(rf"\b{placeholder}\b", by, span)
        if "stoad.toml" in span:
            with open(os.path.join(self.files, "stoad.toml"), "w", encoding="utf-8") as file:
                file.write(self.server.must("stoad --print-example-config"))
            span += " --check-config"
        if span.startswith("stoa export create"):
            span += " --client 127.0.0.1"
        return self.run_line(span)

    def test_mount_line_fits_what_quickstart_serves(self):
        line = next(line for line in ELSEWHERE if line.startswith("mount"))
        port = re.search(r"port=(\d+)", line).group(1)
        with open(os.path.join(TOP, "quickstart"), encoding="utf-8") as file:
            quickstart = file.read()
        self.assertIn(f"port_base={port}\n", quickstart)
        self.assertIn(f"127.0.0.1:{int(port) + 1}", self.text)  # S3 of the next line

    def test_copy_through_a_protocol(self):
        self.server.aws("s3", "sync", "s3://test", "copy")

    def test_examples_of_the_manual(self):
        lines = manual_examples("stoa.1")
        self.assertTrue(lines)
        server = Server()
        self.addCleanup(server.stop)
        for line in lines:
            with self.subTest(line=line):
                server.must(line)


if __name__ == "__main__":
    unittest.main()
