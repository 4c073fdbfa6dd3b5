// The sentence that compares the path with Findings, which counts the same time in another way: what GPUs did in it, where
// the path counts what the end of the run waited for.
import { nanoseconds, percent } from "../../base/format";
import type { RunDiagnosisAnswer, RunPathClassesRow } from "../../data/answers.gen";
import { json } from "../../data/ask";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";

/** A part of the time as Findings names and shares it, and the classes of the path that say the same. */
const PARTS = [
  { words: "computation", share: "computation_share", classes: ["kernels"] },
  { words: "exposed communication", share: "communication_share", classes: ["communication"] },
  { words: "exposed copies", share: "copy_share", classes: ["copies"] },
  { words: "idle", share: "idle_share", classes: ["host", "launch", "idle", "unknown"] },
] as const;

type Part = (typeof PARTS)[number];

/** The part with the largest share; the first of equal ones. */
function largest(shareOf: (part: Part) => number): Part {
  return PARTS.reduce((best: Part, part) => (shareOf(part) > shareOf(best) ? part : best));
}

/** Both agree where the same part is the largest. Nothing is said until Findings is known. */
export function Beside({ classes }: { classes: RunPathClassesRow[] }) {
  const loaded = useAnswer(json<RunDiagnosisAnswer>(current.value, "run_diagnosis")).value;
  if (loaded.state !== "ready" || !loaded.value.gpus.rows.length) return null;
  const findings = loaded.value;
  const shareOnPath = (part: Part) =>
    classes
      .filter((row) => part.classes.some((name) => name === row.class))
      .reduce((sum, row) => sum + (row.path_share ?? 0), 0);
  const agrees = largest(shareOnPath) === largest((part) => findings[part.share]);
  const shares = PARTS.filter((part) => findings[part.share] > 0).map(
    (part) => `${part.words} ${percent(findings[part.share])}`,
  );
  return (
    <p class={agrees ? "faint-text" : "truncated"} data-beside={agrees ? "agrees" : "disagrees"}>
      {agrees ? "Findings counts what GPUs did: " : "Findings disagrees, it counts what GPUs did: "}
      {`${nanoseconds(findings.window_ns)} of a GPU: ${shares.join(", ")}`}. The path counts what the end of the run
      waited for.
    </p>
  );
}
