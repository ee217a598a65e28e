#!/usr/bin/env python3
"""Writes Vectors/ml-dsa-44/cosignatures.json: checkpoints cosigned with ML-DSA-44 by OpenSSL (through the Python package
`cryptography`, 48 or newer), the signed message put together here from tlog-cosignature's text. Shares no code with ours.

    Scripts/interop/ml-dsa-44.py > Vectors/ml-dsa-44/cosignatures.json    other signatures at each run: they are randomised
    Scripts/interop/ml-dsa-44.py --verify VKEY < NOTE                     checks the line of a key in a note: ours, in turn
"""
import base64, hashlib, json, sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PrivateKey, MLDSA44PublicKey

ROOT = hashlib.sha256(b"a root").digest()
NAME = "witness.example/w1"


def key_id(name, public):
    return hashlib.sha256(name.encode() + b"\n\x06" + public).digest()[:4]


def message(name, time, origin, end, root, start=0):
    name, origin = name.encode(), origin.encode()
    return (b"subtree/v1\n\0" + bytes([len(name)]) + name + time.to_bytes(8, "big") + bytes([len(origin)]) + origin
            + start.to_bytes(8, "big") + end.to_bytes(8, "big") + root)


def text(origin, size, root=ROOT, extensions=()):
    lines = [origin, str(size), base64.b64encode(root).decode(), *extensions]
    return "".join(line + "\n" for line in lines)


def case(why, valid, *, name=NAME, origin="log.example/one", size=20852163, time=1679315147, extensions=(), signed=None,
         change=lambda blob: blob, wide=False, shown=None):
    """`signed` are the message's parts that differ from the text's."""
    seed = hashlib.sha256(b"signet ml-dsa-44 vectors: " + name.encode()).digest()
    key = MLDSA44PrivateKey.from_seed_bytes(seed)
    public = key.public_key().public_bytes_raw()
    parts = {"name": name, "time": time, "origin": origin, "end": size, "root": ROOT, **(signed or {})}
    blob = time.to_bytes(8, "big") + key.sign(message(**parts))
    id = key_id(name, public)
    line = "— %s %s\n" % (name, base64.b64encode(id + change(blob)).decode())
    vkey = "%s+%s+%s" % (name, id.hex(), base64.b64encode(b"\x06" + public).decode())
    return {"why": why, "valid": valid, "time": time, "seed": seed.hex(), "vkey": vkey,
            "text": shown or text(origin, size, extensions=extensions), "line": line}


def flip(blob, place):
    return blob[:place] + bytes([blob[place] ^ 1]) + blob[place + 1 :]


def cases():
    yield case("a checkpoint", True)
    yield case("the time zero: nothing is said of the largest tree", True, time=0)
    yield case("the latest time", True, time=2**63 - 1)
    yield case("an empty tree and the largest size below 2^63", True, size=2**63 - 1)
    yield case("an extension line is not covered", True, extensions=["an extension"])
    yield case("an origin with spaces, of 255 bytes", True, origin="go.sum database tree " + "x" * 234)
    yield case("a name of 255 bytes", True, name="n" * 255)
    yield case("another cosigner's name in the message", False, signed={"name": "witness.example/w2"})
    yield case("another time in the message", False, signed={"time": 1679315148})
    yield case("another origin in the message", False, signed={"origin": "log.example/two"})
    yield case("a subtree that does not begin at zero", False, signed={"start": 1})
    yield case("another size in the message", False, signed={"end": 20852164})
    yield case("another root in the message", False, signed={"root": hashlib.sha256(b"another").digest()})
    yield case("the first bit of the signature flipped", False, change=lambda blob: flip(blob, 8))
    yield case("the last bit of the signature flipped", False, change=lambda blob: flip(blob, len(blob) - 1))
    yield case("a signature cut by one byte", False, change=lambda blob: blob[:-1])
    yield case("a time above 2^63 - 1", False, time=2**63)
    yield case("the text of no checkpoint", False, shown="log.example/one\n")


def verify(vkey, note):
    name, id, material = vkey.split("+", 2)
    public = base64.b64decode(material)[1:]
    body, signatures = note.split("\n\n")
    origin, size, root = (body + "\n").split("\n")[:3]
    line = next(line for line in signatures.splitlines()
                if line.startswith("— %s " % name) and base64.b64decode(line.split(" ")[2])[:4].hex() == id)
    blob = base64.b64decode(line.split(" ")[2])[4:]
    time = int.from_bytes(blob[:8], "big")
    try:
        MLDSA44PublicKey.from_public_bytes(public).verify(
            blob[8:], message(name, time, origin, int(size), base64.b64decode(root)))
    except InvalidSignature:
        sys.exit("the cosignature does not verify")
    print("cosigned at", time)


if sys.argv[1:2] == ["--verify"]:
    verify(sys.argv[2], sys.stdin.read())
else:
    print("[\n" + ",\n".join(json.dumps(each, ensure_ascii=False) for each in cases()) + "\n]")
