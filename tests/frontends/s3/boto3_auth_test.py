"""Who asks: signatures in the header, in the query and in the body."""

import base64
import datetime
import hashlib
import unittest
import zlib

import botocore.auth
import botocore.awsrequest
import botocore.credentials

from door import DoorTest


class AuthenticationTest(DoorTest):
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


if __name__ == "__main__":
    unittest.main()
