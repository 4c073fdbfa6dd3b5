"""Input files of rocprofv3 (`-i`): lines of counters in a text, or jobs in YAML or JSON, as AMD's script reads them.

YAML is read as PyYAML's safe loader reads it, because AMD's script uses that one. What a release makes of the content
is in `inputs.checks`; here are the bounds: a file may come from a stranger.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from wavewright.base.files import open_regular
from wavewright.errors import UsageError

SIZE_BYTES_MAX = 2 << 20  #: Larger files are refused.
DEPTH_MAX = 32  #: Of maps and lists within each other; a job needs three.
VALUES_MAX = 400_000  #: After every alias of YAML has been written out.
_SLOW_MAX = 64 << 10  #: Characters of YAML up to which the script's own, slow loader reads it.
#: The script tells the form by the extension, in small letters only.
FORMS = {".txt": "txt", ".text": "txt", ".yaml": "yaml", ".yml": "yaml", ".json": "json"}


@dataclass(frozen=True, kw_only=True)
class InputFile:
    """The content of an input file."""

    name: str
    suffix: str
    form: str  #: txt, yaml or json.
    content: Any  #: What YAML or JSON say; of a text its lines.
    repeated: tuple[str, ...] = ()  #: Keys that are given twice in one map: the last one counts.


def read_input(path: Path) -> InputFile:
    """The content of a file."""
    try:
        with open_regular(path) as stream:
            data = stream.read(SIZE_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        what = f"the input file cannot be read: {reason}"
        raise UsageError(what, where=str(path), advice="name a file that exists and may be read") from None
    return input_of(data, str(path))


def input_of(data: bytes, name: str) -> InputFile:
    """The content of an input file from its bytes; the extension of `name` tells the form."""
    suffix = os.path.splitext(name)[1]  # noqa: PTH122 - as the script does it
    form = FORMS.get(suffix)
    if form is None:
        what = f"rocprofv3 knows the form of an input by its extension, and {suffix or 'none'!r} is none of them"
        raise UsageError(what, where=name, advice=f"let it end in {', '.join(FORMS)}")
    if len(data) > SIZE_BYTES_MAX:
        what = f"the input file has more than {SIZE_BYTES_MAX:,} bytes"
        raise UsageError(what, where=name, advice="an input of rocprofv3 is a short list of jobs: is it this file?")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        what = f"the input file is not a text: byte {error.start:,} is not UTF-8"
        raise UsageError(what, where=name, advice="is it this file?") from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if form == "txt":
        return InputFile(name=name, suffix=suffix, form=form, content=text.split("\n"))
    content, repeated = _of_json(text, name) if form == "json" else _of_yaml(text, name)
    return InputFile(name=name, suffix=suffix, form=form, content=content, repeated=tuple(repeated))


def _of_json(text: str, name: str) -> tuple[Any, list[str]]:
    repeated: list[str] = []

    def to_map(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        repeated.extend(_twice(key for key, _ in pairs))
        return dict(pairs)

    try:
        content = json.loads(text, object_pairs_hook=to_map)
    except json.JSONDecodeError as error:
        what = f"the file is not JSON: {error.msg} in line {error.lineno:,}, column {error.colno:,}"
        raise UsageError(what, where=name, advice="rocprofv3 refuses it: correct that place") from None
    except (RecursionError, ValueError):  # the latter: an integer of thousands of digits
        raise _too_deep(name) from None
    _check_size(content, name)
    return content, repeated


def _twice(keys: Iterable[str]) -> list[str]:
    return [key for key, count in Counter(keys).items() if count > 1]


def _check_size(content: Any, name: str) -> None:
    """Refuse what is too deep, too large with every alias written out, or endless, without recursion."""
    level, count = [content], 0
    for _ in range(DEPTH_MAX):
        level = list(islice((child for value in level for child in _children(value)), VALUES_MAX - count + 1))
        count += len(level)
        if count > VALUES_MAX:
            what = f"the file stands for more than {VALUES_MAX:,} values"
            raise UsageError(what, where=name, advice="write out the jobs that are needed, without aliases of aliases")
        if not level:
            return
    raise _too_deep(name)


def _children(value: Any) -> Iterable[Any]:
    """The values in a map or a list, or the nodes in a node of YAML."""
    inside = getattr(value, "value", value)
    if isinstance(inside, dict):
        return inside.values()
    return chain.from_iterable(inside) if _is_map(value) else inside if isinstance(inside, list) else ()


def _is_map(value: Any) -> bool:
    return type(value).__name__ == "MappingNode"


def _too_deep(name: str) -> UsageError:
    what = f"maps and lists lie more than {DEPTH_MAX} deep within each other"
    return UsageError(what, where=name, advice="a job is a map of keys, and a value is a text, a number or a list")


def _of_yaml(text: str, name: str) -> tuple[Any, list[str]]:
    import yaml  # type: ignore[import-untyped]

    # The script's loader is the slow one; libyaml differs from it in corners of the syntax, which long lists have not.
    kind = yaml.SafeLoader if len(text) < _SLOW_MAX else getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_depth(yaml.parse(text, Loader=kind), name)
        loader = kind(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None, []
            _check_size(node, name)
            repeated = _repeated_keys(node)
            return loader.construct_document(node), repeated
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" in line {mark.line + 1:,}, column {mark.column + 1:,}" if mark else ""
        problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable")
        what = f"the file is not YAML: {problem}{place}"
        raise UsageError(what, where=name, advice="rocprofv3 refuses it: correct that place") from None
    except (ValueError, TypeError, RecursionError, OverflowError) as error:  # a date with month 13; a list as a key
        what = f"the file has a value that YAML cannot read: {error}"
        raise UsageError(what, where=name, advice='put texts in quotes: "..."') from None


def _check_depth(events: Any, name: str) -> None:
    depth = 0
    for event in events:
        kind = type(event).__name__
        depth += kind.endswith("StartEvent") and kind not in ("StreamStartEvent", "DocumentStartEvent")
        depth -= kind in ("MappingEndEvent", "SequenceEndEvent")
        if depth > DEPTH_MAX:
            raise _too_deep(name)


def _repeated_keys(root: Any) -> list[str]:
    """The keys that some map of a document gives twice; each node is looked at once, however often it is meant."""
    node_ids: set[int] = set()
    doubles: list[str] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if id(node) not in node_ids:
            node_ids.add(id(node))
            if _is_map(node):
                keys = (key.value for key, _ in node.value if isinstance(key.value, str) and key.value != "<<")
                doubles += _twice(keys)
            stack += _children(node)
    return doubles
