#!/usr/bin/env python3
"""Makes Vectors/s3/signatures.json: requests with odd names and headers, and the signatures that botocore gives them.

usage: Scripts/interop/s3-signatures.py OUTPUT

botocore 1.43 signs as Amazon's own command line does (class S3SigV4Auth). The requests are chosen by a generator with a fixed seed, so two
runs give the same bytes.
"""
import datetime, hashlib, json, random, sys

import botocore
import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

COUNT = 120
CHARACTERS = "".join(map(chr, range(0x20, 0x7F))) + "äß→𝄞"
chance = random.Random(20261128)


def text(most, least=1):
    return "".join(chance.choice(CHARACTERS) for _ in range(chance.randint(least, most)))


def encode(name, kept=""):
    return "".join(chr(b) if chr(b).isascii() and (chr(b).isalnum() or chr(b) in "-._~" + kept) else f"%{b:02X}" for b in name.encode())


def case():
    seconds = chance.randrange(946684800, 4102444800)
    now = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    query = {text(8): text(12, 0) for _ in range(chance.randrange(4))}
    headers = {}
    if chance.random() < 0.4:
        headers["if-match"] = '"' + hashlib.md5(text(9).encode()).hexdigest() + '"'
    if chance.random() < 0.4:
        headers["if-none-match"] = "*"
    if chance.random() < 0.3:
        headers["x-amz-meta-a"] = " ".join(text(4).replace(" ", "").encode("ascii", "ignore").decode() or "x" for _ in range(3))
    if chance.random() < 0.2:
        headers["range"] = f"bytes=0-{chance.randrange(1000)}"
    given = {
        "method": chance.choice(["GET", "PUT", "DELETE", "HEAD"]),
        "path": "/bucket/" + "/".join(text(9) for _ in range(chance.randint(1, 3))),
        "query": sorted(map(list, query.items())),
        "headers": sorted(map(list, headers.items())),
        "payload": text(40, 0),
        "host": chance.choice(["store.example.org", "127.0.0.1:8000", "[::1]:9000"]),
        "region": chance.choice(["us-east-1", "eu-central-2", "default"]),
        "seconds": seconds,
        "accessKey": "AKIAIOSFODNN7EXAMPLE",
        "secret": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "token": "",
    }
    if chance.random() < 0.3:
        given["token"] = "FwoGZXIvYXdzEXAMPLE/+=="
    query_text = "&".join(f"{encode(n)}={encode(v)}" for n, v in given["query"])
    url = f"http://{given['host']}{encode(given['path'], '/')}" + (f"?{query_text}" if query_text else "")
    request = AWSRequest(method=given["method"], url=url, data=given["payload"].encode(), headers=dict(headers))
    request.headers["Host"] = given["host"]
    # The payload is signed on plain connections; botocore leaves it out under TLS unless told otherwise.
    request.context["payload_signing_enabled"] = True
    request.context["client_config"] = None
    credentials = Credentials(given["accessKey"], given["secret"], given["token"] or None)

    def fixed(remove_tzinfo=True):
        return now.replace(tzinfo=None) if remove_tzinfo else now

    botocore.auth.get_current_datetime = fixed
    botocore.auth.S3SigV4Auth(credentials, "s3", given["region"]).add_auth(request)
    given["signature"] = request.headers["Authorization"].rsplit("Signature=", 1)[1]
    given["signedHeaders"] = request.headers["Authorization"].split("SignedHeaders=")[1].split(",")[0]
    return given


cases = [case() for _ in range(COUNT)]
made = "by Scripts/interop/s3-signatures.py with botocore " + botocore.__version__ + ", class S3SigV4Auth, seed 20261128"
with open(sys.argv[1], "w", encoding="utf-8") as output:
    output.write('{"made": ' + json.dumps(made) + ', "cases": [\n')
    output.write(",\n".join(json.dumps(each, ensure_ascii=False) for each in cases))
    output.write("\n]}\n")
