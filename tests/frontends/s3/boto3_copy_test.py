"""CopyObject as boto3 sees it."""

import os
import unittest

from door import MIB, DoorTest, md5


class CopyTest(DoorTest):
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


if __name__ == "__main__":
    unittest.main()
