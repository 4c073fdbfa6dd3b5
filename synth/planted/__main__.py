"""Write a planted cause and its twin: `python -m synth.planted CAUSE TARGET SIZE FOLDER`.

FOLDER gets planted/ and twin/, each with decoded/ and raw/; the true gain is printed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from synth.planted import CAUSES, MACHINES, SIZES, plant, write_decoded, write_raw


def main(arguments: list[str]) -> int:
    """Run as a program."""
    if len(arguments) != 4:
        usage = f"usage: python -m synth.planted CAUSE TARGET SIZE FOLDER\nCAUSE: {', '.join(CAUSES)}\n"
        sys.stderr.write(usage + f"TARGET: {', '.join(MACHINES)}\nSIZE: {', '.join(SIZES)}\n")
        return 2
    cause, target, size, folder = arguments
    pair = plant(cause, target, size)
    for name, execution in (("planted", pair.planted), ("twin", pair.twin)):
        write_decoded(execution, Path(folder) / name / "decoded")
        write_raw(execution, Path(folder) / name / "raw")
        print(
            f"{name}: {execution.instruction_count} instructions, {execution.traced_cycles} cycles of the traced CU, "
            f"{execution.dispatch_cycles} of the dispatch, {execution.memory_peak_share:.1%} of memory peak"
        )
    print(f"true gain: {pair.gain_share:.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
