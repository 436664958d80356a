"""CopyObject as boto3 sees it."""

import os
import unittest
import urllib.parse

from protocol import MIB, ProtocolTest, md5


class CopyTest(ProtocolTest):
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
        self.s3.copy_object(Bucket=self.bucket, Key=source["Key"], CopySource=source, StorageClass="STANDARD")
        self.assertEqual(self.s3.head_object(Bucket=self.bucket, Key=source["Key"])["Metadata"], {"own": "3"})
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

    def test_from_and_to_others(self):
        self.put("k", b"x")
        self.s3.put_object(Bucket="test", Key="open", Body=b"open")
        self.alt.create_bucket(Bucket="alt-own")
        for key, status, code in (("k", 403, "AccessDenied"), ("none", 403, "AccessDenied")):
            self.refused(status, code, self.alt.copy_object, Bucket="alt-own", Key="x",
                         CopySource={"Bucket": self.bucket, "Key": key})
        self.refused(403, "AccessDenied", self.alt.copy_object, Bucket=self.bucket, Key="x",
                     CopySource={"Bucket": "test", "Key": "open"})
        self.alt.copy_object(Bucket="alt-own", Key="x", CopySource={"Bucket": "test", "Key": "open"})
        self.assertEqual(self.alt.get_object(Bucket="alt-own", Key="x")["Body"].read(), b"open")

    def test_forms_of_the_source(self):
        key = "z+ p%q&?versionId=null"
        self.put(key, b"odd")
        self.put("k", b"x", ChecksumAlgorithm="SHA1")
        quoted = urllib.parse.quote(key)
        for source, status, code in ((f"/{self.bucket}/{quoted}", 200, ""), (f"{self.bucket}/{quoted}", 200, ""),
                                     (f"{self.bucket}/{quoted}?versionId=null", 200, ""), (self.bucket, 400, "InvalidArgument"),
                                     (f"/{self.bucket}/", 400, "InvalidArgument"), (f"{self.bucket}/a%zz", 400, "InvalidArgument")):
            self.answered(status, code, "PUT", f"/{self.bucket}/copy", headers={"x-amz-copy-source": source})
        self.assertEqual(self.get("copy"), b"odd")
        done = self.s3.copy_object(Bucket=self.bucket, Key="copy", CopySource={"Bucket": self.bucket, "Key": "k"},
                                   ChecksumAlgorithm="SHA256")
        self.assertIn("ChecksumSHA256", done["CopyObjectResult"])


if __name__ == "__main__":
    unittest.main()
