"""Words that questions share: the groups of `wavewright --help` in their order, and sentences of several kinds."""

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
#: Sentences of the questions that every kind of document can be asked.
ABOUT_SENTENCE = "What is this, from which GPU, how complete, what to do next?"
DIAGNOSE_SENTENCE = "What should be changed first, on which evidence, and how much can it gain at most?"
