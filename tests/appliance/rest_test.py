"""The OpenAPI description against a whole server: every operation is called, and what it takes and answers is held to the description."""

import json
import os
import re
import socket
import subprocess
import sys
import unittest
import urllib.error
import urllib.parse
import urllib.request

import yaml

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
METHODS = ("get", "put", "post", "patch", "delete")

# A minimal valid request for each operation that needs more than a path of the volume: (arguments of the path, query, body).
REQUESTS = {
    "start_check": ([], {}, {}),
    "add_token": ([], {}, {"name": "robot", "role": "auditor"}),
    "remove_token": (["robot"], {}, None),
    "add_host_key": ([], {}, {"name": "node1"}),
    "remove_host_key": (["node1"], {}, None),
    "create_user": ([], {}, {"name": "ann"}),
    "get_user": (["ann"], {}, None),
    "change_user": (["ann"], {}, {"groups": [7]}),
    "add_key": (["ann"], {}, {"access_key": "AKEY", "secret_key": "ASECRETKEY"}),
    "list_keys": (["ann"], {}, None),
    "change_key": (["ann", "AKEY"], {}, {"enabled": False}),
    "remove_key": (["ann", "AKEY"], {}, None),
    "remove_user": (["ann"], {}, None),
    "create_group": ([], {}, {"name": "staff"}),
    "remove_group": (["staff"], {}, None),
    "create_export": ([], {}, {"name": "web", "protocols": ["s3"], "create_directory": True}),
    "get_export": (["web"], {}, None),
    "change_export": (["web"], {}, {"read_only": True}),
    "remove_export": (["web"], {}, None),
    "evict_client": (["7"], {}, None),
    "set_quota": ([], {"path": "/place"}, {"bytes": 1000}),
    "set_sealed": ([], {"path": "/place"}, {"sealed": False}),
    "count_owners": ([], {"path": "/counted"}, {"counted": True}),
    "list_owner_quotas": ([], {"path": "/counted"}, None),
    "set_qos_class": ([], {"target": "/place"}, {"read_bytes": 1000000}),
    "get_qos_class": ([], {"target": "/place"}, None),
    "remove_qos_class": ([], {"target": "/place"}, None),
    "set_recycle_policy": ([], {"path": "/place"}, {"days": 3}),
    "purge_recycled": ([], {}, {"path": "/place"}),
    "restore_recycled": ([], {}, {"id": "1-2"}),
    "set_audit_policy": ([], {"path": "/place"}, {"classes": ["write", "admin"]}),
    "query_audit": ([], {}, None),
    "set_acl": ([], {"path": "/place"}, {"chmod": "keep"}),
}
# Operations that must come first; all others come in the order of the description, reading and changing before removing.
ORDER = {"put": 1, "post": 0, "get": 2, "patch": 3, "delete": 4}
FIRST = ["count_owners"]
LAST = ["remove_key", "remove_user"]
# Objects that do not exist here: the answer says so.
ABSENT = ["evict_client", "restore_recycled"]
# The first never ends, and has tests of its own; the names of the second are made by the build.
ELSEWHERE = ["watch", "get_console_asset"]
# Another answer than that of the first call, which other members of the schema belong to.
MORE = [
    ("get", "/v1/quota", {"path": "/counted", "user": "7"}),
    ("get", "/v1/quota", {"path": "/", "user": "7"}),
    ("get", "/v1/explain", {"path": "/place", "user": "demo"}),
    ("get", "/v1/explain", {"path": "/test", "client": "127.0.0.1"}),
    ("get", "/v1/explain", {"path": "/test", "client": "192.0.2.7"}),
    ("get", "/v1/usage", {"path": "/", "children": "true"}),
    ("get", "/v1/directory", {"path": "/", "limit": "1"}),
    ("get", "/v1/stat", {"path": "/test"}),
]


class Strict(yaml.SafeLoader):
    """As YAML says, and not the last of two that have one name."""


def mapping(loader, node):
    names = [key.value for key, _ in node.value]
    for name in names:
        if names.count(name) > 1:
            raise yaml.YAMLError(f"{name} twice, line {node.start_mark.line}")
    return loader.construct_mapping(node, deep=True)


Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)


class Server:
    """tests/serve, without the S3 client that others start it for."""

    def __init__(self, *flags):
        self.process = subprocess.Popen([os.path.join(TOP, "tests", "serve"), "--build", os.environ["STOA_BUILD"], *flags],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.values = {}
        for line in self.process.stdout:
            key, _, value = line.strip().partition("=")
            if key == "READY":
                return
            self.values[key] = value
        raise RuntimeError("tests/serve did not become ready")

    def __getitem__(self, key):
        return self.values["STOA_" + key]

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, method, path, query=None, body=None):
        url = self["ADMIN_URL"] + path + ("?" + urllib.parse.urlencode(query) if query else "")
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Authorization": "Bearer " + self["ADMIN_TOKEN"]}, method=method.upper())
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as reply:
                return reply.status, reply.headers.get("Content-Type"), reply.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers.get("Content-Type"), error.read().decode()


class RestTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(TOP, "frontends", "admin", "openapi.yaml"), encoding="utf-8") as file:
            cls.description = yaml.load(file, Strict)
        cls.server = Server("--engine", "memory")
        cls.addClassCleanup(cls.server.stop)
        for name in ("place", "counted"):
            cls.server.ask("post", "/v1/exports", None, {"name": name, "protocols": ["s3"], "create_directory": True})
        cls.server.ask("post", "/v1/users", None, {"name": "demo"})

    def operations(self):
        found = [(method, path, operation) for path, item in self.description["paths"].items() for method, operation in item.items()
                 if operation["operationId"] not in ELSEWHERE]
        name = lambda one: one[2]["operationId"]
        return sorted(found, key=lambda one: (name(one) not in FIRST, ORDER[one[0]], LAST.index(name(one)) if name(one) in LAST else -1))

    def resolved(self, schema):
        while "$ref" in schema:
            schema = self.description["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        if "allOf" not in schema:
            return schema
        parts = [self.resolved(part) for part in schema["allOf"]]
        return {**parts[0], **{k: v for k, v in schema.items() if k != "allOf"},
                "properties": {name: member for part in parts for name, member in part.get("properties", {}).items()},
                "required": [name for part in parts for name in part.get("required", [])]}

    def hold(self, value, schema, where):
        """What is answered has all that must be there, nothing that is not described, and the types that are."""
        nullable = schema.get("nullable", False)
        schema = self.resolved(schema)
        if value is None:
            self.assertTrue(nullable or schema.get("nullable"), f"{where} is null")
            return
        kind = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}[type(value)]
        self.assertIn(schema["type"], ["number", kind] if kind == "integer" else [kind], where)
        if "enum" in schema:
            self.assertIn(value, schema["enum"], where)
        if kind == "array":
            for number, item in enumerate(value):
                self.hold(item, schema["items"], f"{where}[{number}]")
        if kind == "object" and "properties" in schema:
            for name in schema.get("required", []):
                self.assertIn(name, value, where)
            for name, member in value.items():
                self.assertIn(name, schema["properties"], f"{where}: {value}")
                self.hold(member, schema["properties"][name], f"{where}.{name}")

    def request_for(self, method, operation):
        """The one that is named above; else one that names the place."""
        name = operation["operationId"]
        if name in REQUESTS:
            return REQUESTS[name]
        query, arguments = {}, []
        for parameter in operation.get("parameters", []):
            if parameter["required"]:
                self.assertEqual((parameter["name"], parameter["in"]), ("path", "query"),
                                 f"{name} wants more than a path: add a minimal request to REQUESTS")
                query["path"] = "/place"
        self.assertFalse("requestBody" in operation, f"{name} wants a body: add a minimal request to REQUESTS")
        return arguments, query, None

    def target(self, path, arguments):
        for argument in arguments:
            path = re.sub(r"\{[^}]*\}", urllib.parse.quote(argument, safe=""), path, count=1)
        self.assertNotIn("{", path)
        return path

    def test_every_operation_answers_as_it_is_described(self):
        for method, path, operation in self.operations():
            with self.subTest(operation["operationId"]):
                arguments, query, body = self.request_for(method, operation)
                if operation["operationId"] in ABSENT:
                    status, _, text = self.server.ask(method, self.target(path, arguments), query, body)
                    self.assertEqual(status, 404)
                    self.hold(json.loads(text), {"$ref": "#/components/schemas/Error"}, "error")
                    continue
                status, kind, text = self.server.ask(method, self.target(path, arguments), query, body)
                (expected, reply), = ((code, one) for code, one in operation["responses"].items() if code != "default")
                self.assertEqual(status, int(expected), text)
                if "content" not in reply:
                    self.assertEqual((kind, text), (None, ""))
                    continue
                (media, content), = reply["content"].items()
                self.assertEqual(kind.split(";")[0], media)
                if media == "application/json":
                    self.hold(json.loads(text), content["schema"], operation["operationId"])

    def test_other_answers_of_an_operation_are_described_too(self):
        self.server.ask("put", "/v1/quota/owners", {"path": "/counted"}, {"counted": True})
        self.server.ask("put", "/v1/quota/owners", {"path": "/"}, {"counted": True})  # which is not empty
        self.server.ask("put", "/v1/quota", {"path": "/place"}, {"files": 1000})
        for method, path, query in MORE:
            with self.subTest(path=path, query=query):
                status, _, text = self.server.ask(method, path, query)
                self.assertEqual(status, 200, text)
                reply = self.description["paths"][path][method]["responses"]["200"]
                self.hold(json.loads(text), reply["content"]["application/json"]["schema"], path)

    def test_every_parameter_and_member_that_is_taken_is_described(self):
        """A stranger is refused, and the refusal names all that would be taken."""
        for method, path, operation in self.operations():
            with self.subTest(operation["operationId"]):
                if not path.startswith("/v1/"):
                    continue
                arguments, query, body = self.request_for(method, operation)
                # Of objects that the other tests leave alone.
                where = self.target(path, [{"web": "place", "ann": "demo"}.get(name, name) for name in arguments])
                status, _, text = self.server.ask(method, where, {**query, "surprise": "1"}, body)
                self.assertEqual(status, 400, text)
                message = json.loads(text)["error"]["message"]
                self.assertIn("there is no parameter 'surprise'", message)
                taken = set(message.partition("there are: ")[2].split(", ")) - {""}
                described = {one["name"] for one in operation.get("parameters", []) if one["in"] == "query"}
                self.assertEqual(taken, described)
                if body is None:
                    continue
                status, _, text = self.server.ask(method, where, query, {**body, "surprise": 1})
                self.assertEqual(status, 400, text)
                message = json.loads(text)["error"]["message"]
                self.assertIn("there is no member 'surprise'", message)
                taken = set(message.partition("there are: ")[2].split(", ")) - {""}
                schema = self.resolved(operation["requestBody"]["content"]["application/json"]["schema"])
                self.assertLessEqual(taken, set(schema["properties"]))
                self.assertLessEqual(set(schema.get("required", [])), taken)

    def test_what_must_be_given_must_be_given(self):
        for method, path, operation in self.operations():
            arguments, query, body = self.request_for(method, operation)
            for parameter in operation.get("parameters", []):
                if parameter["in"] == "query" and parameter["required"]:
                    with self.subTest(operation["operationId"]):
                        rest = {name: value for name, value in query.items() if name != parameter["name"]}
                        status, _, text = self.server.ask(method, self.target(path, arguments), rest, body)
                        self.assertEqual(status, 400, text)

    def test_every_operation_has_a_name_a_summary_and_described_errors(self):
        for method, path, operation in self.operations():
            self.assertIn(method, METHODS)
            self.assertTrue(operation["summary"], path)
            self.assertIn("default", operation["responses"], path)
            named = re.findall(r"\{(\w+)\}", path)
            self.assertEqual(named, [one["name"] for one in operation.get("parameters", []) if one["in"] == "path"], path)

    def test_the_command_asks_for_nothing_that_is_not_described(self):
        patterns = [re.sub(r"\{[^}]*\}", "[^/]+", path) + "$" for path in self.description["paths"]]
        folder = os.path.join(TOP, "appliance", "cli")
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            for path in re.findall(r'"(/v1/[^"]*)"', text):
                asked = path + "x" if path.endswith("/") else path
                self.assertTrue(any(re.match(pattern, asked) for pattern in patterns), f"{name}: {path}")

    def test_the_server_bounds_what_it_reads(self):
        host = urllib.parse.urlsplit(self.server["ADMIN_URL"])
        for text, answers in ((f"GET /v1/version HTTP/1.1\r\nHost: x\r\nX-Long: {'x' * (1 << 20)}\r\n\r\n", (b"431", b"413", b"400")),
                              (f"GET /{'x' * (1 << 20)} HTTP/1.1\r\nHost: x\r\n\r\n", (b"414", b"431", b"400"))):
            with socket.create_connection((host.hostname, host.port), timeout=60) as connection:
                try:
                    connection.sendall(text.encode())
                    got = connection.recv(65536)
                except ConnectionError:
                    got = b""  # refused before it was sent whole
                self.assertTrue(not got or got.split()[1] in answers, got[:100])
        self.assertEqual(self.server.ask("get", "/healthz")[0], 200)

    def test_browsers_are_told_to_trust_nothing_from_elsewhere(self):
        request = urllib.request.Request(self.server["ADMIN_URL"] + "/healthz", headers={"Origin": "http://elsewhere.example"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as reply:
            self.assertEqual(reply.headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(reply.headers["X-Frame-Options"], "DENY")
            self.assertIn("default-src 'self'", reply.headers["Content-Security-Policy"])
            self.assertFalse([name for name in reply.headers if name.lower().startswith("access-control-")])


if __name__ == "__main__":
    sys.exit(unittest.main())
