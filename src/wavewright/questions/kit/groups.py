"""Groups of questions, in the order and the words of `wavewright --help`."""

BEFORE = "Before a trace: take it"
WHAT_IS_IT = "What is it?"
RUN_TIME = "A run: where did its time go?"
RUN_TABLES = "A run: its tables, and files of other tools"
KERNEL_TIME = "A kernel: where do its waves spend the time?"
KERNEL_WAITS = "A kernel: why does it wait?"
KERNEL_TRUST = "A kernel: does it fill the GPU, and can I trust the trace?"
COUNTERS = "A kernel: what did the hardware do? From counters"
HAND_OVER = "What to show to others?"
CHANGES = "What changed, what to do?"
GROUPS = (
    BEFORE, WHAT_IS_IT, RUN_TIME, RUN_TABLES, KERNEL_TIME, KERNEL_WAITS, KERNEL_TRUST, COUNTERS, HAND_OVER, CHANGES,
)  # fmt: skip
