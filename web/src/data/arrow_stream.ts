// Reads what the server writes with `write_ipc_stream`: an Arrow stream of one batch of numbers, flags and texts.
// Layout: https://arrow.apache.org/docs/format/Columnar.html; metadata are FlatBuffers (Message.fbs, Schema.fbs).

export type Numbers =
  | Float64Array
  | Float32Array
  | Int32Array
  | Uint32Array
  | Int16Array
  | Uint16Array
  | Int8Array
  | Uint8Array;

type Big = BigInt64Array | BigUint64Array;
type Made = new (buffer: ArrayBuffer, offset: number, length: number) => Numbers | Big;

/** One column: its values as they lie in the batch, and which of them are null. */
export interface StreamColumn {
  name: string;
  kind: "number" | "flag" | "text";
  nullCount: number;
  isNull: (row: number) => boolean;
  /** Of a column of numbers. */
  values: Numbers | Big | null;
  flag: (row: number) => boolean;
  text: (row: number) => string;
}

export interface Stream {
  length: number;
  columns: StreamColumn[];
}

const SCHEMA = 1;
const BATCH = 3;
const CONTINUES = 0xffffffff;
const INTEGER = 2;
const FLOAT = 3;
const TEXT = 5;
const FLAG = 6;
const LARGE_TEXT = 20;
const SIGNED: Record<number, Made> = { 8: Int8Array, 16: Int16Array, 32: Int32Array, 64: BigInt64Array };
const UNSIGNED: Record<number, Made> = { 8: Uint8Array, 16: Uint16Array, 32: Uint32Array, 64: BigUint64Array };
const FLOATS: Record<number, Made> = { 1: Float32Array, 2: Float64Array };
const BYTES_OF_NODE = 16;

/** A table of FlatBuffers: fields are looked up through its list of offsets; 0 = the default. */
class FlatTable {
  constructor(
    private readonly view: DataView,
    private readonly at: number,
  ) {}

  static root(view: DataView, at: number): FlatTable {
    return new FlatTable(view, at + view.getUint32(at, true));
  }

  private place(field: number): number {
    const offsets = this.at - this.view.getInt32(this.at, true);
    const entry = 4 + field * 2;
    const offset = entry < this.view.getUint16(offsets, true) ? this.view.getUint16(offsets + entry, true) : 0;
    return offset ? this.at + offset : 0;
  }

  byte(field: number): number {
    const place = this.place(field);
    return place ? this.view.getUint8(place) : 0;
  }

  short(field: number): number {
    const place = this.place(field);
    return place ? this.view.getInt16(place, true) : 0;
  }

  int(field: number): number {
    const place = this.place(field);
    return place ? this.view.getInt32(place, true) : 0;
  }

  long(field: number): number {
    const place = this.place(field);
    return place ? Number(this.view.getBigInt64(place, true)) : 0;
  }

  /** Where the thing is that a field refers to; 0 = nowhere. */
  private target(field: number): number {
    const place = this.place(field);
    return place ? place + this.view.getUint32(place, true) : 0;
  }

  table(field: number): FlatTable | null {
    const target = this.target(field);
    return target ? new FlatTable(this.view, target) : null;
  }

  text(field: number): string {
    const target = this.target(field);
    if (!target) return "";
    const { buffer, byteOffset } = this.view;
    return new TextDecoder().decode(new Uint8Array(buffer, byteOffset + target + 4, this.view.getUint32(target, true)));
  }

  /** A list: how many, and where the first is. */
  list(field: number): { count: number; first: number } {
    const target = this.target(field);
    return target ? { count: this.view.getUint32(target, true), first: target + 4 } : { count: 0, first: 0 };
  }

  tables(field: number): FlatTable[] {
    const { count, first } = this.list(field);
    return Array.from({ length: count }, (_, i) => FlatTable.root(this.view, first + 4 * i));
  }

  /** Two 64-bit numbers of each element of a list of structs. */
  pairs(field: number): [number, number][] {
    const { count, first } = this.list(field);
    return Array.from({ length: count }, (_, i) => {
      const at = first + i * BYTES_OF_NODE;
      return [Number(this.view.getBigInt64(at, true)), Number(this.view.getBigInt64(at + 8, true))];
    });
  }
}

interface Field {
  name: string;
  type: number;
  make: Made | null;
}

function fieldOf(table: FlatTable): Field {
  const type = table.byte(2);
  const of = table.table(3);
  let make: Made | null = null;
  if (type === INTEGER) make = (of?.byte(1) ? SIGNED : UNSIGNED)[of?.int(0) ?? 0] ?? null;
  else if (type === FLOAT) make = FLOATS[of?.short(0) ?? 0] ?? null;
  const isReadable = make !== null || type === TEXT || type === LARGE_TEXT || type === FLAG;
  if (!isReadable || table.table(4))
    throw new Error(`the column ${table.text(0)} has a type that the page cannot read`);
  return { name: table.text(0), type, make };
}

/** The schema and the batch of a stream. */
export function readStream(bytes: Uint8Array): Stream {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let fields: Field[] = [];
  let stream: Stream | null = null;
  for (let at = 0; at + 8 <= bytes.byteLength; ) {
    if (view.getUint32(at, true) !== CONTINUES) throw new Error("an answer is damaged: it is not an Arrow stream");
    const size = view.getInt32(at + 4, true);
    if (size === 0) break;
    const message = FlatTable.root(view, at + 8);
    const body = at + 8 + size;
    const header = message.table(2);
    if (header && message.byte(1) === SCHEMA) fields = header.tables(1).map(fieldOf);
    else if (header && message.byte(1) === BATCH) {
      if (stream) throw new Error("an answer has several batches");
      stream = batchOf(bytes, body, header, fields);
    }
    at = body + message.long(3);
  }
  return stream ?? batchOf(new Uint8Array(0), 0, null, fields);
}

/** A batch; of nothing where there is none. */
function batchOf(bytes: Uint8Array, body: number, header: FlatTable | null, fields: Field[]): Stream {
  const length = header?.long(0) ?? 0;
  const nodes = header?.pairs(1) ?? [];
  const buffers = header?.pairs(2) ?? [];
  let next = 0;
  const buffer = (make: Made, count: number): Numbers | Big => {
    const [offset] = buffers[next++] ?? [0, 0];
    return valuesAt(bytes, body + offset, make, length ? count : 0);
  };
  const columns = fields.map((field, i): StreamColumn => {
    const nullCount = nodes[i]?.[1] ?? 0;
    const present = buffer(Uint8Array, nullCount ? Math.ceil(length / 8) : 0) as Uint8Array;
    const isNull = (row: number) => nullCount > 0 && !bitOf(present, row);
    const { name } = field;
    const none = { values: null, flag: () => false, text: () => "" };
    if (field.type === FLAG) {
      const bits = buffer(Uint8Array, Math.ceil(length / 8)) as Uint8Array;
      return { name, kind: "flag", nullCount, isNull, ...none, flag: (row) => bitOf(bits, row) };
    }
    if (field.make) return { name, kind: "number", nullCount, isNull, ...none, values: buffer(field.make, length) };
    const ends = buffer(field.type === TEXT ? Int32Array : BigInt64Array, length + 1);
    const letters = buffer(Uint8Array, length ? Number(ends[length]) : 0) as Uint8Array;
    const decoder = new TextDecoder();
    const text = (row: number) => decoder.decode(letters.subarray(Number(ends[row]), Number(ends[row + 1])));
    return { name, kind: "text", nullCount, isNull, ...none, text };
  });
  return { length, columns };
}

function bitOf(bits: Uint8Array, row: number): boolean {
  return (((bits[row >> 3] as number) >> (row & 7)) & 1) === 1;
}

/** Values where they lie, or a copy of them where they do not lie at a multiple of their size. */
function valuesAt(bytes: Uint8Array, at: number, make: Made, count: number): Numbers | Big {
  const size = (make as unknown as { BYTES_PER_ELEMENT: number }).BYTES_PER_ELEMENT;
  if (at + count * size > bytes.byteLength) throw new Error("an answer is damaged: it ends too early");
  const start = bytes.byteOffset + at;
  if (start % size === 0) return new make(bytes.buffer as ArrayBuffer, start, count);
  return new make(bytes.slice(at, at + count * size).buffer, 0, count);
}
