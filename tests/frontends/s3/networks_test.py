"""The network rules of an export hold at the S3 server: who may come from where, and who may only read."""

import unittest

from protocol import ProtocolTest

ELSEWHERE = "192.0.2.0/24"  # no address of this machine (RFC 5737)


class NetworksTest(ProtocolTest):
    def setUp(self):
        super().setUp()
        self.put("k", b"content")
        self.upload = self.s3.create_multipart_upload(Bucket=self.bucket, Key="big")["UploadId"]
        self.tag = self.s3.upload_part(Bucket=self.bucket, Key="big", UploadId=self.upload, PartNumber=1, Body=b"x")["ETag"]

    def allow(self, *rules):
        self.server.stoa("export", "set", self.bucket, *(word for rule in rules for word in ("--client", rule)))

    def part(self):
        return {"Bucket": self.bucket, "Key": "big", "UploadId": self.upload}

    def reads(self):
        bucket = {"Bucket": self.bucket}
        key = {"Bucket": self.bucket, "Key": "k"}
        s3 = self.s3
        return [(s3.list_objects, bucket), (s3.list_objects_v2, bucket), (s3.list_object_versions, bucket),
                (s3.list_multipart_uploads, bucket), (s3.get_bucket_location, bucket), (s3.get_bucket_acl, bucket),
                (s3.get_bucket_versioning, bucket), (s3.head_bucket, bucket), (s3.get_object, key), (s3.head_object, key),
                (s3.get_object_acl, key), (s3.get_object_tagging, key), (s3.list_parts, self.part())]

    def writes(self):
        bucket = {"Bucket": self.bucket}
        key = {"Bucket": self.bucket, "Key": "k"}
        source = {"CopySource": key}
        s3 = self.s3
        return [(s3.put_object, {**key, "Body": b"other"}), (s3.copy_object, {**bucket, "Key": "copy", **source}),
                (s3.delete_object, key), (s3.delete_objects, {**bucket, "Delete": {"Objects": [{"Key": "k"}]}}),
                (s3.create_multipart_upload, {**bucket, "Key": "new"}),
                (s3.upload_part, {**self.part(), "PartNumber": 2, "Body": b"y"}),
                (s3.upload_part_copy, {**self.part(), "PartNumber": 2, **source}),
                (s3.complete_multipart_upload,
                 {**self.part(), "MultipartUpload": {"Parts": [{"PartNumber": 1, "ETag": self.tag}]}}),
                (s3.abort_multipart_upload, self.part()), (s3.delete_bucket, bucket)]

    def denied(self, call, arguments):
        head = call.__name__.startswith("head_")
        with self.subTest(call.__name__):
            self.refused(403, "403" if head else "AccessDenied", call, **arguments)

    def unharmed(self):
        self.assertEqual(self.keys(), ["k"])
        self.assertEqual(self.get("k"), b"content")
        uploads = self.s3.list_multipart_uploads(Bucket=self.bucket)["Uploads"]
        self.assertEqual([u["UploadId"] for u in uploads], [self.upload])
        self.assertEqual(len(self.s3.list_parts(**self.part())["Parts"]), 1)

    def test_clients_from_elsewhere_are_refused_everything(self):
        self.allow(ELSEWHERE)
        for call, arguments in self.reads() + self.writes():
            self.denied(call, arguments)
        self.assertNotIn(self.bucket, [b["Name"] for b in self.s3.list_buckets()["Buckets"]])
        self.s3.create_bucket(Bucket=self.bucket)  # the caller's own, in us-east-1: it changes nothing
        self.denied(self.s3.list_objects_v2, {"Bucket": self.bucket})
        self.allow("127.0.0.0/8")
        self.unharmed()
        self.assertIn(self.bucket, [b["Name"] for b in self.s3.list_buckets()["Buckets"]])

    def test_a_source_out_of_reach_cannot_be_copied(self):
        self.allow(ELSEWHERE)
        target = self.bucket + "-target"
        self.s3.create_bucket(Bucket=target)
        source = {"Bucket": self.bucket, "Key": "k"}
        self.refused(403, "AccessDenied", self.s3.copy_object, Bucket=target, Key="copy", CopySource=source)
        # Not even whether the key exists is told.
        self.refused(403, "AccessDenied", self.s3.copy_object, Bucket=target, Key="copy",
                     CopySource={"Bucket": self.bucket, "Key": "none"})
        upload = self.s3.create_multipart_upload(Bucket=target, Key="copy")["UploadId"]
        self.refused(403, "AccessDenied", self.s3.upload_part_copy, Bucket=target, Key="copy", UploadId=upload, PartNumber=1,
                     CopySource=source)
        self.assertNotIn("Contents", self.s3.list_objects_v2(Bucket=target))

    def test_a_read_only_network_reads(self):
        self.allow("127.0.0.0/8,ro")
        for call, arguments in self.writes():
            self.denied(call, arguments)
        for call, arguments in self.reads():
            with self.subTest(call.__name__):
                call(**arguments)
        self.unharmed()
        target = self.bucket + "-target"
        self.s3.create_bucket(Bucket=target)
        self.s3.copy_object(Bucket=target, Key="copy", CopySource={"Bucket": self.bucket, "Key": "k"})

    def test_a_read_only_export_reads(self):
        self.allow("127.0.0.0/8,rw")
        self.server.stoa("export", "set", self.bucket, "--read-only")
        for call, arguments in self.writes():
            self.denied(call, arguments)
        for call, arguments in self.reads():
            with self.subTest(call.__name__):
                call(**arguments)
        self.server.stoa("export", "set", self.bucket, "--read-write")
        self.unharmed()

    def test_the_first_rule_that_matches_counts(self):
        self.allow("127.0.0.1/32,ro", "*,rw")
        self.denied(self.s3.put_object, {"Bucket": self.bucket, "Key": "k", "Body": b"other"})
        self.allow(ELSEWHERE, "*,rw")
        self.put("k", b"other")
        self.assertEqual(self.get("k"), b"other")


if __name__ == "__main__":
    unittest.main()
