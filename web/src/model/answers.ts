// What several views say about answers: how many rows are shown, and how far a trace can be trusted.
import { exact } from "../base/format";

/** "" when all rows are here, else "showing 2,000 of 3,112". */
export function truncation(shown: number, total: number): string {
  return shown < total ? `showing ${exact(shown)} of ${exact(total)}` : "";
}

interface Verdict {
  means: string;
  tone: "good" | "care" | "bad";
}

/** What the verdict about the cycles means for the reader. */
export const CYCLES: Record<string, Verdict> = {
  good: { means: "nothing was found that could mislead", tone: "good" },
  "use with caution": { means: "some numbers may mislead: read the caveats first", tone: "care" },
  "do not use": { means: "do not draw conclusions from the cycles of this trace", tone: "bad" },
};

/** What the verdict about the source lines means for the reader. */
export const LINES: Record<string, Verdict> = {
  good: { means: "the cost spreads over the lines of the source", tone: "good" },
  coarse: { means: "one line stands for many instructions: look at instructions instead", tone: "care" },
  few: { means: "most instructions have no source line", tone: "care" },
  none: { means: "no instruction has a source line", tone: "care" },
};
