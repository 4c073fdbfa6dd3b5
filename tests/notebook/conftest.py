"""Captures that come with wavewright, unpacked once, and programs that show notebooks."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tests.cli.in_process import call
from tests.e2e.browser import FLAGS, browser_path

PATIENCE_S = 600  #: Two cores may be shared by many.


@pytest.fixture(scope="session")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `trace`, `run/before`, `run/after`, `counters/before` and `counters/after`: what `demo` keeps."""
    folder = tmp_path_factory.mktemp("captures")
    for name, option in (("trace", []), ("run", ["--run"]), ("counters", ["--counters"])):
        done = call("demo", *option, "--keep", folder / name, "--json")
        assert done.status == 0, done.stderr
    return folder


@pytest.fixture(scope="package")
def browser() -> Iterator[object]:
    """One for all tests of this folder, which ends with them: tests/e2e may need one in the same process."""
    path = browser_path()
    if path is None:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield started
        started.close()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class Program:
    """A program that serves notebooks until the test session ends."""

    def __init__(self, module: str, arguments: list[str], folder: Path, address: str) -> None:
        self.folder, self.address = folder, address
        environment = os.environ | {
            "HOME": str(folder / ".home"),
            "JUPYTER_CONFIG_DIR": str(folder / ".home" / "config"),
            "JUPYTER_DATA_DIR": str(folder / ".home" / "data"),
            "JUPYTER_RUNTIME_DIR": str(folder / ".home" / "runtime"),
            "IPYTHONDIR": str(folder / ".home" / "ipython"),
            "WAVEWRIGHT_CACHE": "",
        }
        self.log = (folder / "log.txt").open("wb")
        command = [sys.executable, "-m", module, *arguments]
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stdout=self.log, stderr=subprocess.STDOUT)

    def wait(self) -> None:
        """Wait until it answers."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            assert self.process.poll() is None, (self.folder / "log.txt").read_text()[-2000:]
            try:
                with urllib.request.urlopen(self.address):  # noqa: S310 - on this machine
                    return
            except OSError:
                time.sleep(0.3)
        raise AssertionError((self.folder / "log.txt").read_text()[-2000:])

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.log.close()


def lacking(module: str) -> str:
    """Why a program cannot be started; empty = it can."""
    return "" if find_spec(module) else f"{module} is not installed: the dependency group `notebooks` has it"


@pytest.fixture(scope="session")
def jupyterlab(captures: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """JupyterLab on this machine, with the captures in its folder."""
    if reason := lacking("jupyterlab"):
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("jupyterlab")
    shutil.copytree(captures, folder / "captures")
    port = free_port()
    arguments = [
        "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0",
        "--IdentityProvider.token=", "--ServerApp.password=", f"--ServerApp.root_dir={folder}",
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]  # fmt: skip
    program = Program("jupyterlab", arguments, folder, f"http://127.0.0.1:{port}/lab")
    program.wait()
    yield program
    program.stop()
