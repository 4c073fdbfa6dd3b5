// Annotations of a trace by other people or programs (annotations.json of ROCm WaveScope): untrusted text, read-only.
import { computed } from "@preact/signals";
import { json } from "../data/ask";
import { codeNow } from "./code";
import { current, overview } from "./document";
import { answering } from "./loaded";
import type { Range } from "./selection";
import { livesBySlot } from "./slots";
import type { Wave } from "./waves";

/** As the question `annotations` answers: columns of the table of that name. */
export interface AnnotationLine {
  title: string;
  severity: string;
  note: string | null;
  suggestion: string | null;
  category: string | null;
  confidence: number | null;
  /** Numbers of code rows. */
  rows: string | null;
  file: string | null;
  line: number | null;
  end_line: number | null;
  se: number | null;
  simd: number | null;
  slot: number | null;
  start_cycles: number | null;
  end_cycles: number | null;
}

export interface Annotation extends Omit<AnnotationLine, "rows"> {
  /** From 1 on, the most severe first. */
  number: number;
  rows: number[];
  /** Aligned, where it is about a wave at a time. */
  range: Range | null;
}

/** The colour of each severity, by its number among the colours of series: the more severe, the louder. */
const COLOURS: Record<string, number> = { critical: 3, high: 1, medium: 7, low: 0 };
const QUIET = 8;
export const colourNumber = ({ severity }: Pick<Annotation, "severity">) => COLOURS[severity] ?? QUIET;

const answer = answering(() => {
  const facts = overview.value;
  return facts?.kind === "trace" && facts.holds.annotations
    ? json<AnnotationLine[]>(current.value, "annotations")
    : null;
});

export function annotationsFrom(lines: AnnotationLine[]): Annotation[] {
  return lines.map((line, n) => ({
    ...line,
    number: n + 1,
    rows: line.rows?.split(" ").map(Number) ?? [],
    range: line.start_cycles === null ? null : { begin: line.start_cycles, end: line.end_cycles ?? line.start_cycles },
  }));
}

export const annotations = computed(() => (answer.value.state === "ready" ? annotationsFrom(answer.value.value) : []));

/** Whether a path of the debug lines is the file that an annotation names, maybe by its last part only. */
const isFile = (path: string, file: string) => path === file || path.endsWith(`/${file}`);

/** The annotations of a source line. */
export function annotationsOfLine(list: Annotation[], path: string, line: number): Annotation[] {
  return list.filter(
    ({ file, line: first, end_line: last }) =>
      file !== null && first !== null && first <= line && line <= (last ?? first) && isFile(path, file),
  );
}

/** The annotations of every code row that has any. */
export const annotationsOfRow = computed(() => {
  const byRow = new Map<number, Annotation[]>();
  for (const each of annotations.value) for (const row of each.rows) byRow.set(row, [...(byRow.get(row) ?? []), each]);
  return byRow;
});

/** The full path of the source file of an annotation; null = no debug line names such a file. */
export function pathOf({ file }: Annotation): string | null {
  return file === null ? null : (codeNow()?.file.find((path) => isFile(path, file)) ?? null);
}

/** The traced wave that an annotation is about. */
export function waveOf({ se, simd, slot, range }: Annotation): Wave | undefined {
  if (!range) return undefined;
  for (const { waves } of livesBySlot.value.values()) {
    const found = waves.find(
      (wave) =>
        wave.se === se &&
        wave.simd === simd &&
        wave.slot === slot &&
        wave.begin <= range.end &&
        range.begin <= wave.end,
    );
    if (found) return found;
  }
  return undefined;
}
