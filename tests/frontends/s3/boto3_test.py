"""The S3 door as boto3 sees it: each operation of the door, and the errors that the API reference lists for it."""

import base64
import datetime
import hashlib
import os
import threading
import unittest
import urllib.error
import urllib.request
import zlib

import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials

from door import DoorTest

MIB = 1 << 20


def md5(data):
    return hashlib.md5(data).hexdigest()


class BucketTest(DoorTest):
    def test_list_head_location(self):
        names = [b["Name"] for b in self.s3.list_buckets()["Buckets"]]
        self.assertIn(self.bucket, names)
        self.assertNotIn(self.bucket, [b["Name"] for b in self.alt.list_buckets()["Buckets"]])
        self.assertEqual(self.s3.head_bucket(Bucket=self.bucket)["ResponseMetadata"]["HTTPStatusCode"], 200)
        self.assertIsNone(self.s3.get_bucket_location(Bucket=self.bucket)["LocationConstraint"])
        self.refused(404, "404", self.s3.head_bucket, Bucket="no-such-bucket")
        self.refused(404, "NoSuchBucket", self.s3.list_objects_v2, Bucket="no-such-bucket")

    def test_create_twice(self):
        self.refused(409, "BucketAlreadyOwnedByYou", self.s3.create_bucket, Bucket=self.bucket)
        self.refused(409, "BucketAlreadyExists", self.alt.create_bucket, Bucket=self.bucket)

    def test_bad_names(self):
        for name in ("ab", "Upper", "192.168.1.1", "under_score", "a..b", "-abc"):
            client = self.server.client()
            client.meta.events.unregister("before-parameter-build.s3", None)
            try:
                self.refused(400, "InvalidBucketName", self.s3.create_bucket, Bucket=name)
            except botocore.exceptions.ParamValidationError:
                pass

    def test_delete(self):
        self.put("k")
        self.refused(409, "BucketNotEmpty", self.s3.delete_bucket, Bucket=self.bucket)
        self.s3.delete_object(Bucket=self.bucket, Key="k")
        self.s3.create_multipart_upload(Bucket=self.bucket, Key="never-finished")
        self.refused(403, "AccessDenied", self.alt.delete_bucket, Bucket=self.bucket)
        self.s3.delete_bucket(Bucket=self.bucket)
        self.refused(404, "NoSuchBucket", self.s3.delete_bucket, Bucket=self.bucket)
        self.s3.create_bucket(Bucket=self.bucket)
        self.assertEqual(self.keys(), [])
        self.assertNotIn("Uploads", self.s3.list_multipart_uploads(Bucket=self.bucket))

    def test_private_to_its_owner(self):
        self.put("k", b"secret")
        for call, arguments in ((self.alt.get_object, {"Key": "k"}), (self.alt.list_objects_v2, {}),
                                (self.alt.put_object, {"Key": "x"}), (self.alt.delete_object, {"Key": "k"}),
                                (self.alt.list_multipart_uploads, {}), (self.alt.get_bucket_acl, {}),
                                (self.alt.create_multipart_upload, {"Key": "x"})):
            self.refused(403, "AccessDenied", call, Bucket=self.bucket, **arguments)
        self.refused(403, "403", self.alt.head_bucket, Bucket=self.bucket)
        self.assertEqual(self.get("k"), b"secret")

    def test_a_user_has_buckets_of_its_own(self):
        self.alt.create_bucket(Bucket="alt-own")
        self.alt.put_object(Bucket="alt-own", Key="k/l", Body=b"x")
        self.assertEqual(self.alt.get_object(Bucket="alt-own", Key="k/l")["Body"].read(), b"x")
        self.assertEqual([b["Name"] for b in self.alt.list_buckets()["Buckets"] if b["Name"] == "alt-own"], ["alt-own"])

    def test_configurations_are_absent(self):
        self.assertNotIn("Status", self.s3.get_bucket_versioning(Bucket=self.bucket))
        self.refused(404, "NoSuchBucketPolicy", self.s3.get_bucket_policy, Bucket=self.bucket)
        self.refused(404, "NoSuchLifecycleConfiguration", self.s3.get_bucket_lifecycle_configuration, Bucket=self.bucket)
        self.refused(404, "NoSuchTagSet", self.s3.get_bucket_tagging, Bucket=self.bucket)
        self.refused(404, "NoSuchCORSConfiguration", self.s3.get_bucket_cors, Bucket=self.bucket)
        self.refused(501, "NotImplemented", self.s3.put_bucket_versioning, Bucket=self.bucket,
                     VersioningConfiguration={"Status": "Enabled"})
        self.refused(501, "NotImplemented", self.s3.put_bucket_acl, Bucket=self.bucket, ACL="public-read")
        grants = self.s3.get_bucket_acl(Bucket=self.bucket)["Grants"]
        self.assertEqual([g["Permission"] for g in grants], ["FULL_CONTROL"])


class ObjectTest(DoorTest):
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
        self.refused(400, "MetadataTooLarge", self.s3.put_object, Bucket=self.bucket, Key="k", Metadata={"x": "y" * 2048})

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

    def test_checksums(self):
        data = b"hello world"
        for algorithm, value in (("CRC32", base64.b64encode(zlib.crc32(data).to_bytes(4, "big")).decode()),
                                 ("SHA1", base64.b64encode(hashlib.sha1(data).digest()).decode()),
                                 ("SHA256", base64.b64encode(hashlib.sha256(data).digest()).decode())):
            put = self.put("k", data, **{"Checksum" + algorithm: value})
            self.assertEqual(put["Checksum" + algorithm], value)
            head = self.s3.head_object(Bucket=self.bucket, Key="k", ChecksumMode="ENABLED")
            self.assertEqual(head["Checksum" + algorithm], value)
            self.assertNotIn("Checksum" + algorithm, self.s3.head_object(Bucket=self.bucket, Key="k"))
            bad = base64.b64encode(b"\0" * len(base64.b64decode(value))).decode()
            self.refused(400, "BadDigest", self.s3.put_object, Bucket=self.bucket, Key="k", Body=data,
                         **{"Checksum" + algorithm: bad})
            self.refused(400, "InvalidRequest", self.s3.put_object, Bucket=self.bucket, Key="k", Body=data,
                         **{"Checksum" + algorithm: "short"})
        self.assertEqual(self.get("k", ChecksumMode="ENABLED"), data)

    def test_content_md5(self):
        self.put("k", b"x", ContentMD5=base64.b64encode(hashlib.md5(b"x").digest()).decode())
        self.refused(400, "BadDigest", self.s3.put_object, Bucket=self.bucket, Key="k", Body=b"y",
                     ContentMD5=base64.b64encode(hashlib.md5(b"x").digest()).decode())
        self.refused(400, "InvalidDigest", self.s3.put_object, Bucket=self.bucket, Key="k", Body=b"y", ContentMD5="bad")
        self.assertEqual(self.get("k"), b"x")

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

    def test_copy(self):
        source = {"Bucket": self.bucket, "Key": "src dir/ü"}
        data = os.urandom(3 * MIB)
        self.put(source["Key"], data, ContentType="a/b", Metadata={"m": "1"})
        tag = self.s3.copy_object(Bucket=self.bucket, Key="copy", CopySource=source)["CopyObjectResult"]["ETag"]
        self.assertEqual(tag, f'"{md5(data)}"')
        head = self.s3.head_object(Bucket=self.bucket, Key="copy")
        self.assertEqual((head["ContentType"], head["Metadata"]), ("a/b", {"m": "1"}))
        self.assertEqual(self.get("copy"), data)
        self.s3.copy_object(Bucket=self.bucket, Key="copy", CopySource=source, MetadataDirective="REPLACE",
                            Metadata={"n": "2"}, ContentType="c/d")
        head = self.s3.head_object(Bucket=self.bucket, Key="copy")
        self.assertEqual((head["ContentType"], head["Metadata"]), ("c/d", {"n": "2"}))
        self.refused(400, "InvalidRequest", self.s3.copy_object, Bucket=self.bucket, Key=source["Key"], CopySource=source)
        self.s3.copy_object(Bucket=self.bucket, Key=source["Key"], CopySource=source, MetadataDirective="REPLACE",
                            Metadata={"own": "3"})
        head = self.s3.head_object(Bucket=self.bucket, Key=source["Key"])
        self.assertEqual((head["Metadata"], head["ETag"]), ({"own": "3"}, tag))
        self.assertEqual(self.get(source["Key"]), data)
        self.refused(404, "NoSuchKey", self.s3.copy_object, Bucket=self.bucket, Key="x",
                     CopySource={"Bucket": self.bucket, "Key": "none"})
        self.refused(404, "NoSuchBucket", self.s3.copy_object, Bucket=self.bucket, Key="x",
                     CopySource={"Bucket": "no-such-bucket", "Key": "none"})
        self.refused(412, "PreconditionFailed", self.s3.copy_object, Bucket=self.bucket, Key="x", CopySource=source,
                     CopySourceIfMatch='"x"')
        self.refused(412, "PreconditionFailed", self.s3.copy_object, Bucket=self.bucket, Key="x", CopySource=source,
                     CopySourceIfNoneMatch=tag)
        self.refused(400, "InvalidArgument", self.s3.copy_object, Bucket=self.bucket, Key="x", CopySource=source,
                     MetadataDirective="KEEP")


class ListTest(DoorTest):
    def setUp(self):
        super().setUp()
        for key in ("a", "b/1", "b/2", "b/c/3", "d", "e/4", "f"):
            self.put(key, b"x")

    def listed(self, **more):
        reply = self.s3.list_objects_v2(Bucket=self.bucket, **more)
        return ([c["Key"] for c in reply.get("Contents", [])], [p["Prefix"] for p in reply.get("CommonPrefixes", [])])

    def test_prefix_and_delimiter(self):
        self.assertEqual(self.listed(Delimiter="/"), (["a", "d", "f"], ["b/", "e/"]))
        self.assertEqual(self.listed(Delimiter="/", Prefix="b/"), (["b/1", "b/2"], ["b/c/"]))
        self.assertEqual(self.listed(Prefix="b/c/"), (["b/c/3"], []))
        self.assertEqual(self.listed(Delimiter="/c/"), (["a", "b/1", "b/2", "d", "e/4", "f"], ["b/c/"]))
        self.assertEqual(self.listed(Delimiter="", Prefix="e"), (["e/4"], []))
        self.assertEqual(self.listed(StartAfter="b/2"), (["b/c/3", "d", "e/4", "f"], []))
        self.assertEqual(self.listed(Prefix="zzz"), ([], []))

    def test_pages_give_everything_once(self):
        for delimiter in ("", "/"):
            for size in (1, 2, 3, 1000):
                found, prefixes, token = [], [], None
                while True:
                    more = {"ContinuationToken": token} if token else {}
                    reply = self.s3.list_objects_v2(Bucket=self.bucket, Delimiter=delimiter, MaxKeys=size, **more)
                    self.assertLessEqual(reply["KeyCount"], size)
                    found += [c["Key"] for c in reply.get("Contents", [])]
                    prefixes += [p["Prefix"] for p in reply.get("CommonPrefixes", [])]
                    if not reply["IsTruncated"]:
                        break
                    token = reply["NextContinuationToken"]
                self.assertEqual((found, prefixes), self.listed(Delimiter=delimiter))

    def test_version_1_markers(self):
        reply = self.s3.list_objects(Bucket=self.bucket, Delimiter="/", MaxKeys=2)
        self.assertEqual(reply["NextMarker"], "b/")
        reply = self.s3.list_objects(Bucket=self.bucket, Delimiter="/", Marker="b/")
        self.assertEqual([c["Key"] for c in reply["Contents"]], ["d", "f"])
        self.assertEqual([p["Prefix"] for p in reply["CommonPrefixes"]], ["e/"])
        self.assertIn("Owner", reply["Contents"][0])
        self.assertNotIn("NextMarker", self.s3.list_objects(Bucket=self.bucket, MaxKeys=2))

    def test_max_keys(self):
        reply = self.s3.list_objects_v2(Bucket=self.bucket, MaxKeys=0)
        self.assertEqual((reply["KeyCount"], reply["IsTruncated"], reply["MaxKeys"]), (0, False, 0))
        self.assertEqual(self.s3.list_objects_v2(Bucket=self.bucket, MaxKeys=5000)["MaxKeys"], 1000)
        self.refused(400, "InvalidArgument", self.s3.list_objects_v2, Bucket=self.bucket, MaxKeys=-1)
        self.refused(400, "InvalidArgument", self.s3.list_objects_v2, Bucket=self.bucket, ContinuationToken="?!")
        self.refused(400, "InvalidArgument", self.s3.list_objects_v2, Bucket=self.bucket, EncodingType="base64")
        reply = self.s3.list_objects_v2(Bucket=self.bucket, FetchOwner=True, MaxKeys=1)
        self.assertEqual(reply["Contents"][0]["Owner"]["ID"], "root")

    def test_tokens_that_were_never_given_out(self):
        token = self.s3.list_objects_v2(Bucket=self.bucket, MaxKeys=2)["NextContinuationToken"]
        changed = base64.b64encode(base64.b64decode(token)[:-1] + b"?").decode()
        for wrong in ("b", "abcd", "AAAA", "AAAAAA==", token[4:], token * 2, changed, base64.b64encode(b"b/1").decode(),
                      base64.b64encode(os.urandom(2000)).decode(), "%00", "\u00fc", " " + token):
            with self.subTest(wrong):
                self.refused(400, "InvalidArgument", self.s3.list_objects_v2, Bucket=self.bucket, ContinuationToken=wrong)
        reply = self.s3.list_objects_v2(Bucket=self.bucket, ContinuationToken=token)
        self.assertEqual([c["Key"] for c in reply["Contents"]], ["b/2", "b/c/3", "d", "e/4", "f"])

    def test_versions_of_an_unversioned_bucket(self):
        reply = self.s3.list_object_versions(Bucket=self.bucket)
        self.assertEqual([v["VersionId"] for v in reply["Versions"]], ["null"] * 7)
        self.assertTrue(all(v["IsLatest"] for v in reply["Versions"]))


class MultipartTest(DoorTest):
    def start(self, key="big", **more):
        return self.s3.create_multipart_upload(Bucket=self.bucket, Key=key, **more)["UploadId"]

    def part(self, upload, number, data, key="big", **more):
        reply = self.s3.upload_part(Bucket=self.bucket, Key=key, UploadId=upload, PartNumber=number, Body=data, **more)
        return {"PartNumber": number, "ETag": reply["ETag"], **{k: v for k, v in reply.items() if k.startswith("Checksum")}}

    def complete(self, upload, parts, key="big", **more):
        return self.s3.complete_multipart_upload(Bucket=self.bucket, Key=key, UploadId=upload,
                                                 MultipartUpload={"Parts": parts}, **more)

    def test_upload(self):
        pieces = [os.urandom(5 * MIB), os.urandom(6 * MIB), os.urandom(10)]
        upload = self.start(ContentType="x/y", Metadata={"a": "b"})
        parts = [self.part(upload, n, piece) for n, piece in zip((1, 3, 10000), pieces)]
        self.assertEqual(self.keys(), [])
        done = self.complete(upload, parts)
        tag = md5(b"".join(hashlib.md5(p).digest() for p in pieces)) + "-3"
        self.assertEqual(done["ETag"], f'"{tag}"')
        got = self.s3.get_object(Bucket=self.bucket, Key="big")
        self.assertEqual((got["ETag"], got["ContentType"], got["Metadata"]), (f'"{tag}"', "x/y", {"a": "b"}))
        self.assertEqual(md5(got["Body"].read()), md5(b"".join(pieces)))
        whole = b"".join(pieces)
        self.assertEqual(self.get("big", Range=f"bytes={5 * MIB - 10}-{5 * MIB + 9}"), whole[5 * MIB - 10:5 * MIB + 10])
        second = self.s3.get_object(Bucket=self.bucket, Key="big", PartNumber=2)
        self.assertEqual(second["PartsCount"], 3)
        self.assertEqual(md5(second["Body"].read()), md5(pieces[1]))
        self.refused(416, "416", self.s3.head_object, Bucket=self.bucket, Key="big", PartNumber=4)
        self.refused(404, "NoSuchUpload", self.complete, upload=upload, parts=parts)
        self.refused(404, "NoSuchUpload", self.part, upload=upload, number=1, data=b"x")

    def test_bad_completions(self):
        upload = self.start()
        small = self.part(upload, 1, b"x")
        last = self.part(upload, 2, b"y")
        self.refused(400, "EntityTooSmall", self.complete, upload=upload, parts=[small, last])
        self.refused(400, "InvalidPartOrder", self.complete, upload=upload, parts=[last, small])
        self.refused(400, "InvalidPart", self.complete, upload=upload, parts=[{"PartNumber": 3, "ETag": last["ETag"]}])
        self.refused(400, "InvalidPart", self.complete, upload=upload, parts=[{"PartNumber": 2, "ETag": small["ETag"]}])
        self.refused(400, "MalformedXML", self.complete, upload=upload, parts=[])
        self.refused(404, "NoSuchUpload", self.complete, upload="x" + upload[1:], parts=[last])
        self.refused(404, "NoSuchUpload", self.complete, upload=upload, parts=[last], key="other")
        self.complete(upload, [last])
        self.assertEqual(self.get("big"), b"y")

    def test_replaced_part_and_replaced_object(self):
        self.put("big", b"old")
        upload = self.start()
        self.part(upload, 1, b"first")
        again = self.part(upload, 1, b"second")
        self.complete(upload, [again])
        self.assertEqual(self.get("big"), b"second")

    def test_part_numbers(self):
        upload = self.start()
        for number in (0, 10001):
            self.refused(400, "InvalidArgument", self.part, upload=upload, number=number, data=b"x")

    def test_list_and_abort(self):
        upload = self.start()
        for n in range(1, 6):
            self.part(upload, n, b"x" * n)
        reply = self.s3.list_parts(Bucket=self.bucket, Key="big", UploadId=upload, MaxParts=2)
        self.assertEqual(([p["Size"] for p in reply["Parts"]], reply["NextPartNumberMarker"], reply["IsTruncated"]),
                         ([1, 2], 2, True))
        reply = self.s3.list_parts(Bucket=self.bucket, Key="big", UploadId=upload, PartNumberMarker=2)
        self.assertEqual([p["PartNumber"] for p in reply["Parts"]], [3, 4, 5])
        self.s3.abort_multipart_upload(Bucket=self.bucket, Key="big", UploadId=upload)
        self.refused(404, "NoSuchUpload", self.s3.list_parts, Bucket=self.bucket, Key="big", UploadId=upload)
        self.refused(404, "NoSuchUpload", self.s3.abort_multipart_upload, Bucket=self.bucket, Key="big", UploadId=upload)
        self.assertEqual(self.keys(), [])

    def test_list_uploads(self):
        ids = {key: self.start(key) for key in ("a/1", "a/2", "b", "c/3")}
        twice = sorted([ids["b"], self.start("b")])
        reply = self.s3.list_multipart_uploads(Bucket=self.bucket)
        self.assertEqual([u["Key"] for u in reply["Uploads"]], ["a/1", "a/2", "b", "b", "c/3"])
        reply = self.s3.list_multipart_uploads(Bucket=self.bucket, Delimiter="/")
        self.assertEqual([u["UploadId"] for u in reply["Uploads"]], twice)
        self.assertEqual([p["Prefix"] for p in reply["CommonPrefixes"]], ["a/", "c/"])
        self.assertEqual([u["Key"] for u in self.s3.list_multipart_uploads(Bucket=self.bucket, Prefix="a/")["Uploads"]],
                         ["a/1", "a/2"])
        seen, more = [], {}
        while True:
            reply = self.s3.list_multipart_uploads(Bucket=self.bucket, MaxUploads=1, **more)
            seen += [(u["Key"], u["UploadId"]) for u in reply["Uploads"]]
            if not reply["IsTruncated"]:
                break
            more = {"KeyMarker": reply["NextKeyMarker"], "UploadIdMarker": reply["NextUploadIdMarker"]}
        self.assertEqual(len(set(seen)), 5)

    def test_copied_parts(self):
        data = os.urandom(11 * MIB)
        self.put("src", data)
        upload = self.start()
        source = {"Bucket": self.bucket, "Key": "src"}
        tags = []
        for n, span in ((1, f"bytes=0-{6 * MIB - 1}"), (2, f"bytes={6 * MIB}-{11 * MIB - 1}")):
            reply = self.s3.upload_part_copy(Bucket=self.bucket, Key="big", UploadId=upload, PartNumber=n, CopySource=source,
                                             CopySourceRange=span)
            tags.append({"PartNumber": n, "ETag": reply["CopyPartResult"]["ETag"]})
        self.refused(416, "InvalidRange", self.s3.upload_part_copy, Bucket=self.bucket, Key="big", UploadId=upload,
                     PartNumber=3, CopySource=source, CopySourceRange=f"bytes=0-{11 * MIB}")
        self.complete(upload, tags)
        self.assertEqual(md5(self.get("big")), md5(data))

    def test_checksums(self):
        for algorithm in ("SHA256", "CRC32"):
            upload = self.start(ChecksumAlgorithm=algorithm)
            parts = [self.part(upload, n, piece, ChecksumAlgorithm=algorithm)
                     for n, piece in ((1, b"a" * 5 * MIB), (2, b"b"))]
            done = self.complete(upload, parts)
            self.assertTrue(done["Checksum" + algorithm].endswith("-2"))
            head = self.s3.head_object(Bucket=self.bucket, Key="big", ChecksumMode="ENABLED")
            self.assertEqual(head["Checksum" + algorithm], done["Checksum" + algorithm])
        upload = self.start(ChecksumAlgorithm="CRC32")
        self.refused(400, "InvalidRequest", self.part, upload=upload, number=1, data=b"x", ChecksumAlgorithm="SHA1")


class AuthenticationTest(DoorTest):
    def fetch(self, url, method="GET", headers=None, data=None):
        try:
            with urllib.request.urlopen(urllib.request.Request(url, data, headers or {}, method=method)) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def test_anonymous_and_unknown(self):
        url = f"{self.server['S3_URL']}/{self.bucket}"
        status, body = self.fetch(url)
        self.assertEqual(status, 403)
        self.assertIn("<Code>AccessDenied</Code>", body)
        self.assertIn(f"<Resource>/{self.bucket}</Resource>", body)
        stranger = self.server.client()
        stranger._request_signer._credentials = botocore.credentials.Credentials("AKIDUNKNOWN", "x")
        self.refused(403, "InvalidAccessKeyId", stranger.list_buckets)
        stranger._request_signer._credentials = botocore.credentials.Credentials(self.server["S3_ACCESS_KEY"], "wrong")
        self.refused(403, "SignatureDoesNotMatch", stranger.list_buckets)

    def test_version_2_is_refused(self):
        old = self.server.client(signature_version="s3")
        self.refused(400, "InvalidRequest", old.list_buckets)

    def test_presigned(self):
        self.put("k ü", b"data")
        arguments = {"Bucket": self.bucket, "Key": "k ü"}
        signer = self.server.client(signature_version="s3v4")  # this boto3 presigns with version 2 unless told
        self.assertEqual(self.fetch(signer.generate_presigned_url("get_object", arguments, ExpiresIn=60)), (200, "data"))
        url = signer.generate_presigned_url("put_object", {"Bucket": self.bucket, "Key": "new"}, ExpiresIn=60)
        self.assertEqual(self.fetch(url, "PUT", data=b"sent")[0], 200)
        self.assertEqual(self.get("new"), b"sent")
        status, body = self.fetch(url, "GET")
        self.assertEqual(status, 403)
        self.assertIn("SignatureDoesNotMatch", body)

    def signed(self, method, path, headers, body_hash, when=None):
        request = botocore.awsrequest.AWSRequest(method, self.server["S3_URL"] + path, dict(headers))
        request.headers["X-Amz-Content-SHA256"] = body_hash
        credentials = botocore.credentials.Credentials(self.server["S3_ACCESS_KEY"], self.server["S3_SECRET_KEY"])
        signer = botocore.auth.S3SigV4Auth(credentials, "s3", "us-east-1")
        signer.payload = lambda _: body_hash
        if when is None:
            signer.add_auth(request)
        else:
            real = botocore.auth.datetime.datetime
            class Fixed(real):
                @classmethod
                def utcnow(cls):
                    return when
            botocore.auth.datetime.datetime = Fixed
            try:
                signer.add_auth(request)
            finally:
                botocore.auth.datetime.datetime = real
        return dict(request.headers.items())

    def test_payload_hash_is_verified(self):
        path = f"/{self.bucket}/k"
        headers = self.signed("PUT", path, {}, hashlib.sha256(b"right").hexdigest())
        status, body = self.fetch(self.server["S3_URL"] + path, "PUT", headers, b"wrong")
        self.assertEqual(status, 400)
        self.assertIn("<Code>XAmzContentSHA256Mismatch</Code>", body)
        headers = self.signed("PUT", path, {}, "nonsense")
        self.assertIn("InvalidArgument", self.fetch(self.server["S3_URL"] + path, "PUT", headers, b"x")[1])
        self.assertEqual(self.keys(), [])

    def test_skewed_clock(self):
        path = f"/{self.bucket}"
        when = datetime.datetime.utcnow() - datetime.timedelta(minutes=20)
        status, body = self.fetch(self.server["S3_URL"] + path, "GET", self.signed("GET", path, {}, "UNSIGNED-PAYLOAD", when))
        self.assertEqual(status, 403)
        self.assertIn("<Code>RequestTimeTooSkewed</Code>", body)

    def test_unsigned_trailer_upload(self):
        path = f"/{self.bucket}/trailer"
        data = b"x" * 100_000
        value = base64.b64encode(zlib.crc32(data).to_bytes(4, "big")).decode()
        for checksum, status in ((value, 200), ("AAAAAA==", 400)):
            body = b"%x\r\n%s\r\n0\r\nx-amz-checksum-crc32:%s\r\n\r\n" % (len(data), data, checksum.encode())
            headers = self.signed("PUT", path, {"x-amz-trailer": "x-amz-checksum-crc32", "content-encoding": "aws-chunked",
                                                "x-amz-decoded-content-length": str(len(data))},
                                  "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
            self.assertEqual(self.fetch(self.server["S3_URL"] + path, "PUT", headers, body)[0], status)
        head = self.s3.head_object(Bucket=self.bucket, Key="trailer", ChecksumMode="ENABLED")
        self.assertEqual(head["ChecksumCRC32"], value)
        self.assertNotIn("ContentEncoding", head)
        self.assertEqual(self.get("trailer"), data)


if __name__ == "__main__":
    unittest.main()
