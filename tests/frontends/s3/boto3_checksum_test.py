"""Content-MD5 and the additional checksums, of objects and of parts."""

import base64
import hashlib
import unittest
import zlib

from protocol import MIB, ProtocolTest


class ChecksumTest(ProtocolTest):
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
            for none in ("short", "bad", "=" + value[1:], value[:-4], value + "AAAA", value.rstrip("=")):
                if none != value:
                    self.refused(400, "BadDigest", self.s3.put_object, Bucket=self.bucket, Key="k", Body=data,
                                 **{"Checksum" + algorithm: none})
        self.assertEqual(self.get("k", ChecksumMode="ENABLED"), data)

    def test_promises_that_cannot_be_kept(self):
        path = f"/{self.bucket}/k"
        for headers in ({"x-amz-checksum-sha512": "AAAA"}, {"x-amz-checksum-crc32": "NhCmhg==", "x-amz-checksum-sha1": "x"},
                        {"x-amz-sdk-checksum-algorithm": "CRC32"}, {"x-amz-sdk-checksum-algorithm": "MD4"},
                        {"x-amz-trailer": "x-amz-checksum-crc32"}):
            self.answered(400, "InvalidRequest", "PUT", path, headers=headers, body=b"hello")
        self.assertEqual(self.keys(), [])

    def test_algorithms_that_boto3_lacks(self):
        path = f"/{self.bucket}/k"
        for name, value in (("crc32c", "mnG7TA=="), ("crc64nvme", "M3eFcAZSQlc=")):
            header = f"x-amz-checksum-{name}"
            self.answered(400, "BadDigest", "PUT", path, headers={header: value}, body=b"hellO")
            self.answered(200, "", "PUT", path, headers={header: value}, body=b"hello")
            self.assertEqual(self.send("HEAD", path, headers={"x-amz-checksum-mode": "ENABLED"})[1][header], value)
            # The same in a trailer of an unsigned body.
            trailer = {"x-amz-trailer": header, "content-encoding": "aws-chunked", "x-amz-decoded-content-length": "5"}
            for text, status, code in ((value, 200, ""), ("A" + value[1:], 400, "BadDigest"), ("short", 400, "BadDigest"), ("", 400, "BadDigest")):
                self.answered(status, code, "PUT", path, headers=trailer, body_hash="STREAMING-UNSIGNED-PAYLOAD-TRAILER",
                              body=f"5\r\nhello\r\n0\r\n{header}:{text}\r\n\r\n".encode())

    def test_every_algorithm_in_both_forms_for_objects_and_parts(self):
        data = b"hello"
        values = {"crc32": zlib.crc32(data).to_bytes(4, "big"), "crc32c": base64.b64decode("mnG7TA=="),
                  "crc64nvme": base64.b64decode("M3eFcAZSQlc="), "sha1": hashlib.sha1(data).digest(),
                  "sha256": hashlib.sha256(data).digest()}
        for name, value in values.items():
            header = f"x-amz-checksum-{name}"
            right = base64.b64encode(value).decode()
            wrong = base64.b64encode(bytes(len(value))).decode()
            begun = self.send("POST", f"/{self.bucket}/big?uploads", headers={"x-amz-checksum-algorithm": name.upper()})[2]
            upload = begun.partition("<UploadId>")[2].partition("<")[0]
            for path in (f"/{self.bucket}/{name}", f"/{self.bucket}/big?partNumber=1&uploadId={upload}"):
                for text, status, code in ((wrong, 400, "BadDigest"), (right[:-4], 400, "BadDigest"), ("short", 400, "BadDigest"),
                                           (right, 200, "")):
                    with self.subTest(path, text=text):
                        self.answered(status, code, "PUT", path, headers={header: text}, body=data)
                        self.answered(status, code, "PUT", path, body_hash="STREAMING-UNSIGNED-PAYLOAD-TRAILER",
                                      headers={"x-amz-trailer": header, "content-encoding": "aws-chunked",
                                               "x-amz-decoded-content-length": "5"},
                                      body=f"5\r\nhello\r\n0\r\n{header}:{text}\r\n\r\n".encode())
            self.assertEqual(self.send("HEAD", f"/{self.bucket}/{name}", headers={"x-amz-checksum-mode": "ENABLED"})[1][header], right)
            parts = self.send("GET", f"/{self.bucket}/big?uploadId={upload}")[2]
            self.assertEqual(parts.partition(f"<Checksum{name.upper()}>")[2].partition("<")[0], right)

    def test_content_md5(self):
        self.put("k", b"x", ContentMD5=base64.b64encode(hashlib.md5(b"x").digest()).decode())
        self.refused(400, "BadDigest", self.s3.put_object, Bucket=self.bucket, Key="k", Body=b"y",
                     ContentMD5=base64.b64encode(hashlib.md5(b"x").digest()).decode())
        self.refused(400, "InvalidDigest", self.s3.put_object, Bucket=self.bucket, Key="k", Body=b"y", ContentMD5="bad")
        self.assertEqual(self.get("k"), b"x")


if __name__ == "__main__":
    unittest.main()
