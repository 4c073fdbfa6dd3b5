"""Text that leaves the machine: who and where the user is, secrets, and lines of source are replaced.

Nothing can know every secret. So what leaves is chosen first (`bundle.py`: few kinds of files, few variables), and
this is the second line: things that have the form of a secret, and the names of the user, home folder and host.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MASKED = "[masked]"
HOME, USER, HOST, ADDRESS, SOURCE = "~", "USER", "HOST", "ADDRESS", "[source line]"

#: Beginnings of names of variables that say what a GPU does and how it is profiled. No other variable leaves.
ALLOWED_VARIABLES = (
    *("AMD_", "FLYDSL_", "GPU_", "HIP_", "HSA_", "MIOPEN_", "NCCL_", "OMP_", "PYTORCH_", "RCCL_", "ROCM_", "ROCP"),
    *("ROCR_", "ROCTX_", "RPDT_", "TORCHINDUCTOR_", "TRITON_", "VLLM_", "CUDA_VISIBLE_DEVICES", "LD_PRELOAD"),
    *("LD_LIBRARY_PATH", "KOKKOS_TOOLS_LIBS", "SLURM_JOB_GPUS", "WAVEWRIGHT_JOB", "HPC_"),
)
_SECRET_NAME = re.compile(
    r"token|secret|passw|passphrase|credential|private|auth|cookie|session|(?:^|[_.-])(?:api|access|ssh|license|"
    r"signing|encryption)?_?key(?:s|id)?(?:$|[_.-])|(?:^|[_.-])pat(?:$|[_.-])",
    re.IGNORECASE,
)
_ORDINARY = frozenset(
    {"root", "user", "users", "ubuntu", "admin", "guest", "home", "shared", "localhost", "local", "data", "opt", "tmp"}
)
_SHORTEST_NAME = 3  #: Shorter names of users and hosts would be replaced inside of everything.

_WORDS = "token|secret|passwo?r?d|passphrase|credential|authorization|cookie|(?:api|access|private)[_-]?key"
_VALUE = r"\"[^\"\n]*\"|'[^'\n]*'|[^\s,;&|}\])]+"
#: What has the form of a secret: pattern, what stands for it. In this order. Repetitions that may fail are bounded:
#: logs are untrusted, and a line of megabytes must not take hours.
_FORMS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r"-----BEGI[N] [A-Z0-9 ]*(?:PRIVATE KEY|CERTIFICATE)[A-Z ]*-----.*?(?:-----END [^\n]*-----|\Z)", re.S
        ),
        MASKED,
    ),
    (re.compile(r"\b([a-z][a-z0-9+.-]{1,20}://)[^\s/@'\"]+@", re.I), rf"\1{MASKED}@"),
    (re.compile(r"(?<![\w-])eyJ[\w-]{10,2000}\.[\w-]{4,}(?:\.[\w-]*)?"), MASKED),
    (
        re.compile(r"\b(?:hf|ghp|gho|ghu|ghs|ghr|glpat|npm|pypi|dop_v1|shpat|wandb|nvapi|r8|xai|gsk)[_-][\w-]{8,}"),
        MASKED,
    ),
    (re.compile(r"\bgithub_pat_\w{10,}|\b(?:sk|pk|rk)-[\w-]{8,}|\b(?:sk|pk|rk)_(?:live|test)_\w{8,}"), MASKED),
    (re.compile(r"\bxox[a-z]-[\w-]{8,}|\bAIza[\w-]{20,}|\bya29\.[\w-]{10,}"), MASKED),
    (re.compile(r"\b(?:AKIA|ASIA|AROA|AIDA|AGPA)[A-Z0-9]{12,}\b"), MASKED),
    (re.compile(r"\bssh-(?:rsa|ed25519|dss) [A-Za-z0-9+/=]{20,}"), MASKED),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}"), rf"\1 {MASKED}"),
    (re.compile(rf"(?i)((?:{_WORDS})[\w.-]{{0,40}}[\"']?[ \t]{{0,5}}[=:][ \t]{{0,5}})({_VALUE})"), rf"\1{MASKED}"),
    (re.compile(rf"(?i)(?<![\w-])(--?[\w-]{{0,40}}(?:{_WORDS})[\w-]{{0,40}}[ \t]{{1,5}})({_VALUE})"), rf"\1{MASKED}"),
    (re.compile(r"(?<![0-9A-Za-z])(?:0x)?[0-9a-fA-F]{32,}(?![0-9A-Za-z])"), MASKED),
    (re.compile(r"(?<![\w.+-])[\w.+-]{1,200}@[\w-]{1,64}(?:\.[\w-]{1,64}){0,8}"), f"{USER}@{HOST}"),
    (re.compile(r"(?<![\w:])(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?![\w:])"), ADDRESS),
    (re.compile(r"(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w.])"), ADDRESS),
    (re.compile(r"(?<![\w:])(?:[0-9a-f]{1,4}:){4,7}[0-9a-f:]*[0-9a-f]{1,4}(?![\w:])", re.I), ADDRESS),
)
#: 40 and more letters and digits without a pattern: keys of clouds. Names of kernels have underscores.
_RANDOM = re.compile(r"(?<![\w+/.-])(?!/)[A-Za-z0-9+/]{40,}={0,2}(?![\w+/.-])")
_HOME_FOLDER = re.compile(r"/(?:home|Users|users|export/home|homes?)/([A-Za-z_][\w.-]*)")
_ASSIGNMENT = re.compile(r"(?<![\w-])([A-Za-z_]\w*)=('[^']*'|\"[^\"]*\"|[^\s'\"]*)")
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
_SOURCE_LINES = (
    (
        re.compile(r'^([ \t]*File "[^"\n]*", line \d+[^\n]*\n)((?:(?![ \t]*File ")[ \t]{3,}[^\n]*(?:\n|\Z))+)', re.M),
        rf"\1    {SOURCE}\n",
    ),
    (re.compile(r"^[ \t]*\d+ +\|[^\n]*$", re.M), SOURCE),  # compilers: 12 | code
    (
        re.compile(
            r"^([^\s:][^\n:]*:\d+:\d+: (?:error|warning|note|remark):[^\n]*\n)"
            r"(?![^\n]*:\d+:\d+: )[^\n]*\n([ \t]*[\^~][^\n]*\n?)?",
            re.M,
        ),
        rf"\1{SOURCE}\n",
    ),
)


class Mask:
    """Replaces what tells who and where somebody is, what has the form of a secret, and lines of source.

    Parameters
    ----------
    homes, users, hosts
        Names that are known; names in paths of home folders are learned by `learn`.
    """

    def __init__(self, homes: Iterable[str] = (), users: Iterable[str] = (), hosts: Iterable[str] = ()) -> None:
        self._homes = {home.rstrip("/") for home in homes if home.count("/") > 1}
        self._users = {user for user in users if _can_be_replaced(user)}
        self._hosts: set[str] = set()
        for host in hosts:
            self.add_host(host)
        self.count = 0  #: Replacements so far.
        self._names: tuple[tuple[re.Pattern[str], str], ...] | None = None

    def add_host(self, name: str) -> None:
        """Replace a host's name, with and without its domain; user@host is taken apart."""
        user, _, host = name.rpartition("@")
        self._users |= {user} if _can_be_replaced(user) else set()
        self._hosts |= {part for part in (host, host.partition(".")[0]) if _can_be_replaced(part)}
        self._names = None

    def learn(self, text: str) -> None:
        """Take the names of users from paths of home folders."""
        names = {name for name in _HOME_FOLDER.findall(text) if _can_be_replaced(name)}
        if names - self._users:
            self._users |= names
            self._names = None

    def text(self, text: str) -> str:
        """A text without all that.

        Examples
        --------
        >>> Mask(users=["alice"], hosts=["gpu7.lab.org"]).text("alice on gpu7: /home/alice/a.py TOKEN=hf_abcdefghij")
        'USER on HOST: ~/a.py TOKEN=[masked]'
        """
        for pattern, replacement in (*_SOURCE_LINES, *_FORMS):
            text = self._replaced(pattern, replacement, text)
        text = _RANDOM.sub(self._random, text)
        text = _ASSIGNMENT.sub(self._assignment, text)
        for pattern, replacement in self._patterns():
            text = self._replaced(pattern, replacement, text)
        return text

    def words(self, words: Iterable[str]) -> list[str]:
        """The words of a command; one that follows an option of a secret's name is replaced as a whole.

        Examples
        --------
        >>> Mask().words(["run", "--api-key", "1234", "--m", "8"])
        ['run', '--api-key', '[masked]', '--m', '8']
        """
        masked: list[str] = []
        is_secret = False
        for word in words:
            if is_secret and not _OPTION.fullmatch(word):
                self.count += 1
                masked.append(MASKED)
            else:
                masked.append(self.text(word))
            is_secret = bool(_OPTION.fullmatch(word)) and bool(_SECRET_NAME.search(word.lstrip("-")))
        return masked

    def variables(self, variables: Mapping[str, Any]) -> dict[str, str]:
        """Variables that may leave, and how many others there were.

        Examples
        --------
        >>> Mask().variables({"HSA_XNACK": "1", "HOME": "/home/alice", "VLLM_API_KEY": "x"})
        {'HSA_XNACK': '1', '(others)': '2'}
        """
        allowed = {name: self.text(str(value)) for name, value in variables.items() if is_allowed(name)}
        others = len(variables) - len(allowed)
        return {**allowed, "(others)": str(others)} if others else allowed

    def value(self, value: Any, key: str = "") -> Any:
        """A value of JSON, masked all the way down; `key` is what names it."""
        if isinstance(value, str):
            is_hash = key == "sha256" and re.fullmatch(r"[0-9a-f]{64}", value)
            return value if is_hash else self.text(value)
        if isinstance(value, dict):
            if key in ("variables", "environment", "env"):
                return self.variables(value)
            return {self.text(str(name)): self._of_key(name, each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            if all(isinstance(each, str) for each in value):
                return self.words(value)
            return [self.value(each, key) for each in value]
        return value

    def _of_key(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and _SECRET_NAME.search(name):
            self.count += 1
            return MASKED
        return self.value(value, name)

    def _patterns(self) -> tuple[tuple[re.Pattern[str], str], ...]:
        """Of names: home folders first, as they contain the user."""
        if self._names is None:
            homes = sorted(self._homes, key=len, reverse=True)
            of_homes = [(re.compile(rf"{re.escape(home)}(?![\w-])"), HOME) for home in homes]
            of_names = [
                (re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", re.IGNORECASE), replacement)
                for names, replacement in ((self._hosts, HOST), (self._users, USER))
                for name in sorted(names, key=len, reverse=True)
            ]
            self._names = (*of_homes, (_HOME_FOLDER, HOME), *of_names)
        return self._names

    def _replaced(self, pattern: re.Pattern[str], replacement: str, text: str) -> str:
        text, count = pattern.subn(replacement, text)
        self.count += count
        return text

    def _random(self, match: re.Match[str]) -> str:
        text = match[0]
        if all(re.search(kind, text) for kind in ("[a-z]", "[A-Z]", "[0-9]")):
            self.count += 1
            return MASKED
        return text

    def _assignment(self, match: re.Match[str]) -> str:
        """NAME=VALUE in a line of a shell: values of variables that may not leave are replaced."""
        name, value = match[1], match[2]
        is_variable = name.isupper() and not is_allowed(name)
        if value and value != MASKED and (is_variable or _SECRET_NAME.search(name)):
            self.count += 1
            return f"{name}={MASKED}"
        return match[0]


def is_allowed(name: str) -> bool:
    """Whether the value of a variable may leave the machine.

    Examples
    --------
    >>> is_allowed("HSA_XNACK"), is_allowed("PATH"), is_allowed("VLLM_API_KEY")
    (True, False, False)
    """
    return name.startswith(ALLOWED_VARIABLES) and not _SECRET_NAME.search(name)


def _can_be_replaced(name: str) -> bool:
    return len(name) >= _SHORTEST_NAME and name.lower() not in _ORDINARY
