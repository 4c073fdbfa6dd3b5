"""Masking of secrets in recorded command lines: values after token, key, password, secret, auth."""

from __future__ import annotations

import re

MASK = "***"
_WORDS = r"(?:token|key|password|passwd|pwd|secret|auth|credential)s?"
#: NAME=value, where the name ends in one of the words: API_KEY=..., --hf-token=... A match starts only at the first
#: letter of a name, so that a word of a megabyte takes linear time.
_ASSIGNED = re.compile(rf"(?i)(?<![\w.-])([\w.-]*{_WORDS}=)(\"[^\"]*\"|'[^']*'|\S+)")
_HEADER = re.compile(r"(?i)(authorization:\s*(?:\w+\s+)?)([^\s\"']+)")
#: --token value: an option that ends in one of the words, and the next word.
_OPTION = re.compile(rf"(?i)((?:^|\s)--?[\w.-]*{_WORDS}\s+)(\"[^\"]*\"|'[^']*'|[^\s-]\S*)")
_BEARER = re.compile(r"(?i)(\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}")
_ADDRESS = re.compile(r"(?<!\w)(\w+://[^/\s:@]*:)[^@\s/]+(?=@)")


def masked(command: str) -> str:
    """A command line with the values of secrets replaced by `***`.

    >>> masked("HF_TOKEN=hf_abc python train.py --api-key 123 --lr 0.1 --password='x y'")
    'HF_TOKEN=*** python train.py --api-key *** --lr 0.1 --password=***'
    >>> masked("git clone https://me:pass@host/repo")
    'git clone https://me:***@host/repo'
    """
    text = _ASSIGNED.sub(_hidden, command)
    text = _HEADER.sub(_hidden, _OPTION.sub(_hidden, text))
    text = _BEARER.sub(rf"\1{MASK}", text)
    return _ADDRESS.sub(rf"\1{MASK}", text)


def _hidden(match: re.Match[str]) -> str:
    """The name with the mask; counts of tokens (--max-tokens 100) stay."""
    name, value = match[1], match[2]
    is_count = value.isdigit() and name.rstrip("=: \t").lower().endswith("tokens")
    return match[0] if is_count else name + MASK
