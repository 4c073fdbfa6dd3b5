// The answer to `derived`.
import type { DerivedProblemsRow, DerivedSummaryRow } from "../../data/answers.gen";
import { json, type Parameters, type Question } from "../../data/ask";
import type { CurveSet } from "../../model/curves";

export interface DerivedAnswer extends CurveSet {
  summary: { rows: DerivedSummaryRow[] };
  /** Definitions that have a value, but not one per sample. */
  without_curve: string[];
  problems: DerivedProblemsRow[];
  counters: { name: string; shape: string; first: number[] }[];
  builtin: string;
  /** Most characters of definitions. */
  longest: number;
}

/** Values of derived counters: of the built-in set, or of these definitions. */
export function derivedOf(document: number, text: string | null, se: number | null): Question<DerivedAnswer> {
  const asked: Parameters = {};
  if (text !== null) asked.text = text;
  if (se !== null) asked.se = se;
  return json<DerivedAnswer>(document, "derived", asked).as(withText, text);
}

function withText(answer: DerivedAnswer, text: string | null): DerivedAnswer {
  return { ...answer, text: text ?? undefined };
}

/** What is shown next to each line of the text: its problems, joined. */
export function besideLines(text: string, problems: DerivedProblemsRow[]): string[] {
  const beside = text.split("\n").map(() => "");
  for (const { line, column, message } of problems) {
    const at = Math.min(Math.max(line, 1), beside.length) - 1;
    const problem = `column ${column}: ${message}`;
    beside[at] = beside[at] ? `${beside[at]}; ${problem}` : problem;
  }
  return beside;
}
