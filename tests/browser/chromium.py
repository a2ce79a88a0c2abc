# SPDX-License-Identifier: Apache-2.0
"""Shows a file in Debian's chromium, without a window."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile

PROGRAM = shutil.which("chromium")
VIRTUAL_MS = 3000  # of the page's own time
TIMEOUT_S = 120


def skip_without():
    if PROGRAM is None:
        print("skipped: chromium isn't installed")
        sys.exit(77)


def show(path, address="", action=None, size=(1200, 800), screenshot=None, dark=False):
    """Returns the document as it is in the end, and what it said on the console. `address` goes behind the path;
    `action` is a script that runs after those of the file."""
    with tempfile.TemporaryDirectory() as folder:
        if action:
            path = with_action(path, action, folder)
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--hide-scrollbars",
            "--disable-background-networking",
            "--enable-logging=stderr",
            f"--user-data-dir={folder}/data",
            f"--virtual-time-budget={VIRTUAL_MS}",
            f"--window-size={size[0]},{size[1]}",
        ]
        if dark:
            options.append("--blink-settings=preferredColorScheme=0")
        options.append(f"--screenshot={screenshot}" if screenshot else "--dump-dom")
        environment = dict(os.environ, HOME=folder, XDG_RUNTIME_DIR=folder, DBUS_SESSION_BUS_ADDRESS="disabled:")
        with subprocess.Popen(
            [PROGRAM, *options, f"file://{path}{address}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
            cwd=folder,
        ) as browser:
            try:
                document, said = browser.communicate(timeout=TIMEOUT_S)
            finally:
                try:
                    os.killpg(browser.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
    return document, [line for line in said.splitlines() if "CONSOLE" in line]


def with_action(path, action, folder):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    name, end = os.path.basename(path), "</svg>" if path.endswith(".svg") else "</body>"
    before, after = text.rsplit(end, 1)
    if end == "</svg>":
        action = action.replace("&", "&amp;").replace("<", "&lt;")
    changed = os.path.join(folder, name)
    with open(changed, "w", encoding="utf-8") as file:
        file.write(f"{before}<script>{action}</script>{end}{after}")
    return changed
