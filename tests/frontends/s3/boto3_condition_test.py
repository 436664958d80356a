"""Conditional requests as boto3 sees them."""

import base64
import datetime
import hashlib
import http.client
import threading
import unittest

import botocore.exceptions

from protocol import ProtocolTest


class ConditionTest(ProtocolTest):
    def test_conditional_reads(self):
        tag = self.put("k", b"x")["ETag"]
        time = self.s3.head_object(Bucket=self.bucket, Key="k")["LastModified"]
        later, earlier = time + datetime.timedelta(seconds=60), time - datetime.timedelta(seconds=60)
        self.assertEqual(self.get("k", IfMatch=tag), b"x")
        self.assertEqual(self.get("k", IfNoneMatch='"other"'), b"x")
        self.assertEqual(self.get("k", IfUnmodifiedSince=later), b"x")
        self.assertEqual(self.get("k", IfModifiedSince=earlier), b"x")
        self.refused(412, "PreconditionFailed", self.s3.get_object, Bucket=self.bucket, Key="k", IfMatch='"other"')
        self.refused(412, "PreconditionFailed", self.s3.get_object, Bucket=self.bucket, Key="k", IfUnmodifiedSince=earlier)
        for condition in ({"IfNoneMatch": tag}, {"IfModifiedSince": time}):
            self.refused(304, "304", self.s3.get_object, Bucket=self.bucket, Key="k", **condition)
            self.refused(304, "304", self.s3.head_object, Bucket=self.bucket, Key="k", **condition)
        self.refused(412, "412", self.s3.head_object, Bucket=self.bucket, Key="k", IfMatch='"other"')

    def conditional_put(self, key, body, **headers):
        def add(request, **_):
            for name, value in headers.items():
                request.headers[name.replace("_", "-")] = value
        client = self.server.client()
        client.meta.events.register("before-sign.s3.PutObject", add)
        return client.put_object(Bucket=self.bucket, Key=key, Body=body)

    def test_conditional_writes(self):
        first = self.conditional_put("k", b"1", If_None_Match="*")
        self.refused(412, "PreconditionFailed", self.conditional_put, key="k", body=b"2", If_None_Match="*")
        self.refused(412, "PreconditionFailed", self.conditional_put, key="k", body=b"2", If_Match='"no"')
        self.refused(404, "NoSuchKey", self.conditional_put, key="missing", body=b"2", If_Match='"no"')
        self.conditional_put("k", b"2", If_Match=first["ETag"])
        self.refused(412, "PreconditionFailed", self.conditional_put, key="k", body=b"3", If_Match=first["ETag"])
        self.assertEqual(self.get("k"), b"2")

    def test_not_modified_tells_the_length_of_what_it_does_not_send(self):
        tag = self.put("k", b"12345")["ETag"]
        for method in ("GET", "HEAD"):
            status, headers, text = self.send(method, f"/{self.bucket}/k", headers={"If-None-Match": tag})
            self.assertEqual((status, headers["ETag"], headers["Content-Length"], text), (304, tag, "5", ""))
        # The connection goes on.
        connection = http.client.HTTPConnection(self.server["S3_URL"].split("//")[1])
        signed = self.signed("GET", f"/{self.bucket}/k", {"If-None-Match": tag}, "UNSIGNED-PAYLOAD")
        for headers, status, body in ((signed, 304, b""), (self.signed("GET", f"/{self.bucket}/k", {}, "UNSIGNED-PAYLOAD"), 200, b"12345"),
                                      (signed, 304, b"")):
            connection.request("GET", f"/{self.bucket}/k", headers=headers)
            reply = connection.getresponse()
            self.assertEqual((reply.status, reply.read()), (status, body))
        connection.close()

    def test_conditional_removal(self):
        path = f"/{self.bucket}/k"
        tag = self.put("k", b"12345")["ETag"]
        modified = self.send("HEAD", path)[1]["Last-Modified"]
        size, time = "x-amz-if-match-size", "x-amz-if-match-last-modified-time"
        for headers in ({"If-Match": '"x"'}, {size: "4"}, {time: "Thu, 01 Jan 1970 00:00:00 GMT"},
                        {"If-Match": tag, size: "4"}, {size: "5", time: "Thu, 01 Jan 1970 00:00:00 GMT"}):
            self.answered(412, "PreconditionFailed", "DELETE", path, headers=headers)
        self.answered(400, "InvalidArgument", "DELETE", path, headers={size: "-1"})
        self.answered(400, "InvalidArgument", "DELETE", path, headers={time: "yesterday"})
        self.assertEqual(self.get("k"), b"12345")
        self.answered(204, "", "DELETE", path, headers={"If-Match": tag, size: "5", time: modified})
        self.assertEqual(self.keys(), [])
        self.answered(204, "", "DELETE", path, headers={"If-Match": tag})

    def test_conditional_removal_of_many(self):
        tag = self.put("k", b"12345")["ETag"]
        path = f"/{self.bucket}?delete"
        for condition, code in (("<ETag>x</ETag>", "PreconditionFailed"), ("<Size>4</Size>", "PreconditionFailed"),
                                ("<Size>many</Size>", "InvalidArgument"),
                                ("<LastModifiedTime>1970-01-01T00:00:00Z</LastModifiedTime>", "PreconditionFailed"),
                                (f"<ETag>{tag}</ETag><Size>5</Size>", "")):
            body = f"<Delete><Object><Key>k</Key>{condition}</Object></Delete>".encode()
            self.answered(200, code, "POST", path, body=body,
                          headers={"Content-MD5": base64.b64encode(hashlib.md5(body).digest()).decode()})
        self.assertEqual(self.keys(), [])

    def test_only_one_of_many_creates_wins(self):
        won = []

        def create(i):
            try:
                self.conditional_put("race", str(i).encode(), If_None_Match="*")
                won.append(i)
            except botocore.exceptions.ClientError as error:
                self.assertEqual(error.response["Error"]["Code"], "PreconditionFailed")
        threads = [threading.Thread(target=create, args=(i,)) for i in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(won), 1)
        self.assertEqual(self.get("race"), str(won[0]).encode())


if __name__ == "__main__":
    unittest.main()
