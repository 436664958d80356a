"""Who asks: signatures in the header, in the query and in the body."""

import base64
import datetime
import email.utils
import hashlib
import unittest
import urllib.error
import urllib.request
import zlib

import botocore.auth
import botocore.awsrequest
import botocore.credentials

from protocol import ProtocolTest, Server


class AuthenticationTest(ProtocolTest):
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

    def test_version_2_in_headers_is_refused(self):
        old = self.server.client(signature_version="s3")
        self.refused(400, "InvalidRequest", old.list_buckets)

    def test_version_2_in_presigned_urls(self):
        self.put("k ü+", b"data")
        get = {"Bucket": self.bucket, "Key": "k ü+"}
        for signer in (self.s3, self.server.client(signature_version="s3")):  # the default, and asked for
            url = signer.generate_presigned_url("get_object", get, ExpiresIn=60)
            self.assertIn("AWSAccessKeyId=", url)
            self.assertEqual(self.fetch(url), (200, "data"))
            self.denied("SignatureDoesNotMatch", url, "PUT", data=b"x")
            self.denied("SignatureDoesNotMatch", url.replace("%20", "%21", 1))
            self.denied("SignatureDoesNotMatch", url + "&acl")
            self.denied("SignatureDoesNotMatch", url, headers={"x-amz-meta-more": "x"})
            self.denied("AccessDenied", signer.generate_presigned_url("get_object", get, ExpiresIn=-1))
            for name in ("AWSAccessKeyId", "Signature", "Expires"):
                pieces = [p for p in url.split("?")[1].split("&") if not p.startswith(name + "=")]
                self.denied("AccessDenied", url.split("?")[0] + "?" + "&".join(pieces))
        signer = self.s3
        other = {**get, "ResponseContentType": "text/x+y", "ResponseContentDisposition": 'attachment; filename="a b"'}
        with urllib.request.urlopen(signer.generate_presigned_url("get_object", other, ExpiresIn=60)) as reply:
            self.assertEqual((reply.headers["Content-Type"], reply.headers["Content-Disposition"]),
                             ("text/x+y", 'attachment; filename="a b"'))
        put = {"Bucket": self.bucket, "Key": "new", "ContentType": "x/y", "Metadata": {"a": "b"}}
        url = signer.generate_presigned_url("put_object", put, ExpiresIn=60)
        self.denied("SignatureDoesNotMatch", url, "PUT", {"Content-Type": "x/z"}, b"sent")
        self.assertEqual(self.fetch(url, "PUT", {"Content-Type": "x/y"}, b"sent")[0], 200)
        got = self.s3.get_object(Bucket=self.bucket, Key="new")
        self.assertEqual((got["ContentType"], got["Metadata"], got["Body"].read()), ("x/y", {"a": "b"}, b"sent"))
        stranger = self.server.client(signature_version="s3")
        stranger._request_signer._credentials = botocore.credentials.Credentials("AKIDUNKNOWN", "x")
        self.denied("InvalidAccessKeyId", stranger.generate_presigned_url("get_object", get, ExpiresIn=60))
        listing = signer.generate_presigned_url("list_objects", {"Bucket": self.bucket, "Prefix": "n"}, ExpiresIn=60)
        self.assertIn("<Key>new</Key>", self.fetch(listing)[1])
        parameters = {"Bucket": self.bucket, "Prefix": "n", "Delimiter": "/", "EncodingType": "url", "MaxKeys": 5, "StartAfter": "a"}
        listing = signer.generate_presigned_url("list_objects_v2", parameters, ExpiresIn=60)
        self.assertIn("<Key>new</Key>", self.fetch(listing)[1])
        self.denied("SignatureDoesNotMatch", listing + "&uploads")
        for call in ("list_object_versions", "list_multipart_uploads", "get_bucket_acl", "get_bucket_location"):
            url = signer.generate_presigned_url(call, {"Bucket": self.bucket}, ExpiresIn=60)
            self.assertEqual(self.fetch(url)[0], 200, call)
        begun = signer.generate_presigned_url("create_multipart_upload", {"Bucket": self.bucket, "Key": "m"}, ExpiresIn=60)
        upload = self.fetch(begun, "POST")[1].partition("<UploadId>")[2].partition("<")[0]
        part = {"Bucket": self.bucket, "Key": "m", "UploadId": upload, "PartNumber": 1}
        url = signer.generate_presigned_url("upload_part", part, ExpiresIn=60)
        self.assertEqual(self.fetch(url, "PUT", {"Content-Type": ""}, b"part")[0], 200)  # urllib would add one
        url = signer.generate_presigned_url("list_parts", {k: part[k] for k in ("Bucket", "Key", "UploadId")}, ExpiresIn=60)
        self.assertIn("<PartNumber>1</PartNumber>", self.fetch(url)[1])

    def denied(self, code, url, *arguments, **more):
        status, text = self.fetch(url, *arguments, **more)
        self.assertEqual((status, text.partition("<Code>")[2].partition("</Code>")[0]), (403, code), text)

    def test_signed_for_another_region(self):
        self.put("k", b"data")
        other = self.server.client(region="eu-west-1", signature_version="s3v4")
        url = other.generate_presigned_url("get_object", Params={"Bucket": self.bucket, "Key": "k"}, ExpiresIn=60)
        status, text = self.fetch(url)
        self.assertEqual(status, 400)
        self.assertIn("<Code>AuthorizationQueryParametersError</Code>", text)
        self.assertIn("<Region>us-east-1</Region>", text)
        error = self.refused(400, "AuthorizationHeaderMalformed", other.list_buckets)["Error"]
        self.assertEqual(error["Region"], "us-east-1")
        self.assertIn("the region 'eu-west-1' is wrong; expecting 'us-east-1'", error["Message"])
        # For a bucket, boto3 signs again for the region that it was told.
        self.assertEqual(other.get_object(Bucket=self.bucket, Key="k")["Body"].read(), b"data")

    def test_without_and_with_empty_authorization(self):
        for method, path in (("PUT", "/never-made"), ("PUT", f"/{self.bucket}/k"), ("GET", f"/{self.bucket}"), ("GET", "/")):
            for value in ("", " "):
                self.answered(403, "AccessDenied", method, path, unsigned={"Authorization": value})
            self.answered(403, "AccessDenied", method, path, without=("Authorization",))
        self.assertEqual(self.keys(), [])
        self.answered(404, "NoSuchBucket", "GET", "/never-made")

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

    def test_payload_hash_is_verified(self):
        path = f"/{self.bucket}/k"
        headers = self.signed("PUT", path, {}, hashlib.sha256(b"right").hexdigest())
        status, body = self.fetch(self.server["S3_URL"] + path, "PUT", headers, b"wrong")
        self.assertEqual(status, 400)
        self.assertIn("<Code>XAmzContentSHA256Mismatch</Code>", body)
        headers = self.signed("PUT", path, {}, "nonsense")
        self.assertIn("InvalidArgument", self.fetch(self.server["S3_URL"] + path, "PUT", headers, b"x")[1])
        self.assertEqual(self.keys(), [])

    def test_presigned_for_too_long_or_for_no_time(self):
        self.put("k", b"x")
        credentials = botocore.credentials.Credentials(self.server["S3_ACCESS_KEY"], self.server["S3_SECRET_KEY"])

        def url(seconds):  # clients refuse to ask for some of these
            request = botocore.awsrequest.AWSRequest("GET", f"{self.server['S3_URL']}/{self.bucket}/k")
            botocore.auth.S3SigV4QueryAuth(credentials, "s3", "us-east-1", expires=seconds).add_auth(request)
            return request.url
        for seconds, status, code in ((0, 403, "AccessDenied"), (-7, 400, "AuthorizationQueryParametersError"),
                                      (604800, 200, ""), (604801, 400, "AuthorizationQueryParametersError")):
            got, text = self.fetch(url(seconds))
            self.assertEqual((got, text.partition("<Code>")[2].partition("<")[0]), (status, code))
        for name in ("Algorithm", "Credential", "Date", "Expires", "SignedHeaders", "Signature"):
            pieces = [p for p in url(60).split("?")[1].split("&") if not p.startswith("X-Amz-" + name + "=")]
            self.assertEqual(self.fetch(url(60).split("?")[0] + "?" + "&".join(pieces))[0], 400, name)
        self.assertIn("HeadersNotSigned", self.fetch(url(60), headers={"x-amz-meta-more": "x"})[1])

    def test_headers_in_a_presigned_query(self):
        credentials = botocore.credentials.Credentials(self.server["S3_ACCESS_KEY"], self.server["S3_SECRET_KEY"])

        def url(query):
            request = botocore.awsrequest.AWSRequest("PUT", f"{self.server['S3_URL']}/{self.bucket}/k?{query}")
            botocore.auth.S3SigV4QueryAuth(credentials, "s3", "us-east-1", expires=60).add_auth(request)
            return request.url
        # As SDKs put them there: a signed header is obeyed, or refused, never dropped.
        self.assertEqual(self.fetch(url("x-amz-meta-a=b+c&X-Amz-Storage-Class=STANDARD"), "PUT", data=b"x")[0], 200)
        self.assertEqual(self.s3.head_object(Bucket=self.bucket, Key="k")["Metadata"], {"a": "b c"})
        for query, status, code in (("x-amz-acl=public-read", 501, "NotImplemented"), ("x-amz-storage-class=GLACIER", 400, "InvalidStorageClass"),
                                    ("x-amz-checksum-crc32=AAAAAA%3D%3D", 400, "BadDigest")):
            got, text = self.fetch(url(query), "PUT", data=b"x")
            self.assertEqual((got, text.partition("<Code>")[2].partition("<")[0]), (status, code))

    def test_presigned_with_a_promised_hash(self):
        signer = self.server.client(signature_version="s3v4")
        url = signer.generate_presigned_url("put_object", {"Bucket": self.bucket, "Key": "k"}, ExpiresIn=60)
        right, wrong = hashlib.sha256(b"x").hexdigest(), hashlib.sha256(b"y").hexdigest()
        self.assertIn("XAmzContentSHA256Mismatch", self.fetch(url, "PUT", {"x-amz-content-sha256": wrong}, b"x")[1])
        self.assertEqual(self.fetch(url, "PUT", {"x-amz-content-sha256": right}, b"x")[0], 200)

    def test_dates_that_are_wrong(self):
        path = f"/{self.bucket}"
        for date, code in (("Bad Date", "AccessDenied"), ("", "AccessDenied"), ("20100707T215304Z", "RequestTimeTooSkewed"),
                           ("99990707T215304Z", "RequestTimeTooSkewed"), ("19500707T215304Z", "RequestTimeTooSkewed")):
            self.answered(403, code, "GET", path, unsigned={"X-Amz-Date": date})
        for value, status, code in (("", 403, "AccessDenied"), ("AWS key:signature", 400, "InvalidRequest"),
                                    ("AWS4-HMAC-SHA256 Credential=HAHAHA", 400, "AuthorizationHeaderMalformed"),
                                    ("Basic dTpw", 400, "InvalidArgument")):
            self.answered(status, code, "GET", path, unsigned={"Authorization": value})
        self.answered(400, "InvalidRequest", "GET", path, without=("X-Amz-Content-SHA256",))

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


class VersionTwoTest(unittest.TestCase):
    """s3.signature_v2 other than it is by default."""

    def serve(self, accepted):
        server = Server("--", "--s3-signature-v2", accepted)
        self.addCleanup(server.stop)
        return server

    def test_all(self):
        server = self.serve("all")
        old = server.client(signature_version="s3")
        old.create_bucket(Bucket="old")
        old.put_object(Bucket="old", Key="k ü", Body=b"data", Metadata={"b": "2", "a": "1"}, ContentType="x/y")
        got = old.get_object(Bucket="old", Key="k ü")
        self.assertEqual((got["Body"].read(), got["Metadata"], got["ContentType"]), (b"data", {"b": "2", "a": "1"}, "x/y"))
        self.assertEqual([c["Key"] for c in old.list_objects(Bucket="old", Prefix="k")["Contents"]], ["k ü"])
        self.assertEqual([c["Key"] for c in old.list_objects_v2(Bucket="old", Prefix="k")["Contents"]], ["k ü"])
        upload = old.create_multipart_upload(Bucket="old", Key="m")["UploadId"]
        tag = old.upload_part(Bucket="old", Key="m", UploadId=upload, PartNumber=1, Body=b"part")["ETag"]
        old.complete_multipart_upload(Bucket="old", Key="m", UploadId=upload,
                                      MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": tag}]})
        self.assertEqual(old.get_object(Bucket="old", Key="m")["Body"].read(), b"part")
        old.delete_objects(Bucket="old", Delete={"Objects": [{"Key": "m"}]})
        self.assertEqual(server.client().get_object(Bucket="old", Key="k ü")["Body"].read(), b"data")  # version 4

        def answer(**headers):
            request = urllib.request.Request(server["S3_URL"] + "/old", headers=headers)
            with self.assertRaises(urllib.error.HTTPError) as caught:
                urllib.request.urlopen(request)
            with caught.exception as error:
                return error.code, error.read().decode().partition("<Code>")[2].partition("<")[0]
        key = server["S3_ACCESS_KEY"]
        now = email.utils.formatdate(usegmt=True)
        self.assertEqual(answer(Authorization="AWS HAHAHA", Date=now), (400, "InvalidArgument"))
        self.assertEqual(answer(Authorization=f"AWS {key}:AAAA", Date=now), (403, "SignatureDoesNotMatch"))
        self.assertEqual(answer(Authorization="AWS nobody:AAAA", Date=now), (403, "InvalidAccessKeyId"))
        self.assertEqual(answer(Authorization=f"AWS {key}:AAAA"), (403, "AccessDenied"))
        for date, code in (("Bad Date", "AccessDenied"), ("Tue, 07 Jul 2010 21:53:04 GMT", "RequestTimeTooSkewed"),
                           ("Tue, 07 Jul 9999 21:53:04 GMT", "RequestTimeTooSkewed")):
            self.assertEqual(answer(Authorization=f"AWS {key}:AAAA", **{"x-amz-date": date}), (403, code))

    def test_off(self):
        server = self.serve("off")
        url = server.client(signature_version="s3").generate_presigned_url("list_buckets")
        with self.assertRaises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(url)
        with caught.exception as error:
            self.assertEqual(error.code, 400)
            self.assertIn("Please use AWS4-HMAC-SHA256", error.read().decode())
        server.client().list_buckets()


if __name__ == "__main__":
    unittest.main()
