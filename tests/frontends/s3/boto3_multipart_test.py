"""Multipart uploads as boto3 sees them."""

import hashlib
import os
import unittest

from protocol import MIB, ProtocolTest, md5


class MultipartTest(ProtocolTest):
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
        self.refused(400, "InvalidPart", self.s3.get_object, Bucket=self.bucket, Key="big", PartNumber=4)
        self.refused(400, "400", self.s3.head_object, Bucket=self.bucket, Key="big", PartNumber=4)
        self.put("plain", b"x")
        self.assertEqual(self.get("plain", PartNumber=1), b"x")
        self.refused(400, "InvalidPart", self.s3.get_object, Bucket=self.bucket, Key="plain", PartNumber=2)
        self.refused(400, "InvalidArgument", self.s3.get_object, Bucket=self.bucket, Key="plain", PartNumber=0)
        self.refused(404, "NoSuchUpload", self.part, upload=upload, number=1, data=b"x")

    def test_a_part_that_is_sent_again(self):
        upload = self.start()
        first, other = self.part(upload, 1, b"B" * 8), self.part(upload, 2, b"x" * 3)
        again = self.part(upload, 1, b"A" * 8)
        # A part that was sent again, and is listed for each time, is stored as it was sent last.
        self.refused(400, "InvalidPart", self.complete, upload=upload, parts=[first])
        self.refused(400, "InvalidPart", self.complete, upload=upload, parts=[again, first])
        self.refused(400, "InvalidPartOrder", self.complete, upload=upload, parts=[other, again])
        tag = self.complete(upload, [first, again])["ETag"]
        self.assertEqual(self.get("big"), b"A" * 8)
        self.assertEqual(self.complete(upload, [again])["ETag"], tag)
        self.assertEqual(self.complete(upload, [first, again])["ETag"], tag)
        self.refused(404, "NoSuchUpload", self.part, upload=upload, number=1, data=b"late")
        self.assertEqual(self.get("big"), b"A" * 8)

    def test_completing_again_gives_the_same_answer(self):
        upload = self.start()
        parts = [self.part(upload, 1, b"a" * 5 * MIB), self.part(upload, 2, b"b")]
        tag = self.complete(upload, parts)["ETag"]
        self.assertEqual(self.complete(upload, parts)["ETag"], tag)
        self.refused(404, "NoSuchUpload", self.complete, upload=upload, parts=parts[:1])
        self.refused(404, "NoSuchUpload", self.complete, upload=upload, parts=parts, key="other")
        self.refused(404, "NoSuchUpload", self.alt.complete_multipart_upload, Bucket=self.bucket, Key="big", UploadId=upload,
                     MultipartUpload={"Parts": parts})
        # A copy is not the object of the upload, nor is another object of the same bytes.
        self.s3.copy_object(Bucket=self.bucket, Key="copy", CopySource={"Bucket": self.bucket, "Key": "big"})
        self.refused(404, "NoSuchUpload", self.complete, upload=upload, parts=parts, key="copy")
        again = self.start()
        self.complete(again, [self.part(again, 1, b"a" * 5 * MIB), self.part(again, 2, b"b")])
        self.refused(404, "NoSuchUpload", self.complete, upload=upload, parts=parts)
        self.refused(404, "NoSuchUpload", self.s3.abort_multipart_upload, Bucket=self.bucket, Key="big", UploadId=again)

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
        # Objects with a part number in the request: one of many parts, one that PUT wrote, an empty one.
        self.complete(upload, [self.part(upload, 1, b"a" * 5 * MIB), self.part(upload, 3, b"b")])
        self.put("small", b"x")
        self.put("empty", b"")
        for key, count in (("big", 2), ("small", 1), ("empty", 1)):
            for call in (self.s3.get_object, self.s3.head_object):
                for number in (count + 1, 10000):
                    code = "InvalidPart" if call == self.s3.get_object else "400"
                    self.refused(400, code, call, Bucket=self.bucket, Key=key, PartNumber=number)
                for number in (0, 10001):
                    code = "InvalidArgument" if call == self.s3.get_object else "400"
                    self.refused(400, code, call, Bucket=self.bucket, Key=key, PartNumber=number)
                call(Bucket=self.bucket, Key=key, PartNumber=count)
        self.assertEqual(self.get("big", PartNumber=2), b"b")
        path = f"/{self.bucket}/big"
        for query in ("?partNumber=", "?partNumber=x", "?partNumber=-1", "?partNumber=1.0", "?partNumber=99999999999999999999"):
            self.answered(400, "InvalidArgument", "GET", path + query)
        self.answered(400, "InvalidArgument", "PUT", path + "?partNumber=1", body=b"x")  # without an upload

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
            self.assertNotIn("Checksum" + algorithm, self.s3.head_object(Bucket=self.bucket, Key="big"))
            second = self.s3.get_object(Bucket=self.bucket, Key="big", PartNumber=2, ChecksumMode="ENABLED")
            self.assertEqual((second["Checksum" + algorithm], second["Body"].read()), (parts[1]["Checksum" + algorithm], b"b"))

            def attributes(**more):
                return self.s3.get_object_attributes(Bucket=self.bucket, Key="big", ObjectAttributes=["ObjectParts"],
                                                     **more)["ObjectParts"]
            all_parts = attributes()
            self.assertEqual([(p["PartNumber"], p["Size"], p["Checksum" + algorithm]) for p in all_parts["Parts"]],
                             [(1, 5 * MIB, parts[0]["Checksum" + algorithm]), (2, 1, parts[1]["Checksum" + algorithm])])
            self.assertEqual((all_parts["TotalPartsCount"], all_parts["IsTruncated"]), (2, False))
            page = attributes(MaxParts=1)
            self.assertEqual((len(page["Parts"]), page["NextPartNumberMarker"], page["IsTruncated"]), (1, 1, True))
            page = attributes(MaxParts=1, PartNumberMarker=1)
            self.assertEqual(([p["PartNumber"] for p in page["Parts"]], page["IsTruncated"]), ([2], False))

    def test_checksums_that_are_not_given_or_wrong(self):
        upload = self.start(ChecksumAlgorithm="SHA256")
        self.refused(400, "InvalidRequest", self.part, upload=upload, number=1, data=b"x", ChecksumAlgorithm="SHA1")
        part = self.part(upload, 1, b"A" * 1024, ChecksumSHA256="arcu6553sHVAiX4MjW0j7I7vD4w6R+Gz9Ok0Q9lTa+0=")
        bare = {"PartNumber": 1, "ETag": part["ETag"]}
        whole = "Ok6Cs5b96ux6+MWQkJO7UBT5sKPBeXBLwvj/hK89smg="
        self.refused(400, "InvalidRequest", self.complete, upload=upload, parts=[bare])
        self.refused(400, "InvalidPart", self.complete, upload=upload, parts=[{**bare, "ChecksumSHA256": "bad"}])
        for parts in ([part], [bare]):
            self.refused(400, "BadDigest", self.complete, upload=upload, parts=parts, ChecksumSHA256="bad")
        for wrong in (whole + "-2", "A" + whole[1:] + "-1"):
            self.refused(400, "BadDigest", self.complete, upload=upload, parts=[part], ChecksumSHA256=wrong)
        self.assertEqual(self.complete(upload, [part], ChecksumSHA256=whole + "-1")["ChecksumSHA256"], whole + "-1")

    def test_a_whole_objects_checksum_needs_none_of_the_parts(self):
        path = f"/{self.bucket}/big"
        for name, value in (("CRC64NVME", "M3eFcAZSQlc="), ("CRC32C", "mnG7TA==")):
            reply = self.send("POST", path + "?uploads",
                              headers={"x-amz-checksum-algorithm": name, "x-amz-checksum-type": "FULL_OBJECT"})[2]
            upload = reply.partition("<UploadId>")[2].partition("<")[0]
            tag = self.send("PUT", f"{path}?partNumber=1&uploadId={upload}", body=b"hello")[1]["ETag"]
            list_of_one = f"<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{tag}</ETag></Part></CompleteMultipartUpload>"
            text = self.answered(200, "", "POST", f"{path}?uploadId={upload}", body=list_of_one.encode(),
                                 headers={"x-amz-checksum-" + name.lower(): value})
            self.assertIn(f"<Checksum{name}>{value}<", text)
        reply = self.send("POST", path + "?uploads", headers={"x-amz-checksum-algorithm": "SHA1"})[2]
        upload = reply.partition("<UploadId>")[2].partition("<")[0]
        self.answered(400, "InvalidRequest", "PUT", f"{path}?partNumber=1&uploadId={upload}", body=b"hello")


if __name__ == "__main__":
    unittest.main()
