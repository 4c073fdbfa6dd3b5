// An Arrow table as plain typed arrays and lists of strings: what drawing code can loop over.
import { type Table, tableFromIPC } from "apache-arrow";

export type Numbers =
  | Float64Array
  | Float32Array
  | Int32Array
  | Uint32Array
  | Int16Array
  | Uint16Array
  | Int8Array
  | Uint8Array;

export class Columns {
  readonly length: number;
  private readonly kept = new Map<string, unknown>();

  constructor(private readonly table: Table) {
    this.length = table.numRows;
  }

  static from(bytes: Uint8Array): Columns {
    return new Columns(tableFromIPC(bytes));
  }

  get names(): string[] {
    return this.table.schema.fields.map((field) => field.name);
  }

  has(name: string): boolean {
    return this.table.getChild(name) !== null;
  }

  /** A numeric column; 64-bit integers become doubles, nulls NaN (in a Float64Array). */
  numbers(name: string): Numbers {
    return this.once(name, () => {
      const column = this.column(name);
      const raw = column.toArray() as Numbers | BigInt64Array | BigUint64Array;
      const isBig = raw instanceof BigInt64Array || raw instanceof BigUint64Array;
      if (!isBig && column.nullCount === 0 && ArrayBuffer.isView(raw)) return raw;
      return Float64Array.from({ length: this.length }, (_, i) => {
        const value = column.get(i) as number | bigint | null;
        return value === null ? Number.NaN : Number(value);
      });
    });
  }

  /** A text column; nulls become "". */
  texts(name: string): string[] {
    return this.once(name, () => {
      const column = this.column(name);
      return Array.from({ length: this.length }, (_, i) => (column.get(i) as string | null) ?? "");
    });
  }

  /** A column of true and false. */
  flags(name: string): boolean[] {
    return this.once(name, () => {
      const column = this.column(name);
      return Array.from({ length: this.length }, (_, i) => column.get(i) === true);
    });
  }

  /** All rows as objects with the declared names; 64-bit integers become numbers. */
  rows<Row>(): Row[] {
    const columns = this.names.map((name) => [name, this.column(name)] as const);
    return Array.from({ length: this.length }, (_, i) => {
      const row: Record<string, unknown> = {};
      for (const [name, column] of columns) {
        const value: unknown = column.get(i);
        row[name] = typeof value === "bigint" ? Number(value) : value;
      }
      return row as Row;
    });
  }

  private column(name: string) {
    const column = this.table.getChild(name);
    if (!column) throw new Error(`the answer has no column ${name}`);
    return column;
  }

  private once<T>(name: string, make: () => T): T {
    if (!this.kept.has(name)) this.kept.set(name, make());
    return this.kept.get(name) as T;
  }
}
