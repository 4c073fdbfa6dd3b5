// The lines of the list: code rows, and headers where another function begins.
import type { Code } from "../../model/code";

export interface Section {
  name: string;
  first: number;
  /** Its last row. */
  last: number;
}

/** Stretches of rows of one function in one code object. */
export function sectionsOf(code: Code): Section[] {
  const sections: Section[] = [];
  for (let row = 0; row < code.count; row++) {
    const last = sections.at(-1);
    const isSame =
      last &&
      code.functionName[row] === code.functionName[row - 1] &&
      code.codeObject[row] === code.codeObject[row - 1] &&
      !code.text[row]?.startsWith(";");
    if (isSame) last.last = row;
    else sections.push({ name: code.functionName[row] || code.text[row] || "", first: row, last: row });
  }
  return sections;
}

export interface Items {
  /** A row, or -1 - n for the header of section n. */
  lines: Int32Array;
  /** Where each row stands in `lines`; -1 = not listed. */
  placeOf: Int32Array;
  rowCount: number;
}

/** The lines of the rows that `isListed`; headers only when there are several sections. */
export function itemsOf(count: number, sections: Section[], isListed: (row: number) => boolean): Items {
  const lines: number[] = [];
  const placeOf = new Int32Array(count).fill(-1);
  let rowCount = 0;
  sections.forEach((section, number) => {
    let isHeaded = sections.length < 2;
    for (let row = section.first; row <= section.last; row++) {
      if (!isListed(row)) continue;
      if (!isHeaded) lines.push(-1 - number);
      isHeaded = true;
      placeOf[row] = lines.length;
      lines.push(row);
      rowCount += 1;
    }
  });
  return { lines: Int32Array.from(lines), placeOf, rowCount };
}
