// What several views say about answers: how many rows are shown, and how far a trace can be trusted.
import { exact } from "../base/format";

/** "" when all rows are here, else "showing 2,000 of 3,112". */
export function truncation(shown: number, total: number): string {
  return shown < total ? `showing ${exact(shown)} of ${exact(total)}` : "";
}

/** What the verdict of the caveats means for the reader. */
export const TRUST: Record<string, { word: string; means: string; tone: "good" | "care" | "bad" }> = {
  yes: { word: "trustworthy", means: "nothing was found that could mislead", tone: "good" },
  "with caution": { word: "with caution", means: "some numbers may mislead: read the caveats first", tone: "care" },
  no: { word: "do not trust it", means: "do not draw conclusions from this trace", tone: "bad" },
};
