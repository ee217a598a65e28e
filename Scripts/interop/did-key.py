#!/usr/bin/env python3
"""Writes a file for `signet-vectors did-key` whose identifiers DIDKit made, an implementation that shares no code
with ours. Needs openssl and the Python package didkit.

    Scripts/interop/did-key.py [COUNT] > /tmp/did-key.json && .build/debug/signet-vectors did-key /tmp/did-key.json
"""

import base64
import json
import subprocess
import sys

import didkit

def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def p256_key():
    """A new public key as a JSON Web Key; openssl prints it last, as 04 || x || y. (DIDKit makes none of P-384.)"""
    private = subprocess.run(
        ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
        check=True, capture_output=True).stdout
    point = subprocess.run(
        ["openssl", "pkey", "-pubout", "-outform", "DER"], input=private, check=True, capture_output=True).stdout
    return {"kty": "EC", "crv": "P-256", "x": text(point[-64:-32]), "y": text(point[-32:])}


def edwards_key():
    key = json.loads(didkit.generate_ed25519_key())
    return {name: key[name] for name in ("kty", "crv", "x")}


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    entries = {}
    for _ in range(count):
        for key in (p256_key(), edwards_key()):
            entries[didkit.key_to_did("key", json.dumps(key))] = {"verificationMethod": {"publicKeyJwk": key}}
    json.dump(entries, sys.stdout, indent=1)


main()
