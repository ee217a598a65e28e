#!/usr/bin/env python3
"""Ed25519 "keys" for which no private key is needed to sign, computed from the curve's equation without our code.

The curve (RFC 8032, section 5.1) has eight points of small order. Each has one proper spelling; BoringSSL, and so
swift-crypto, also reads others of the same points: y + p where that fits in 255 bits, and a sign where x is zero. For every
one of them a signature that BoringSSL accepts can be made without a private key: S = r, R = [r]B, with r drawn until the
hash makes the key's share vanish.

    small-order.py list             the spellings, one on a line: hexadecimal, order, what is unusual
    small-order.py sign KEY FILE    64 bytes in hexadecimal that verify under KEY (hexadecimal) over FILE's bytes
    small-order.py check FOLDER     demands that each key-…-of-… case in FOLDER (Vectors/tlog-proof) holds such a signature:
                                    that nothing but the key is wrong with it
"""
import base64, hashlib, pathlib, sys

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)  # of -1


def x_of(y, sign):
    """The x of a point, as BoringSSL reads it: y is taken modulo p, and a sign of x = 0 is ignored. None off the curve."""
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if v * x * x % P == -u % P:
        x = x * ROOT % P
    if v * x * x % P != u:
        return None
    return P - x if x and x % 2 != sign else x


def decode(text):
    number = int.from_bytes(text, "little")
    y = number % 2**255 % P
    x = x_of(y, number >> 255)
    return None if x is None else (x, y)


def encode(point):
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def add(a, b):
    (x1, y1), (x2, y2) = a, b
    t = D * x1 * x2 * y1 * y2 % P
    return ((x1 * y2 + x2 * y1) * pow(1 + t, -1, P) % P, (y1 * y2 + x1 * x2) * pow(1 - t, -1, P) % P)


def times(number, point):
    sum = (0, 1)
    while number:
        if number & 1:
            sum = add(sum, point)
        point, number = add(point, point), number >> 1
    return sum


BASE = (lambda y: (x_of(y, 0), y))(4 * pow(5, -1, P) % P)
ZERO = (0, 1)


def order(point):
    """1, 2, 4 or 8; None for every other point."""
    return next((n for n in (1, 2, 4, 8) if times(n, point) == ZERO), None)


def small_points():
    """[L]Q has an order that divides 8, for any Q: enough of them are all eight."""
    points, y = set(), 2
    while len(points) < 8:
        x = x_of(y, 0)
        if x is not None:
            points.add(times(L, (x, y)))
        y += 1
    return sorted(points, key=lambda point: (order(point), point[1], point[0]))


def spellings():
    """Every 32 bytes that BoringSSL reads as a point of small order."""
    for point in small_points():
        yield encode(point), order(point), "canonical"
    for point in small_points():
        if point[0] == 0:
            yield (point[1] | 1 << 255).to_bytes(32, "little"), order(point), "x is zero and has a sign"
        if point[1] + P < 2**255:
            for sign in (0, 1) if point[0] == 0 else (point[0] & 1,):
                text = (point[1] + P | sign << 255).to_bytes(32, "little")
                yield text, order(point), "y is not below p" + (" and x is zero and has a sign" if sign and not point[0] else "")


def share(key, r_text, message):
    digest = hashlib.sha512(r_text + key + message).digest()
    return int.from_bytes(digest, "little") % L


def verifies(key, signature, message):
    """RFC 8032, section 5.1.7, without the cofactor, as BoringSSL does it: encode([S]B - [k]A) is R."""
    point = decode(key)
    s = int.from_bytes(signature[32:], "little")
    if point is None or s >= L:
        return False
    minus = (-point[0] % P, point[1])
    k = share(key, signature[:32], message)
    return encode(add(times(s, BASE), times(k, minus))) == signature[:32]


def forge(key, message):
    n = order(decode(key))
    assert n, "not a key of small order"
    r = 1
    while True:
        r_text = encode(times(r, BASE))
        if share(key, r_text, message) % n == 0:
            signature = r_text + r.to_bytes(32, "little")
            assert verifies(key, signature, message)
            return signature
        r += 1


def check(folder):
    """The lines of a case: its policy's one log or witness with such a key, and the line of that key."""
    bad = {text: n for text, n, _ in spellings()}
    seen = 0
    for path in sorted(pathlib.Path(folder).glob("*-key-*.txt")):
        head, rest = path.read_bytes().split(b"\n\n", 1)
        sizes = {line.split(b": ")[0]: int(line.split()[1]) for line in head.split(b"\n") if line.endswith(b" bytes")}
        policy, proof = rest[: sizes[b"policy"]], rest[sizes[b"policy"] + sizes[b"entry"] :]
        for words in (line.split() for line in policy.split(b"\n")):
            if not words or words[0] not in (b"log", b"witness"):
                continue
            name, id, material = words[1 if words[0] == b"log" else 2].split(b"+", 2)
            material = base64.b64decode(material)
            if material[1:] not in bad:
                continue
            text, lines = proof.split(b"\n\n", 2)[1:]
            line = next(line for line in lines.split(b"\n") if line.startswith("— ".encode() + name + b" "))
            blob = base64.b64decode(line.split(b" ")[2])
            assert blob[:4] == bytes.fromhex(id.decode()), path
            message, blob = text + b"\n", blob[4:]
            if material[0] == 4:
                message = b"cosignature/v1\ntime %d\n" % int.from_bytes(blob[:8], "big") + message
                blob = blob[8:]
            assert verifies(material[1:], blob, message), path
            seen += 1
    assert seen, "no such case here"
    print(f"{seen} cases: every signature verifies under a key that is none")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["list"]:
            for text, n, what in spellings():
                print(text.hex(), n, what)
        case ["sign", key, path]:
            print(forge(bytes.fromhex(key), pathlib.Path(path).read_bytes()).hex())
        case ["check", folder]:
            check(folder)
        case _:
            sys.exit(__doc__)
