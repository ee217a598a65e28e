"""Packages of PyPI for scripts in which other people's programs judge ours."""
import os, pathlib, shutil, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def enter(packages, who, left_out):
    """Goes on in a virtual environment below .build that has the packages. Without them, says what is left out, and ends."""
    if os.environ.get("SIGNET_PEERS") == who:
        return
    place = ROOT / ".build" / f"peers-{who}"
    python, wanted = place / "bin" / "python", "\n".join(packages)
    if not (place / "packages").is_file() or (place / "packages").read_text() != wanted:
        print(f"{who}: installing {', '.join(packages)} from PyPI into .build/peers-{who}", flush=True)
        if not (made := environment(place)) and shutil.which("apt-get") and os.geteuid() == 0:
            print(f"{who}: installing python3-venv", flush=True)
            subprocess.run(["apt-get", "-qq", "install", "-y", "--no-install-recommends", "python3-venv"], stdout=subprocess.DEVNULL)
            made = environment(place)
        if not made or subprocess.run([python, "-m", "pip", "-q", "install", *packages]).returncode:
            said = [ROOT / "Scripts/left-out", who, f"the packages of PyPI cannot be had: {left_out}"]
            sys.exit(subprocess.run(said).returncode)
        (place / "packages").write_text(wanted)
    os.execve(python, [python, *sys.argv], os.environ | {"SIGNET_PEERS": who})


def environment(place):
    return subprocess.run([sys.executable, "-m", "venv", "--clear", place], stdout=subprocess.DEVNULL).returncode == 0
