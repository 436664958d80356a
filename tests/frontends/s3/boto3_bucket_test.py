"""Buckets as boto3 sees them: names, owners, and what is asked of them that this protocol does not have."""

import re
import unittest
import urllib.parse

from protocol import ProtocolTest, Server


class BucketTest(ProtocolTest):
    def test_list_head_location(self):
        names = [b["Name"] for b in self.s3.list_buckets()["Buckets"]]
        self.assertIn(self.bucket, names)
        self.assertNotIn(self.bucket, [b["Name"] for b in self.alt.list_buckets()["Buckets"]])
        self.assertEqual(self.s3.head_bucket(Bucket=self.bucket)["ResponseMetadata"]["HTTPStatusCode"], 200)
        self.assertIsNone(self.s3.get_bucket_location(Bucket=self.bucket)["LocationConstraint"])
        self.refused(404, "404", self.s3.head_bucket, Bucket="no-such-bucket")
        self.refused(404, "NoSuchBucket", self.s3.list_objects_v2, Bucket="no-such-bucket")

    def test_create_twice(self):
        # In the first region alone, S3 returns the existing bucket.
        self.put("k")
        self.assertEqual(self.s3.create_bucket(Bucket=self.bucket)["Location"], "/" + self.bucket)
        self.assertEqual(self.keys(), ["k"])
        self.refused(409, "BucketAlreadyExists", self.alt.create_bucket, Bucket=self.bucket)

    def test_bad_names(self):
        for name in ("a", "ab", "Upper", "192.168.1.1", "under_score", "a..b", "foo.-bar", "foo-.bar", "-abc", "abc-", "a" * 64):
            self.answered(400, "InvalidBucketName", "PUT", f"/{name}")

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

    def test_policies_and_the_like_say_that_none_is_set(self):
        for query, status, code in (
                ("accelerate", 200, ""), ("analytics", 404, "NoSuchConfiguration"), ("cors", 404, "NoSuchCORSConfiguration"),
                ("encryption", 404, "ServerSideEncryptionConfigurationNotFoundError"), ("logging", 200, ""),
                ("lifecycle", 404, "NoSuchLifecycleConfiguration"), ("location", 200, ""), ("notification", 200, ""),
                ("object-lock", 404, "ObjectLockConfigurationNotFoundError"), ("policy", 404, "NoSuchBucketPolicy"),
                ("ownershipControls", 404, "OwnershipControlsNotFoundError"), ("policyStatus", 404, "NoSuchBucketPolicy"),
                ("publicAccessBlock", 404, "NoSuchPublicAccessBlockConfiguration"), ("requestPayment", 200, ""),
                ("replication", 404, "ReplicationConfigurationNotFoundError"), ("tagging", 404, "NoSuchTagSet"),
                ("versioning", 200, ""), ("website", 404, "NoSuchWebsiteConfiguration")):
            with self.subTest(query):
                self.answered(status, code, "GET", f"/{self.bucket}?{query}")
                self.answered(404, "NoSuchBucket", "GET", f"/no-such-bucket?{query}")

    def test_odd_requests(self):
        for status, code, method, path in (
                (405, "MethodNotAllowed", "POST", "/"), (405, "MethodNotAllowed", "DELETE", "/"),
                (405, "MethodNotAllowed", "PATCH", "/BUCKET"), (501, "NotImplemented", "POST", "/BUCKET"),
                (501, "NotImplemented", "PUT", "/BUCKET?policy"), (501, "NotImplemented", "PUT", "/BUCKET?versioning"),
                (405, "MethodNotAllowed", "POST", "/BUCKET/k"), (501, "NotImplemented", "GET", "/BUCKET/k?torrent"),
                (400, "InvalidRequest", "GET", "/BUCKET/k?retention"), (400, "InvalidRequest", "PUT", "/BUCKET/k?legal-hold"),
                (400, "InvalidURI", "GET", "/BUCKET/a%zz"), (400, "InvalidArgument", "PUT", "/BUCKET/k?partNumber=1"),
                (400, "MalformedXML", "PUT", "/new-bucket")):
            with self.subTest(f"{method} {path}"):
                self.answered(status, code, method, path.replace("BUCKET", self.bucket),
                              body=b"<not-xml" if code == "MalformedXML" else b"")
        location = b"<CreateBucketConfiguration><LocationConstraint>%s</LocationConstraint></CreateBucketConfiguration>"
        for wanted, code in ((b"mars", "InvalidLocationConstraint"), (b"eu-west-1", "IllegalLocationConstraintException"),
                             (b"EU", "IllegalLocationConstraintException")):
            self.answered(400, code, "PUT", "/new-bucket", body=location % wanted)
        self.answered(404, "NoSuchBucket", "GET", "/new-bucket")
        self.answered(200, "", "PUT", "/new-bucket", body=location % b"us-east-1")

    def test_pages_of_buckets(self):
        names = [f"page-{n:02}" for n in range(7)]
        for name in reversed(names):
            self.s3.create_bucket(Bucket=name)

        def page(query):
            text = self.answered(200, "", "GET", "/?prefix=page-" + query)
            return re.findall("<Name>(.*?)</Name>", text), text.partition("<ContinuationToken>")[2].partition("<")[0]
        found, token = [], ""
        while True:
            some, token = page(f"&max-buckets=3&continuation-token={urllib.parse.quote_plus(token)}")
            self.assertLessEqual(len(some), 3)
            found += some
            if not token:
                break
        self.assertEqual(found, names)
        self.assertEqual(page(""), (names, ""))
        self.assertEqual(page("&max-buckets=7"), (names, ""))
        text = self.answered(200, "", "GET", "/?bucket-region=us-east-1&prefix=page-00")
        self.assertIn("<BucketRegion>us-east-1</BucketRegion>", text)
        self.assertIn("<Prefix>page-00</Prefix>", text)
        for query in ("max-buckets=0", "max-buckets=10001", "max-buckets=x", "max-buckets=-1", "continuation-token=page-01",
                      "bucket-region=eu-west-1"):
            self.answered(400, "InvalidArgument", "GET", "/?" + query)


class RegionTest(ProtocolTest):
    """A server of another region than the first."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--", "--s3-region", "eu-central-1")
        cls.s3 = cls.server.client(region="eu-central-1")

    def setUp(self):
        self.bucket = "here"

    def test_buckets_are_made_where_the_request_says(self):
        def make(**more):
            return {"Bucket": self.bucket, **({"CreateBucketConfiguration": more} if more else {})}
        self.refused(400, "IllegalLocationConstraintException", self.s3.create_bucket, **make())
        self.refused(400, "IllegalLocationConstraintException", self.s3.create_bucket, **make(LocationConstraint="eu-west-1"))
        self.refused(400, "InvalidLocationConstraint", self.s3.create_bucket, **make(LocationConstraint="nowhere"))
        self.s3.create_bucket(**make(LocationConstraint="eu-central-1"))
        self.refused(409, "BucketAlreadyOwnedByYou", self.s3.create_bucket, **make(LocationConstraint="eu-central-1"))
        self.assertEqual(self.s3.get_bucket_location(Bucket=self.bucket)["LocationConstraint"], "eu-central-1")
        headers = self.s3.head_bucket(Bucket=self.bucket)["ResponseMetadata"]["HTTPHeaders"]
        self.assertEqual(headers["x-amz-bucket-region"], "eu-central-1")
        # A request signed for the first region gets the right one, and boto3 follows.
        self.put("k", b"data")
        self.assertEqual(self.server.client().get_object(Bucket=self.bucket, Key="k")["Body"].read(), b"data")


class AccessControlTest(ProtocolTest):
    def test_private_is_what_it_is_anyway(self):
        self.put("k", b"x")
        for get, put, more in ((self.s3.get_bucket_acl, self.s3.put_bucket_acl, {}),
                               (self.s3.get_object_acl, self.s3.put_object_acl, {"Key": "k"})):
            acl = get(Bucket=self.bucket, **more)
            self.assertEqual([(g["Grantee"]["ID"], g["Permission"]) for g in acl["Grants"]], [("root", "FULL_CONTROL")])
            put(Bucket=self.bucket, ACL="private", **more)
            same = {"Owner": acl["Owner"], "Grants": acl["Grants"]}
            put(Bucket=self.bucket, AccessControlPolicy=same, **more)
            for change in ({"ACL": "public-read"}, {"GrantRead": "id=alt"},
                           {"AccessControlPolicy": {**same, "Grants": []}},
                           {"AccessControlPolicy": {**same, "Grants": same["Grants"] * 2}},
                           {"AccessControlPolicy": {**same, "Grants": [{"Grantee": {"Type": "CanonicalUser", "ID": "alt"},
                                                                        "Permission": "READ"}]}}):
                self.refused(501, "NotImplemented", put, Bucket=self.bucket, **change, **more)
            self.refused(400, "InvalidArgument", put, Bucket=self.bucket, ACL="public-ready", **more)
            self.refused(403, "AccessDenied", put, Bucket=self.bucket, **more,
                         AccessControlPolicy={**same, "Owner": {"ID": "alt"}})
        path = f"/{self.bucket}/k?acl"
        self.answered(400, "MissingSecurityHeader", "PUT", path)
        self.answered(400, "MalformedXML", "PUT", path, body=b"<AccessControlPolicy/>")
        self.answered(404, "NoSuchKey", "PUT", f"/{self.bucket}/none?acl", headers={"x-amz-acl": "private"})
        self.refused(403, "AccessDenied", self.alt.put_bucket_acl, Bucket=self.bucket, ACL="private")

    def test_what_is_open_to_others_is_not_called_private(self):
        self.s3.put_object(Bucket="test", Key="open", Body=b"x")
        for acl, put, more in ((self.s3.get_bucket_acl(Bucket="test"), self.s3.put_bucket_acl, {}),
                               (self.s3.get_object_acl(Bucket="test", Key="open"), self.s3.put_object_acl, {"Key": "open"})):
            self.assertIn("READ", [g["Permission"] for g in acl["Grants"] if g["Grantee"]["Type"] == "Group"])
            put(Bucket="test", AccessControlPolicy={"Owner": acl["Owner"], "Grants": acl["Grants"]}, **more)
            self.refused(501, "NotImplemented", put, Bucket="test", ACL="private", **more)


if __name__ == "__main__":
    unittest.main()
