"""Listings as boto3 sees them."""

import base64
import os
import unittest

from door import DoorTest


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

    def test_parameters_that_are_none(self):
        for query, message in (("max-keys=-1", "must be an integer between 0 and 2147483647"), ("max-keys=blah", "not an integer"),
                               ("max-keys=2147483648", "not an integer"), ("encoding-type=base64", "Invalid Encoding Method"),
                               ("list-type=2&continuation-token=x", "continuation token"),
                               ("uploads&max-uploads=-1", "must be an integer"), ("uploads&encoding-type=x", "Encoding Method"),
                               ("versions&version-id-marker=x", "without a key marker")):
            self.assertIn(message, self.answered(400, "InvalidArgument", "GET", f"/{self.bucket}?{query}"))

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


if __name__ == "__main__":
    unittest.main()
