#!/usr/bin/env python3
"""What verifying a card costs, beside other people's programs that verify the same one in the same run.

    Benchmarks/cards.py FOLDER-WITH-THE-PROGRAMS FOLDER-FOR-FILES

The program measures ours natively and writes the presentations. sd-jwt, of the authors of RFC 9901, judges them in Python, and node by WebCrypto, which
is what a page could do without our module; the module itself runs in node too. All are measured in turn, round after round. A peer that is
not here is left out.
"""
import contextlib, io, json, os, pathlib, shutil, statistics, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path += [str(ROOT / "Scripts"), str(ROOT / "Benchmarks")]
import peer_packages
from serving import goal, row

IS_TRIED = "SIGNET_TRY_BENCHMARKS" in os.environ
ROUNDS, TIMES = 7, 50


def sd_jwt(case):
    """Milliseconds of processor time of one verification."""
    from jwcrypto import jwk
    from sd_jwt.verifier import SDJWTVerifier

    key = jwk.JWK(**next(iter(case["issuer_keys"].values())))
    start = time.process_time()
    for _ in range(TIMES):
        with contextlib.redirect_stdout(io.StringIO()):
            SDJWTVerifier(case["presentation"], lambda *_: key, case["aud"], case["nonce"]).get_verified_payload()
    return 1000 * (time.process_time() - start) / TIMES


def in_node(path):
    """The same, of WebCrypto and of our module, each in a process."""
    found = {}
    for kind in ["webcrypto", "module"]:
        done = subprocess.run(["node", ROOT / "Benchmarks/peers/cards.mjs", kind, path, str(TIMES)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"bench: node: {done.stderr}")
        found[kind] = float(done.stdout)
    return found


def main():
    programs, folder = map(pathlib.Path, sys.argv[1:3])
    path = folder / "cards.json"
    if os.environ.get("SIGNET_PEERS") != "bench-cards":
        if subprocess.run([programs / "card-bench", path]).returncode:
            sys.exit("bench: card-bench failed")
        if IS_TRIED:
            return
        sys.stdout.flush()
        peer_packages.enter(["sd-jwt==0.10.4", "jwcrypto==1.6.1"], "bench-cards", "nothing is compared with sd-jwt")
    case = json.loads(path.read_text())[0]
    has_node = shutil.which("node") is not None
    if has_node:
        subprocess.run([ROOT / "Scripts/wasm"], check=True, stdout=subprocess.DEVNULL)
    figures = []
    for _ in range(ROUNDS):
        # What native code takes is measured here once more, in turn with the others.
        native = subprocess.run([programs / "card-bench", "--again", path, str(TIMES)], capture_output=True, text=True)
        if native.returncode:
            sys.exit(f"bench: card-bench: {native.stderr}")
        figures.append({"native": float(native.stdout), "sd-jwt": sd_jwt(case), **(in_node(path) if has_node else {})})
    print("\nVerifying the same card of one claim with other programs", flush=True)
    names = {"native": "ours, native", "sd-jwt": "sd-jwt 0.10.4, Python", "module": "ours, WebAssembly in node", "webcrypto": "WebCrypto in node"}
    for name in figures[0]:
        row(f"{names[name]}, fastest round", f"{min(each[name] for each in figures):.2f} ms")
    def ratio(ours, peer):
        return f"{names[ours]} ÷ {names[peer]}, median of rounds", statistics.median(each[ours] / each[peer] for each in figures)

    goal(*ratio("native", "sd-jwt"), 1, is_peer=True)
    if has_node:
        name, figure = ratio("module", "webcrypto")
        row(name, f"{figure:.2f}")
    else:
        row("WebCrypto", "node is not here")


main()
