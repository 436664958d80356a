"""Objects as boto3 sees them: bytes, headers, ranges, keys, removal."""

import datetime
import os
import unittest

from protocol import MIB, ProtocolTest, md5


class ObjectTest(ProtocolTest):
    def test_round_trip_of_many_sizes(self):
        for size in (0, 1, 4096, 16384, 16385, 65536, MIB - 1, MIB, MIB + 1, 9 * MIB, 20 * MIB + 3):
            data = os.urandom(size)
            put = self.put(f"size-{size}", data)
            self.assertEqual(put["ETag"], f'"{md5(data)}"')
            got = self.s3.get_object(Bucket=self.bucket, Key=f"size-{size}")
            self.assertEqual(got["ContentLength"], size)
            self.assertEqual(got["ETag"], put["ETag"])
            self.assertEqual(md5(got["Body"].read()), md5(data), size)

    def test_headers_and_metadata(self):
        self.put("k", b"x", ContentType="text/plain", ContentEncoding="gzip", ContentDisposition="inline",
                 ContentLanguage="de", CacheControl="no-cache", Expires=datetime.datetime(2030, 1, 1),
                 Metadata={"one": "1", "two-three": "a b"})
        head = self.s3.head_object(Bucket=self.bucket, Key="k")
        self.assertEqual((head["ContentType"], head["ContentEncoding"], head["ContentDisposition"], head["ContentLanguage"],
                          head["CacheControl"]), ("text/plain", "gzip", "inline", "de", "no-cache"))
        self.assertEqual(head["Metadata"], {"one": "1", "two-three": "a b"})
        self.assertEqual(head["Expires"].year, 2030)
        got = self.s3.get_object(Bucket=self.bucket, Key="k", ResponseContentType="a/b", ResponseCacheControl="c",
                                 ResponseContentDisposition="attachment; filename=\"x\"")
        self.assertEqual((got["ContentType"], got["CacheControl"]), ("a/b", "c"))
        self.put("plain", b"x")
        self.assertEqual(self.s3.head_object(Bucket=self.bucket, Key="plain")["ContentType"], "binary/octet-stream")
        self.put("empty", b"x", Metadata={"empty": "", "other": "x"})
        self.assertEqual(self.s3.head_object(Bucket=self.bucket, Key="empty")["Metadata"], {"empty": "", "other": "x"})
        self.refused(400, "MetadataTooLarge", self.s3.put_object, Bucket=self.bucket, Key="k", Metadata={"x": "y" * 2048})

    def test_metadata_that_is_not_ascii(self):
        path = f"/{self.bucket}/k"
        # As http.client sends headers that were signed as UTF-8, and as clients that send UTF-8.
        self.answered(200, "", "PUT", path, headers={"x-amz-meta-m": "W\u00f6rter"})
        self.assertEqual(self.send("GET", path)[1]["x-amz-meta-m"], "W\u00f6rter")
        name = "W\u00f6rter".encode()
        self.answered(200, "", "PUT", path, headers={"x-amz-meta-m": "W\u00f6rter"}, unsigned={"x-amz-meta-m": name})
        self.assertEqual(self.send("GET", path)[1]["x-amz-meta-m"].encode("latin-1"), name)
        for value in ("\u65e5\u672c\u8a9e \U0001f600".encode(), b"tab\tand space", "=?UTF-8?B?w7w=?=".encode()):
            self.answered(200, "", "PUT", path, headers={"x-amz-meta-m": value.decode()}, unsigned={"x-amz-meta-m": value})
            for copy, source in (("copy", "k"), ("k", "k")):
                if copy != source:
                    self.answered(200, "", "PUT", f"/{self.bucket}/{copy}", headers={"x-amz-copy-source": f"{self.bucket}/{source}"})
                for method in ("GET", "HEAD"):
                    got = self.send(method, f"/{self.bucket}/{copy}")[1]["x-amz-meta-m"].encode("latin-1")
                    self.assertEqual(got, value)
        self.answered(403, "SignatureDoesNotMatch", "PUT", path, headers={"x-amz-meta-m": "W\u00f6rter"},
                      unsigned={"x-amz-meta-m": "W\u00e4rter"})

    def test_versions(self):
        self.put("k", b"x")
        for version, status, code in (("null", 200, ""), ("", 400, "InvalidArgument"), ("abc", 400, "InvalidArgument"),
                                      ("3HL4kqtJlcpXroDTDmJ.rmSpXd3dIbrH", 404, "NoSuchVersion")):
            for query in ("versionId", "acl&versionId", "tagging&versionId"):
                self.answered(status, code, "GET", f"/{self.bucket}/k?{query}={version}")
            self.answered(status, code, "PUT", f"/{self.bucket}/copy",
                          headers={"x-amz-copy-source": f"/{self.bucket}/k?versionId={version}"})
            if status != 200:
                self.answered(status, code, "DELETE", f"/{self.bucket}/k?versionId={version}")
                wrong = self.s3.delete_objects(Bucket=self.bucket, Delete={"Objects": [{"Key": "k", "VersionId": version}]})
                self.assertEqual([e["Code"] for e in wrong.get("Errors", [])], [code] if version else [])

    def test_attributes(self):
        self.put("k", b"hello", ChecksumAlgorithm="SHA256")
        every = ["ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"]
        got = self.s3.get_object_attributes(Bucket=self.bucket, Key="k", ObjectAttributes=every)
        self.assertEqual((got["ETag"], got["ObjectSize"], got["StorageClass"]), (md5(b"hello"), 5, "STANDARD"))
        self.assertEqual(got["Checksum"]["ChecksumSHA256"], "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=")
        self.assertNotIn("ObjectParts", got)
        self.assertIn("LastModified", got)
        got = self.s3.get_object_attributes(Bucket=self.bucket, Key="k", ObjectAttributes=["ObjectSize"])
        self.assertEqual({"ETag", "Checksum", "StorageClass"} & set(got), set())
        path = f"/{self.bucket}/k?attributes"
        self.answered(400, "InvalidArgument", "GET", path)
        self.answered(400, "InvalidArgument", "GET", path, headers={"x-amz-object-attributes": "ETag,Colour"})
        self.answered(200, "", "GET", path, headers={"x-amz-object-attributes": "ETag, ObjectSize"})
        self.refused(404, "NoSuchKey", self.s3.get_object_attributes, Bucket=self.bucket, Key="no", ObjectAttributes=every)
        self.refused(403, "AccessDenied", self.alt.get_object_attributes, Bucket=self.bucket, Key="k", ObjectAttributes=every)

    def test_keys_to_what_is_not_encrypted(self):
        self.put("k", b"x")
        for method in ("GET", "HEAD"):
            status, _, text = self.send(method, f"/{self.bucket}/k",
                                        headers={"x-amz-server-side-encryption-customer-algorithm": "AES256"})
            self.assertEqual((status, "<Code>InvalidRequest<" in text), (400, method == "GET"))

    def test_a_body_needs_a_length(self):
        path = f"/{self.bucket}/k"
        self.answered(411, "MissingContentLength", "PUT", path, without=("Content-Length",))
        self.answered(200, "", "PUT", path, body=b"x", unsigned={"Expect": "200"})
        self.answered(200, "", "PUT", path, body=b"x", unsigned={"Expect": ""})

    def test_missing(self):
        for key in ("nothing", "a/b/c", "dir/"):
            self.refused(404, "NoSuchKey", self.s3.get_object, Bucket=self.bucket, Key=key)
            self.refused(404, "404", self.s3.head_object, Bucket=self.bucket, Key=key)
            self.assertEqual(self.s3.delete_object(Bucket=self.bucket, Key=key)["ResponseMetadata"]["HTTPStatusCode"], 204)
        response = self.refused(404, "NoSuchKey", self.s3.get_object, Bucket=self.bucket, Key="nothing")
        self.assertEqual(response["Error"]["Key"], "nothing")
        self.assertEqual(response["ResponseMetadata"]["RequestId"],
                         response["ResponseMetadata"]["HTTPHeaders"]["x-amz-request-id"])
        self.assertTrue(response["ResponseMetadata"]["HostId"])

    def test_ranges(self):
        data = os.urandom(100_000)
        self.put("k", data)
        for header, want in (("bytes=0-0", data[:1]), ("bytes=5-9", data[5:10]), ("bytes=99999-", data[99999:]),
                             ("bytes=-7", data[-7:]), ("bytes=50-1000000", data[50:])):
            got = self.s3.get_object(Bucket=self.bucket, Key="k", Range=header)
            self.assertEqual(got["ResponseMetadata"]["HTTPStatusCode"], 206)
            self.assertEqual(got["Body"].read(), want, header)
            self.assertTrue(got["ContentRange"].endswith("/100000"))
        self.refused(416, "InvalidRange", self.s3.get_object, Bucket=self.bucket, Key="k", Range="bytes=100000-")
        head = self.s3.head_object(Bucket=self.bucket, Key="k", Range="bytes=1-2")
        self.assertEqual((head["ResponseMetadata"]["HTTPStatusCode"], head["ContentLength"]), (206, 2))

    def test_odd_keys(self):
        keys = ["a", "a/b", "a//b", "a/", "/", "//", ".", "..", "../x", "./y", "a/../b", "ü/ß", "sp ace", "plus+", "q?x=1",
                "am&p", "per%cent", "per%2Fcent", "tab\there", "new\nline", "<xml>", "'quote\"", "n" * 255, "n" * 256,
                "x" * 1024, "a/" + "c" * 300 + "/d", "~", "*", "back\\slash", "#hash", "\x7f"]
        for key in keys:
            self.put(key, key.encode())
        for key in keys:
            self.assertEqual(self.get(key), key.encode(), repr(key))
        self.assertEqual(sorted(self.keys()), sorted(keys))
        self.assertEqual(self.keys(), sorted(keys, key=lambda k: k.encode()))
        for key in keys:
            self.s3.delete_object(Bucket=self.bucket, Key=key)
        self.assertEqual(self.keys(), [])
        self.refused(400, "KeyTooLongError", self.s3.put_object, Bucket=self.bucket, Key="k" * 1025)
        self.s3.delete_bucket(Bucket=self.bucket)

    def test_not_implemented_is_not_dropped(self):
        for more in ({"ACL": "public-read"}, {"ServerSideEncryption": "AES256"}, {"Tagging": "a=b"},
                     {"WebsiteRedirectLocation": "/x"}, {"GrantRead": "id=x"}, {"ObjectLockMode": "GOVERNANCE"}):
            self.refused(501, "NotImplemented", self.s3.put_object, Bucket=self.bucket, Key="k", Body=b"x", **more)
        self.refused(400, "InvalidStorageClass", self.s3.put_object, Bucket=self.bucket, Key="k", StorageClass="GLACIER")
        self.assertEqual(self.keys(), [])

    def test_delete_objects(self):
        for i in range(30):
            self.put(f"d/{i}")
        names = [{"Key": f"d/{i}"} for i in range(20)] + [{"Key": "missing"}]
        reply = self.s3.delete_objects(Bucket=self.bucket, Delete={"Objects": names})
        self.assertEqual(len(reply["Deleted"]), 21)
        reply = self.s3.delete_objects(Bucket=self.bucket, Delete={"Objects": [{"Key": "d/20"}], "Quiet": True})
        self.assertNotIn("Deleted", reply)
        self.assertEqual(len(self.keys()), 9)
        self.refused(400, "MalformedXML", self.s3.delete_objects, Bucket=self.bucket,
                     Delete={"Objects": [{"Key": "x"}] * 1001})
        self.s3.delete_objects(Bucket=self.bucket, Delete={"Objects": [{"Key": "d/29", "VersionId": "null"}]})
        self.assertEqual(len(self.keys()), 8)


if __name__ == "__main__":
    unittest.main()
