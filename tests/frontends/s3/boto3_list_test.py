"""Listings as boto3 sees them."""

import base64
import os
import unittest
import urllib.parse
import xml.etree.ElementTree

from protocol import ProtocolTest


class ListTest(ProtocolTest):
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


class ControlCharacterTest(ProtocolTest):
    KEYS = ("\x01", "a\x0b/\x1f", "new\nline", "re\rturn", "per%cent+plus", "t\tab")

    def setUp(self):
        super().setUp()
        for key in self.KEYS:
            self.answered(200, "", "PUT", f"/{self.bucket}/{urllib.parse.quote(key)}", body=b"x")

    def document(self, query, **more):
        return xml.etree.ElementTree.fromstring(self.answered(200, "", "GET", f"/{self.bucket}?{query}", **more))

    @staticmethod
    def texts(document, name):
        return [element.text for element in document.iter("{http://s3.amazonaws.com/doc/2006-03-01/}" + name)]

    def test_every_listing_encodes_what_it_is_asked_to(self):
        encoded = [urllib.parse.quote(key, safe="/") for key in sorted(self.KEYS)]
        for query in ("", "list-type=2&", "versions&"):
            document = self.document(query + "encoding-type=url")
            self.assertEqual(self.texts(document, "Key"), encoded)
            self.assertEqual(self.texts(document, "EncodingType"), ["url"])
        for query in ("list-type=2&", "versions&"):
            document = self.document(query + "encoding-type=url&prefix=a%0B&delimiter=%1F")
            self.assertEqual(self.texts(document, "Prefix"), ["a%0B", "a%0B/%1F"])
            self.assertEqual(self.texts(document, "Delimiter"), ["%1F"])
        self.assertEqual(self.texts(self.document("list-type=2&encoding-type=url&start-after=%01"), "StartAfter"), ["%01"])
        page = self.document("encoding-type=url&marker=%01&max-keys=1&delimiter=%2F")
        self.assertEqual((self.texts(page, "Marker"), self.texts(page, "NextMarker")), (["%01"], ["a%0B/"]))
        page = self.document("versions&encoding-type=url&key-marker=%01&max-keys=1")
        self.assertEqual((self.texts(page, "KeyMarker"), self.texts(page, "NextKeyMarker")), (["%01"], ["a%0B/%1F"]))

    def test_uploads_too(self):
        for key in ("u\x01", "u\x02/x", "u\x03"):
            self.answered(200, "", "POST", f"/{self.bucket}/{urllib.parse.quote(key)}?uploads")
        page = self.document("uploads&encoding-type=url&prefix=u&delimiter=%2F&max-uploads=2")
        self.assertEqual(self.texts(page, "Key"), ["u%01"])
        self.assertEqual(self.texts(page, "Prefix"), ["u", "u%02/"])
        self.assertEqual(self.texts(page, "NextKeyMarker"), ["u%02/"])
        self.assertEqual(self.texts(self.document("uploads&encoding-type=url&key-marker=u%02%2F"), "KeyMarker"), ["u%02/"])

    def test_without_an_encoding_the_document_can_still_be_read(self):
        for query in ("", "list-type=2", "versions"):
            keys = self.texts(self.document(query), "Key")
            self.assertEqual(sorted(key for key in keys if "\ufffd" not in key), sorted(k for k in self.KEYS if k[0] not in "\x01a"))
            self.assertEqual([key for key in keys if "\ufffd" in key], ["\ufffd", "a\ufffd/\ufffd"])
        missing = self.answered(404, "NoSuchKey", "GET", f"/{self.bucket}/no%01key")
        self.assertEqual(xml.etree.ElementTree.fromstring(missing).find("Key").text, "no\ufffdkey")

    def test_clients_get_the_keys_that_there_are(self):
        for call in (self.s3.list_objects, self.s3.list_objects_v2):
            self.assertEqual([c["Key"] for c in call(Bucket=self.bucket)["Contents"]], sorted(self.KEYS))
            for prefix in ("\n", "new\n", "per%", "a b+c%20"):
                reply = call(Bucket=self.bucket, Prefix=prefix)
                self.assertEqual((reply["Prefix"], [c["Key"] for c in reply.get("Contents", [])]),
                                 (prefix if call == self.s3.list_objects_v2 or not set(prefix) & set("%+") else
                                  prefix.replace("%", "%25").replace("+", "%2B"),
                                  [k for k in sorted(self.KEYS) if k.startswith(prefix)]))
        for key in self.KEYS:
            self.assertEqual(self.get(key), b"x")


if __name__ == "__main__":
    unittest.main()
