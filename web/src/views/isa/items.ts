// The lines of the list: code rows, and headings of functions, which fold.
import type { Code } from "../../model/code";

export interface Section {
  /** Symbol of the function; "" = the rows belong to none. */
  name: string;
  first: number;
  /** Its last row. */
  last: number;
}

/** Runs of rows of one function in one code object. */
export function sectionsOf(code: Code): Section[] {
  const sections: Section[] = [];
  for (let row = 0; row < code.count; row++) {
    const last = sections.at(-1);
    const label = code.text[row]?.startsWith(";") ? (code.text[row] as string) : "";
    const isSame =
      last &&
      code.functionName[row] === code.functionName[row - 1] &&
      code.codeObject[row] === code.codeObject[row - 1] &&
      !label;
    if (isSame) last.last = row;
    else sections.push({ name: code.functionName[row] || label, first: row, last: row });
  }
  return sections;
}

/** Numbers of sections: kernels that waves entered, in their order, then what was executed, then the rest. */
export function sectionOrder(
  sections: Section[],
  isExecuted: (section: Section) => boolean,
  entered: string[],
): number[] {
  const rank = (section: Section) => {
    if (!isExecuted(section)) return entered.length + 1;
    const kernel = entered.indexOf(section.name);
    return kernel < 0 ? entered.length : kernel;
  };
  const ranks = sections.map(rank);
  return sections.map((_, number) => number).sort((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0) || a - b);
}

export interface Items {
  /** A row, or -1 - n for the heading of section n. */
  lines: Int32Array;
  /** Where each row stands in `lines`; -1 = not listed. */
  placeOf: Int32Array;
  rowCount: number;
}

export interface Listed {
  count: number;
  sections: Section[];
  /** Numbers of the sections, as they are listed. */
  order: number[];
  isListed: (row: number) => boolean;
  /** A folded section has a heading only. */
  isFolded: (section: Section) => boolean;
}

/** The lines in the order of the code; a section has a heading where it has a name, or there are others. */
export function itemsOf({ count, sections, order, isListed, isFolded }: Listed): Items {
  const lines: number[] = [];
  const isNamed = sections.length > 1 || Boolean(sections[0]?.name);
  for (const number of order) {
    const section = sections[number] as Section;
    let hasHeading = !isNamed;
    for (let row = section.first; row <= section.last; row++) {
      if (!isListed(row)) continue;
      if (!hasHeading) lines.push(-1 - number);
      hasHeading = true;
      if (isNamed && isFolded(section)) break;
      lines.push(row);
    }
  }
  return placed(count, lines);
}

/** The lines as they are given: rows in another order than that of the code. */
export function placed(count: number, lines: number[]): Items {
  const placeOf = new Int32Array(count).fill(-1);
  let rowCount = 0;
  lines.forEach((line, place) => {
    if (line < 0) return;
    placeOf[line] = place;
    rowCount += 1;
  });
  return { lines: Int32Array.from(lines), placeOf, rowCount };
}

type Value = string | number | null | undefined;

const isNothing = (value: Value) => value === null || value === undefined || value === "" || Number.isNaN(value);

/** Rows by their values; rows without one come last, equal ones in the order of the code. */
export function sortedRows(rows: number[], value: (row: number) => Value, down: boolean): number[] {
  const values: Value[] = [];
  for (const row of rows) values[row] = value(row);
  const sign = down ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [values[a], values[b]];
    if (isNothing(x) || isNothing(y)) return Number(isNothing(x)) - Number(isNothing(y)) || a - b;
    if (typeof x === "number" && typeof y === "number") return sign * (x - y) || a - b;
    return sign * (Number(String(x) > String(y)) - Number(String(x) < String(y))) || a - b;
  });
}
