// The answer to `derived`: curves of derived counters, and what is wrong with their definitions.
import type { DerivedProblemsRow, DerivedSummaryRow } from "../../data/answers.gen";
import { json, type Parameters, type Question } from "../../data/ask";
import type { CurveSet } from "../../model/curves";

export interface DerivedAnswer extends CurveSet {
  summary: { rows: DerivedSummaryRow[] };
  /** Definitions that have a value, but not one per sample. */
  without_curve: string[];
  problems: DerivedProblemsRow[];
  /** Counters of the trace, with the first of their values. */
  counters: { name: string; shape: string; first: number[] }[];
  /** The definitions of the built-in set. */
  builtin: string;
  /** Most characters of definitions. */
  longest: number;
}

/** Values of derived counters. `text` = their definitions, null = the built-in ones; `se` = shader engine, null = all. */
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
  const lines = text.split("\n");
  // A problem that is of no line stands beside the first or the last.
  const indexOf = (line: number) => Math.min(Math.max(line, 1), lines.length) - 1;
  return lines.map((_, index) =>
    problems
      .filter(({ line }) => indexOf(line) === index)
      .map(({ column, message }) => `column ${column}: ${message}`)
      .join("; "),
  );
}
