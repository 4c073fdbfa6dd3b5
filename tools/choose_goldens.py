"""Copies a part of the synthetic streams and their reference records into tests/data/golden-synthetic.

The largest streams of a family are left out one after the other, unless one is the last with some feature; about
2.5 MB stay. Usage: tools/choose_goldens.py ../shared/golden/synthetic
"""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "tests" / "data" / "golden-synthetic"
FAMILY_BYTES = 500_000  # what stays of each family


def files_of(folder: Path, stream: str) -> list[Path]:
    """The stream, its listings, its description and its records."""
    return sorted(folder.glob(f"{stream}.*"))


def chosen(folder: Path) -> list[str]:
    """The names of the streams of one family that stay."""
    features = {path.stem: set(json.loads(path.read_text())["features"]) for path in folder.glob("*.json")}
    size_bytes = {stream: sum(path.stat().st_size for path in files_of(folder, stream)) for stream in features}
    occurrences = Counter(feature for of_stream in features.values() for feature in of_stream)
    total_bytes = sum(size_bytes.values())
    for stream in sorted(features, key=lambda name: (-size_bytes[name], name)):
        if total_bytes <= FAMILY_BYTES:
            break
        if all(occurrences[feature] > 1 for feature in features[stream]):
            occurrences.subtract(features.pop(stream))
            total_bytes -= size_bytes[stream]
    return sorted(features)


def main() -> None:
    """Writes the folder anew."""
    shutil.rmtree(TARGET, ignore_errors=True)
    for folder in sorted(path for path in Path(sys.argv[1]).iterdir() if path.is_dir()):
        (TARGET / folder.name).mkdir(parents=True)
        for stream in chosen(folder):
            for path in files_of(folder, stream):
                shutil.copyfile(path, TARGET / folder.name / path.name)


if __name__ == "__main__":
    main()
