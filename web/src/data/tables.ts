// Tables of answers: their rows, and what their declared columns mean (answers.gen.ts has those).

/** A table of an answer: how many rows there are, and the first of them. */
export interface Frame<Row> {
  row_count: number;
  rows: Row[];
}

/** A column as it is declared: short title, unit ("" = none), meaning. */
export type ColumnInfo = readonly [title: string, unit: string, meaning: string];

export type TableInfo<Row> = { readonly [Name in keyof Row]-?: ColumnInfo };

/** The tooltip of a column: its meaning, and its unit where the meaning does not say it. */
export function hintOf([title, unit, meaning]: ColumnInfo): string {
  return `${meaning || title}${unit && !meaning.includes(unit) ? ` (${unit})` : ""}`;
}
