"""A real browser for the checks of pages: Chromium under Selenium, and axe-core.

Chromium and Selenium come from the system's package manager, axe-core from a pinned package of PyPI. What cannot be had is left
out, and said.
"""
import os, pathlib, shutil, subprocess, sys, zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The package of PyPI that carries axe-core as one file.
AXE = "axe-playwright-python==0.1.8"
# The narrowest telephones, and what zooming to 400 % makes of a desktop (WCAG 2.2, 1.4.10), in pixels.
NARROW = [360, 320]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def left_out(check, what):
    sys.exit(subprocess.run([ROOT / "Scripts/left-out", check, what]).returncode)


def install(check):
    """Debian's browser, its driver and Selenium; says what is missing if they cannot be installed."""
    wanted = {"chromium": "chromium", "chromedriver": "chromium-driver"}
    missing = [package for program, package in wanted.items() if not shutil.which(program)]
    if subprocess.run(["/usr/bin/python3", "-c", "import selenium"], capture_output=True).returncode:
        missing.append("python3-selenium")
    if missing:
        root = [] if os.geteuid() == 0 else ["sudo", "-n"]
        done = shutil.which("apt-get") and subprocess.run(
            root + ["apt-get", "install", "-y", "-qq", "--no-install-recommends"] + missing, stdout=subprocess.DEVNULL)
        if not done or done.returncode:
            left_out(check, "not walked, for this machine has no " + ", ".join(missing))
    try:
        import selenium
    except ImportError:
        # Debian's Selenium belongs to Debian's Python.
        if sys.executable == "/usr/bin/python3":
            left_out(check, "not walked, for Selenium cannot be imported")
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])


def axe_source(folder):
    """The text of axe-core, or None."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", folder, AXE],
        capture_output=True)
    for wheel in pathlib.Path(folder).glob("*.whl") if done.returncode == 0 else []:
        with zipfile.ZipFile(wheel) as files:
            for name in files.namelist():
                if name.endswith("axe.min.js"):
                    return files.read(name).decode()
    return None


def driver(*words):
    """A browser without a window."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = shutil.which("chromium")
    # Chromium's own sandbox needs a user other than root; the pages are this project's own.
    for word in ["--headless=new", "--disable-gpu", "--hide-scrollbars", "--no-proxy-server", "--window-size=1100,1400",
                 *words] + (["--no-sandbox"] if os.geteuid() == 0 else []):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def too_wide(driver, picture):
    """Whether the page has to be moved sideways on a telephone, by the width of which it is looked at."""
    faults = []
    for width in NARROW:
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {"width": width, "height": 700, "deviceScaleFactor": 1, "mobile": False})
        over, what = driver.execute_script(
            "const root = document.documentElement, over = root.scrollWidth - root.clientWidth;"
            "const wide = [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > root.clientWidth + 1);"
            "return [over, wide.slice(0, 3).map(e => e.outerHTML.slice(0, 120))]")
        if over > 0:
            faults.append(f"{picture}: {over} pixels too wide for {width}: {'; '.join(what)}")
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    return faults


def look(driver, axe, pictures, picture):
    """Pictures of the page in light and dark, what axe finds in each, and whether it fits a telephone."""
    faults = too_wide(driver, picture)
    for scheme in ["light", "dark"]:
        driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [
                {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}]})
        driver.save_screenshot(str(pictures / f"{picture}-{scheme}.png"))
        if not axe:
            continue
        # By the debugger, as the page's own policy allows no script of others.
        driver.execute_script(axe)
        found, passed = driver.execute_async_script(
            "const done = arguments[1]; axe.run(document, {runOnly: arguments[0]}).then("
            "r => done([r.violations, r.passes.length]), e => done([[{id: String(e), nodes: []}], 0]))", RULES)
        if not passed:
            faults.append(f"{picture}, {scheme}: axe-core has looked at nothing")
        for fault in found:
            where = "; ".join(node["html"][:160] for node in fault["nodes"][:3])
            faults.append(f"{picture}, {scheme}: {fault['id']}: {where}")
    return faults
