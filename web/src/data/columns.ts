// An answer in Arrow as plain typed arrays and lists of strings: what drawing code can loop over.
import { type Numbers, readStream, type Stream, type StreamColumn } from "./arrow_stream";

export type { Numbers };

export class Columns {
  readonly length: number;
  private readonly kept = new Map<string, unknown>();

  constructor(private readonly stream: Stream) {
    this.length = stream.length;
  }

  static from(bytes: Uint8Array): Columns {
    return new Columns(readStream(bytes));
  }

  get names(): string[] {
    return this.stream.columns.map(({ name }) => name);
  }

  has(name: string): boolean {
    return this.stream.columns.some((column) => column.name === name);
  }

  /** A numeric column; 64-bit integers become doubles, nulls NaN (in a Float64Array). */
  numbers(name: string): Numbers {
    return this.once(name, () => {
      const { values, nullCount, isNull } = this.column(name, "number");
      const isBig = values instanceof BigInt64Array || values instanceof BigUint64Array;
      if (values && !isBig && nullCount === 0) return values;
      return Float64Array.from({ length: this.length }, (_, i) => (isNull(i) ? Number.NaN : Number(values?.[i])));
    });
  }

  /** A text column; nulls become "". */
  texts(name: string): string[] {
    return this.once(name, () => {
      const { text, isNull } = this.column(name, "text");
      return Array.from({ length: this.length }, (_, i) => (isNull(i) ? "" : text(i)));
    });
  }

  /** A column of true and false. */
  flags(name: string): boolean[] {
    return this.once(name, () => {
      const { flag, isNull } = this.column(name, "flag");
      return Array.from({ length: this.length }, (_, i) => !isNull(i) && flag(i));
    });
  }

  /** All rows as objects with the declared names; 64-bit integers become numbers. */
  rows<Row>(): Row[] {
    return Array.from({ length: this.length }, (_, i) => {
      const row: Record<string, unknown> = {};
      for (const column of this.stream.columns) row[column.name] = cellOf(column, i);
      return row as Row;
    });
  }

  private column(name: string, kind: StreamColumn["kind"]): StreamColumn {
    const column = this.stream.columns.find((candidate) => candidate.name === name);
    if (column?.kind !== kind) throw new Error(`the answer has no column ${name} of this kind`);
    return column;
  }

  private once<T>(name: string, make: () => T): T {
    if (!this.kept.has(name)) this.kept.set(name, make());
    return this.kept.get(name) as T;
  }
}

function cellOf({ kind, isNull, values, flag, text }: StreamColumn, row: number): string | number | boolean | null {
  if (isNull(row)) return null;
  if (kind === "number") return Number(values?.[row]);
  return kind === "flag" ? flag(row) : text(row);
}
