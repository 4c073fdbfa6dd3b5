"""How connections are made, and what is said when there is none."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from tests.unit.capture.made_connections import Network
from wavewright.capture.remote import connect
from wavewright.capture.remote.connection import SSH_OPTIONS, address
from wavewright.errors import MissingToolError, UnreachableError, UsageError


@pytest.mark.parametrize("host", ["-oProxyCommand=x", "me@-x", "", "a b", "a\nb", "a\x1bb", "x" * 400])
def test_names_that_ssh_would_take_for_something_else_are_refused(host: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a host"):
        connect(host)


@pytest.mark.parametrize("name", ["-x", "", "a b", "a;b", "../a", "lxc:a", "docker:", "docker:-v", "$(x)", "a" * 300])
def test_names_of_containers_are_plain(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a container"):
        connect(None, name)


def test_a_place_is_needed() -> None:
    with pytest.raises(UsageError, match="neither a host nor a container"):
        connect()


def test_ssh_asks_nothing_and_forwards_nothing(tmp_path: Path) -> None:
    words = address("me@gpu7", "box").words("mark")
    assert words[:2] == ["ssh", "-T"]
    options = words[2 : words.index("--")]
    assert options[1::2] == list(SSH_OPTIONS)
    assert {"BatchMode=yes", "ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes"} <= set(SSH_OPTIONS)
    assert not any(option.startswith("Control") for option in SSH_OPTIONS), "the user's ControlMaster is used"
    assert words[words.index("--") + 1] == "me@gpu7"
    command = words[-1]
    assert len(words) == words.index("--") + 3
    assert "\n" not in command, "csh"
    assert "!" not in command, "csh"
    assert shlex.split(command)[-2:] == ["box", ""]


@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "csh", "tcsh", "fish", "zsh"])
def test_the_command_survives_login_shells(shell: str) -> None:
    import shutil

    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    command = address("gpu7", None).words("mark")[-1]
    done = subprocess.run([shell, "-c", command], input=b"14\nprint('ready')", capture_output=True)
    assert done.stdout == b"ready\n", done.stderr


@pytest.mark.parametrize(
    ("printed", "sentence", "advice"),
    [
        ("ssh: Could not resolve hostname gpu7: Name or service not known", "the host is unknown", "~/.ssh/config"),
        ("me@gpu7: Permission denied (publickey,password).", "not allowed to log in", "ssh gpu7 true"),
        ("Host key verification failed.", "does not know the host's key", "fingerprint"),
        ("ssh: connect to host gpu7 port 22: Connection refused", "nothing listens", "port"),
        ("ssh: connect to host gpu7 port 22: Connection timed out", "does not answer", "network"),
        ("something else\x1b[2J " + "x" * 1000, "could not be started: something else", "ssh gpu7 python3 --version"),
        ("", "could not be started", "ssh gpu7 python3 --version"),
    ],
)
def test_why_there_is_no_connection(tmp_path: Path, printed: str, sentence: str, advice: str) -> None:
    network = Network(tmp_path)
    (tmp_path / "words").write_text(printed)
    network.program(tmp_path / "programs/ssh", f"#!/bin/sh\ncat {tmp_path}/words >&2; exit 255\n")
    with pytest.raises(UnreachableError) as raised:
        network.connect()
    assert raised.value.where == "gpu7"
    assert sentence in raised.value.what
    assert len(raised.value.what) < 400
    assert advice in raised.value.advice
    assert raised.value.exit_code == 75


def test_no_ssh_here(tmp_path: Path) -> None:
    with pytest.raises(MissingToolError, match="there is no ssh here"):
        connect("gpu7", variables={"PATH": str(tmp_path)})


def _without(network: Network, *missing: str) -> None:
    """Take programs out of PATH: a folder of links to all the others."""
    folder = network.home.parent / "bin"
    folder.mkdir()
    for place in ("/usr/bin", "/bin"):
        for path in Path(place).iterdir():
            if path.name not in missing and not path.name.startswith("python") and not (folder / path.name).exists():
                (folder / path.name).symlink_to(path)
    network.variables["PATH"] = f"{network.home.parent / 'programs'}:{folder}"


def test_no_python_there(tmp_path: Path) -> None:
    network = Network(tmp_path)
    text = (tmp_path / "programs/ssh").read_text()
    # /usr/bin/python3 is tried as well: this machine has none where sh is told that it does not exist.
    hidden = text.replace('exec sh -c "$*"', 'exec sh -c "$(echo "$*" | sed s,/usr/bin/python3,/no/python3,)"')
    network.program(tmp_path / "programs/ssh", hidden)
    _without(network)
    with pytest.raises(MissingToolError, match=r"gpu7: there is no Python 3\.6 or newer; install python3"):
        network.connect()


def test_a_python_that_is_too_old_is_not_taken(tmp_path: Path) -> None:
    network = Network(tmp_path)
    network.program(tmp_path / "programs/python3", "#!/bin/sh\nexit 1\n")
    with network.connect() as (machine, _):
        assert machine.identity.python  # that of `python`, or /usr/bin/python3


def test_no_engine_no_container_and_one_that_does_not_run(tmp_path: Path) -> None:
    network = Network(tmp_path / "a", engines=())
    _without(network, "docker", "podman", "apptainer", "singularity")
    network.variables["PATH"] += f":{Path(__import__('sys').executable).parent}"
    with pytest.raises(MissingToolError, match="there is no docker or podman"):
        network.connect(None, "box")
    network = Network(tmp_path / "b")
    with pytest.raises(UnreachableError, match=r"there is no container other that we may see \(Error: other\?\)"):
        network.connect(None, "docker:other")
    with pytest.raises(UnreachableError, match="the container off does not run; docker start off"):
        network.connect("gpu7", "docker:off")


def test_a_host_that_talks_without_end_is_left(tmp_path: Path) -> None:
    network = Network(tmp_path)
    network.program(tmp_path / "programs/ssh", "#!/bin/sh\nexec yes\n")
    with pytest.raises(UnreachableError, match="could not be started"):
        network.connect()


def test_a_host_that_is_silent_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wavewright.capture.remote.connection.CONNECT_SECONDS", 0.3)
    network = Network(tmp_path)
    network.program(tmp_path / "programs/ssh", "#!/bin/sh\nexec sleep 60\n")
    with pytest.raises(UnreachableError, match="could not be started"):
        network.connect()
