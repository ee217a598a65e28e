#!/usr/bin/env python3
"""Cards across implementations: what other people's programs make is judged by ours, and what ours makes by theirs.

    sd-jwt      (the authors of RFC 9901): presentations of SD-JWT VC
    jwcrypto    encrypted answers (ECDH-ES), and the signatures of status lists
    isomdoc     mobile documents with the device's signature, over OpenID4VP
    pymdoccbor  mobile documents: the issuer's signature and the digests

Each direction has a hundred good ones, and for each of these one with a changed byte, which has to be refused. Ours are of the
schemas of the sets around credentials, and so are theirs, as `signet-vectors` reads them.

usage: Scripts/interop/cards.py [FOLDER WITH THE PROGRAMS]
"""
import base64, contextlib, datetime, hashlib, io, json, logging, os, pathlib, secrets, subprocess, sys, tempfile, time, warnings, zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True
import peer_packages

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGES = ["sd-jwt==0.10.4", "jwcrypto==1.6.1", "pymdoccbor==1.4.0", "isomdoc==0.0.5"]
COUNT = 100
TYPE, AUDIENCE, DOCUMENT = "urn:signet:member-card:1", "x509_san_dns:shop.example", "eu.europa.ec.av.1"
ISSUER, ADDRESS = "https://club.example", "https://shop.example/answer"


def text64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def bytes64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Issuer:
    """A key with a certificate by an authority of this run."""

    def __init__(self, folder):
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec

        self.now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
        authority, self.key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())

        def certificate(name, key, is_authority):
            def named(text):
                return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

            usage = dict.fromkeys(["digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
                                   "key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"], False)
            usage["key_cert_sign" if is_authority else "digital_signature"] = True
            names = [] if is_authority else [x509.DNSName("club.example"), x509.UniformResourceIdentifier(ISSUER)]
            builder = (
                x509.CertificateBuilder().subject_name(named(name)).issuer_name(named("authority"))
                .public_key(key.public_key()).serial_number(x509.random_serial_number())
                .not_valid_before(self.now - datetime.timedelta(days=1)).not_valid_after(self.now + datetime.timedelta(days=30))
                .add_extension(x509.BasicConstraints(is_authority, None), critical=True)
                .add_extension(x509.KeyUsage(**usage), critical=True))
            if names:
                builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
            return builder.sign(authority, hashes.SHA256())

        self.root, self.certificate = certificate("authority", authority, True), certificate("club", self.key, False)
        pem = serialization.Encoding.PEM
        self.files = {name: folder / f"{name}.pem" for name in ["certificate", "key", "root"]}
        self.files["certificate"].write_bytes(self.certificate.public_bytes(pem))
        self.files["root"].write_bytes(self.root.public_bytes(pem))
        self.files["key"].write_bytes(self.key.private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))

    def der(self, certificate):
        from cryptography.hazmat.primitives import serialization
        return base64.b64encode(certificate.public_bytes(serialization.Encoding.DER)).decode()


def web_key(key=None):
    from jwcrypto import jwk
    return jwk.JWK.generate(kty="EC", crv="P-256") if key is None else jwk.JWK.from_pyca(key)


def changed(text):
    """The same text with one character of the second half changed to another one of base64url."""
    spot = len(text) // 2 + secrets.randbelow(len(text) // 2 - 2)
    while text[spot] in ".~" or text[spot + 1] in ".~":  # the last character of a part has bits that say nothing
        spot = len(text) // 2 + secrets.randbelow(len(text) // 2 - 2)
    return text[:spot] + ("A" if text[spot] != "A" else "B") + text[spot + 1:]


# MARK: what theirs says of ours

def sd_jwt_says(case):
    from sd_jwt.verifier import SDJWTVerifier
    from jwcrypto import jwk
    from cryptography import x509

    def issuer_key(name, header):
        if "x5c" in header:
            return web_key(x509.load_der_x509_certificate(base64.b64decode(header["x5c"][0])).public_key())
        return jwk.JWK(**case["issuer_keys"][name])

    with contextlib.redirect_stdout(io.StringIO()):
        return SDJWTVerifier(case["presentation"], issuer_key, case["aud"], case["nonce"]).get_verified_payload()


def jwcrypto_opens(case):
    from jwcrypto import jwe, jwk
    token = jwe.JWE()
    token.deserialize(case["response"], jwk.JWK(**{name: case["key"][name] for name in ["kty", "crv", "x", "y", "d"]}))
    said = json.loads(token.payload)
    assert said["state"] == case["state"], said
    return said["vp_token"]


def jwcrypto_reads_the_list(case):
    """The signature by jwcrypto; the list itself by zlib and the specification's words, because no package reads it."""
    from jwcrypto import jwk, jws
    token = jws.JWS()
    token.deserialize(case["token"], jwk.JWK(**case["issuer_key"]))
    said, reference = json.loads(token.payload), case["status"]["status_list"]
    assert said["sub"] == reference["uri"], said["sub"]
    bits, index = said["status_list"]["bits"], reference["idx"]
    entries = zlib.decompress(bytes64(said["status_list"]["lst"]))
    return entries[index * bits // 8] >> (index * bits % 8) & (1 << bits) - 1


def transcript(case):
    import cbor2
    said = [case["client_id"], case["nonce"], bytes.fromhex(case["jwk_thumbprint"]), case["response_uri"]]
    return [None, None, ["OpenID4VPHandover", hashlib.sha256(cbor2.dumps(said)).digest()]]


def isomdoc_says(case):
    from isomdoc.verify.verify_mdoc import DeviceResponse
    read = DeviceResponse(bytes.fromhex(case["device_response"]), transcript(case))
    (document,) = read.documents
    return {space: {item.element_identifier: item.element_value for item in items}
            for space, items in document.issuer_signed.namespaces.items()}


def pymdoccbor_says(case):
    from pymdoccbor.mdoc.verifier import MdocCbor
    reader = MdocCbor()
    reader.loads(case["device_response"])
    assert reader.verify(), "refused"
    return reader.disclosure_map


# MARK: what theirs makes

def made_presentation(issuer, number):
    """By sd-jwt: nested claims and lists too, and digests that stand for nothing in every other one."""
    from sd_jwt.common import SDObj
    from sd_jwt.holder import SDJWTHolder
    from sd_jwt.issuer import SDJWTIssuer

    now, holder = int(issuer.now.timestamp()), web_key()
    claims = {"iss": ISSUER, "vct": TYPE, "exp": now + 86400, SDObj("member"): True, SDObj("name"): "Zoë 🎷 \"Marić\"",
              "address": {SDObj("city"): "Ljubljana", SDObj("lines"): ["Trg 1", None]}, "roles": [SDObj("crew"), SDObj("cook")]}
    signing = web_key(issuer.key)
    is_certified = number % 2 == 0
    header = {"typ": "dc+sd-jwt"} | ({"x5c": [issuer.der(issuer.certificate)]} if is_certified else {})
    issued = SDJWTIssuer(claims, signing, holder, add_decoy_claims=number % 4 > 1, extra_header_parameters=header)
    shown = {"member": bool(number & 1), "name": bool(number & 2), "address": {"city": bool(number & 4), "lines": bool(number & 8) or None},
             "roles": [bool(number & 16), bool(number & 32)]}
    nonce = secrets.token_urlsafe(24)
    presented = SDJWTHolder(issued.sd_jwt_issuance)
    presented.create_presentation(shown, nonce, AUDIENCE, holder)
    expected = {"iss": ISSUER, "vct": TYPE, "exp": now + 86400, "cnf": {"jwk": holder.export_public(as_dict=True)},
                "address": {}, "roles": [name for name, bit in [("crew", 16), ("cook", 32)] if number & bit]}
    expected |= ({"member": True} if number & 1 else {}) | ({"name": "Zoë 🎷 \"Marić\""} if number & 2 else {})
    expected["address"] = ({"city": "Ljubljana"} if number & 4 else {}) | ({"lines": ["Trg 1", None]} if number & 8 else {})
    return {"presentation": presented.sd_jwt_presentation, "aud": AUDIENCE, "nonce": nonce, "now": now,
            "policy": {"require_key_binding": True, "vct_values": [TYPE], "max_kb_age": 300, "clock_skew": 60,
                       "allow_self_issued": False},
            "issuer_keys": {} if is_certified else {ISSUER: signing.export_public(as_dict=True)},
            "issuer_roots": [issuer.der(issuer.root)] if is_certified else [], "claims": expected}


def made_response(issuer, number):
    from jwcrypto import jwe
    key, state, name = web_key(), secrets.token_urlsafe(24), secrets.token_urlsafe(8)
    tokens = {"card": [secrets.token_urlsafe(200)]}
    encryption = ["A128GCM", "A256GCM"][number % 2]
    token = jwe.JWE(json.dumps({"vp_token": tokens, "state": state}).encode(),
                    json.dumps({"alg": "ECDH-ES", "enc": encryption, "kid": name}))
    token.add_recipient(key)
    return {"response": token.serialize(compact=True), "key": key.export_private(as_dict=True) | {"kid": name},
            "enc_values": ["A128GCM", "A256GCM"], "state": state, "credential_ids": ["card"], "vp_token": tokens}


def isomdoc_issues(issuer, device, elements):
    from isomdoc.create.create_mdoc import create_mdoc
    import cbor2
    document = create_mdoc(DOCUMENT, [issuer.certificate], issuer.key)
    for name, value in elements.items():
        document.add_data_item(DOCUMENT, name, value)
    day = datetime.timedelta(days=1)
    return cbor2.loads(document.generate_credential(device, issuer.now, issuer.now, issuer.now + day))


def pymdoccbor_issues(issuer, device, elements):
    from pymdoccbor.mdoc.issuer import MdocCborIssuer

    def coordinates(key):
        numbers = key.public_numbers()
        return numbers.x.to_bytes(32, "big"), numbers.y.to_bytes(32, "big")

    x, y = coordinates(issuer.key.public_key())
    secret = issuer.key.private_numbers().private_value.to_bytes(32, "big")
    maker = MdocCborIssuer(
        private_key={"KTY": "EC2", "CURVE": "P_256", "ALG": "ES256", "KID": b"club", "D": secret, "X": x, "Y": y}, alg="ES256")
    x, y = coordinates(device)
    tomorrow = issuer.now + datetime.timedelta(days=1)
    made = maker.new(
        {DOCUMENT: dict(elements)}, DOCUMENT, {"issuance_date": f"{issuer.now:%Y-%m-%d}", "expiry_date": f"{tomorrow:%Y-%m-%d}"},
        {"KTY": "EC2", "CURVE": "P_256", "X": x, "Y": y}, cert_path=str(issuer.files["certificate"]))
    return made["documents"][0]["issuerSigned"]


def made_document(issuer, number):
    """By both in turn, and shown with a signature by cryptography: neither makes that one."""
    import cbor2
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

    device = ec.generate_private_key(ec.SECP256R1())
    elements = {"age_over_18": True, "age_over_65": number % 3 == 0, "given_name": "Zoë"}
    issues = isomdoc_issues if number % 2 else pymdoccbor_issues
    issued = issues(issuer, device.public_key(), elements)
    shown = [name for place, name in enumerate(elements) if (number % 7 + 1) >> place & 1]
    spaces = {DOCUMENT: [item for item in issued["nameSpaces"][DOCUMENT]
                         if cbor2.loads(item.value)["elementIdentifier"] in shown]}
    case = {"client_id": AUDIENCE, "nonce": secrets.token_urlsafe(24), "jwk_thumbprint": secrets.token_hex(32),
            "response_uri": ADDRESS}
    said = cbor2.CBORTag(24, cbor2.dumps({}))
    signed = cbor2.dumps(cbor2.CBORTag(24, cbor2.dumps(["DeviceAuthentication", transcript(case), DOCUMENT, said])))
    protected = cbor2.dumps({1: -7})
    r, s = decode_dss_signature(device.sign(cbor2.dumps(["Signature1", protected, b"", signed]), ec.ECDSA(hashes.SHA256())))
    signature = [protected, {}, None, r.to_bytes(32, "big") + s.to_bytes(32, "big")]
    response = cbor2.dumps({
        "version": "1.0", "status": 0, "documents": [{
            "docType": DOCUMENT, "issuerSigned": {"nameSpaces": spaces, "issuerAuth": issued["issuerAuth"]},
            "deviceSigned": {"nameSpaces": said, "deviceAuth": {"deviceSignature": signature}}}]})
    return case | {"device_response": response.hex(), "doctype": DOCUMENT, "now": int(time.time()),
                   "roots": [issuer.der(issuer.root)], "required": [],
                   "claims": {DOCUMENT: {name: elements[name] for name in shown}}}


def made_list(issuer, number):
    from jwcrypto import jws
    bits, key, now, uri = [1, 2, 4, 8][number % 4], web_key(), int(issuer.now.timestamp()), f"{ISSUER}/status/1"
    entries = bytearray(secrets.token_bytes(512))
    index = secrets.randbelow(len(entries) * 8 // bits)
    value = entries[index * bits // 8] >> (index * bits % 8) & (1 << bits) - 1
    payload = {"sub": uri, "iat": now, "exp": now + 600, "ttl": 300,
               "status_list": {"bits": bits, "lst": text64(zlib.compress(bytes(entries), 9))}}
    token = jws.JWS(json.dumps(payload).encode())
    token.add_signature(key, None, json.dumps({"alg": "ES256", "typ": "statuslist+jwt"}))
    return {"token": token.serialize(compact=True), "status": {"status_list": {"idx": index, "uri": uri}}, "now": now,
            "max_age": 86400, "max_bytes": 1 << 20, "issuer_key": key.export_public(as_dict=True), "value": value}


# The set, the field that is changed, who says what of ours beside what the case expects, and who makes theirs.
SETS = [
    ("sd-jwt-vc", "presentation", {"sd-jwt": (sd_jwt_says, "claims")}, made_presentation),
    ("responses", "response", {"jwcrypto": (jwcrypto_opens, "vp_token")}, made_response),
    ("mdoc", "device_response", {"isomdoc": (isomdoc_says, "claims"), "pymdoccbor": (pymdoccbor_says, None)}, made_document),
    ("status-list", "token", {"jwcrypto": (jwcrypto_reads_the_list, "value")}, made_list),
]


def changed_case(case, field):
    text = case[field]
    if field != "device_response":
        return case | {field: changed(text)}
    # In the issuer's signature, because pymdoccbor judges nothing else: the 64 bytes before the device's part.
    spot = text.index("6c" + b"deviceSigned".hex()) - 2 * (1 + secrets.randbelow(64))
    return case | {field: text[:spot] + f"{int(text[spot:spot + 2], 16) ^ 1:02x}" + text[spot + 2:]}


def refuses(judge, case):
    try:
        judge(case)
    except Exception:
        return True
    return False


def ours_read_by_theirs(folder):
    for name, field, judges, _ in SETS:
        cases = json.loads((folder / f"{name}.json").read_text())
        assert len(cases) == COUNT, name
        for peer, (judge, expected) in judges.items():
            for case in cases:
                said = judge(case)
                if expected is not None and said != case[expected]:
                    sys.exit(f"interop: {peer} reads {case['name']} of {name} otherwise:\n{said}\n{case[expected]}")
                if not refuses(judge, changed_case(case, field)):
                    sys.exit(f"interop: {peer} accepts {case['name']} of {name} with a changed byte")
            print(f"ours, read by {peer}: {COUNT} of {name} as they were meant, {COUNT} changed ones refused", flush=True)


def theirs_read_by_ours(programs, folder, issuer):
    for name, field, judges, make in SETS:
        cases = [make(issuer, number) | {"name": f"theirs-{number}", "valid": True, "rule": None} for number in range(COUNT)]
        cases += [changed_case(case, field) | {"name": f"changed-{case['name']}", "valid": False} for case in cases]
        file = folder / f"theirs-{name}.json"
        file.write_text(json.dumps(cases))
        judged(programs, name, file, f"made with {' and '.join(judges)}, read by ours")


def judged(programs, name, file, title):
    done = subprocess.run([programs / "signet-vectors", name, file], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"interop: {title}: {done.stdout[-2000:]}{done.stderr[-500:]}")
    print(f"{title}: {name}: {done.stdout.strip().splitlines()[-1]}", flush=True)


def main():
    peer_packages.enter(PACKAGES, "interop", "cards across implementations")
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    programs = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / ".build/debug").resolve()
    with tempfile.TemporaryDirectory(prefix="signet-cards.") as work:
        folder = pathlib.Path(work)
        issuer = Issuer(folder)
        options = [word for name, file in issuer.files.items() for word in (f"--{name}", str(file))]
        made = subprocess.run([programs / "signet-vectors", "generate", "cards", str(folder / "ours"), "--count", str(COUNT), *options])
        if made.returncode:
            sys.exit("interop: our cards were not made")
        for name, _, _, _ in SETS:
            judged(programs, name, folder / "ours" / f"{name}.json", "ours, read by ours")
        ours_read_by_theirs(folder / "ours")
        theirs_read_by_ours(programs, folder, issuer)


main()
