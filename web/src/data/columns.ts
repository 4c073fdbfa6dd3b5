// An answer in Arrow as plain typed arrays and lists of strings: what drawing code can loop over.
import { type Numbers, readStream, type Stream, type StreamColumn } from "./arrow_stream";

export type { Numbers };

export class Columns {
  readonly length: number;
  /** Columns that were read, by name. */
  private readonly cached = new Map<string, unknown>();

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
    return this.cachedColumn(name, () => {
      const { values, nullCount, isNull } = this.column(name, "number");
      const isBig = values instanceof BigInt64Array || values instanceof BigUint64Array;
      if (values && nullCount === 0) return isBig ? doublesOf(values) : values;
      return Float64Array.from({ length: this.length }, (_, i) => (isNull(i) ? Number.NaN : Number(values?.[i])));
    });
  }

  /** A text column; nulls become "". */
  texts(name: string): string[] {
    return this.cachedColumn(name, () => {
      const { text, isNull } = this.column(name, "text");
      return Array.from({ length: this.length }, (_, i) => (isNull(i) ? "" : text(i)));
    });
  }

  /** A column of true and false. */
  flags(name: string): boolean[] {
    return this.cachedColumn(name, () => {
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

  private cachedColumn<T>(name: string, make: () => T): T {
    if (!this.cached.has(name)) this.cached.set(name, make());
    return this.cached.get(name) as T;
  }
}

/** 64-bit integers as doubles, from their halves: millions of BigInts would have to be made else. */
function doublesOf(values: BigInt64Array | BigUint64Array): Float64Array {
  const { buffer, byteOffset, length } = values;
  const low = new Uint32Array(buffer, byteOffset, 2 * length);
  const isSigned = values instanceof BigInt64Array;
  const high = isSigned ? new Int32Array(buffer, byteOffset, 2 * length) : low;
  const doubles = new Float64Array(length);
  for (let i = 0; i < length; i++) doubles[i] = (high[2 * i + 1] as number) * 2 ** 32 + (low[2 * i] as number);
  return doubles;
}

function cellOf({ kind, isNull, values, flag, text }: StreamColumn, row: number): string | number | boolean | null {
  if (isNull(row)) return null;
  if (kind === "number") return Number(values?.[row]);
  return kind === "flag" ? flag(row) : text(row);
}
