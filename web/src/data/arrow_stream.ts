// Reads what the server writes with `write_ipc_stream`: an Arrow stream of one batch of numbers, flags and texts. A stream
// is a list of messages: four bytes of ones, the size of the metadata, the metadata, and a body. The metadata of the first
// are the schema, those of the second say where the buffers of each column lie in its body.
// Layout: https://arrow.apache.org/docs/format/Columnar.html; metadata are FlatBuffers (Message.fbs, Schema.fbs), whose
// tables have numbered fields: those that are read here have names below.

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
/** How an array of numbers over a part of a buffer is made. */
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

/** What every message starts with. */
const CONTINUATION = 0xffffffff;

const MESSAGE = { headerType: 1, header: 2, bodyLength: 3 };
const HEADER_TYPE = { schema: 1, recordBatch: 3 };
const SCHEMA = { fields: 1 };
const FIELD = { name: 0, typeType: 2, type: 3, dictionary: 4 };
const TYPE = { int: 2, floatingPoint: 3, utf8: 5, bool: 6, largeUtf8: 20 };
const INT = { bitWidth: 0, isSigned: 1 };
const FLOATING_POINT = { precision: 0 };
const RECORD_BATCH = { length: 0, nodes: 1, buffers: 2 };

/** By bits. */
const SIGNED: Record<number, Made> = { 8: Int8Array, 16: Int16Array, 32: Int32Array, 64: BigInt64Array };
const UNSIGNED: Record<number, Made> = { 8: Uint8Array, 16: Uint16Array, 32: Uint32Array, 64: BigUint64Array };
/** By precision: 1 = single, 2 = double. */
const FLOATS: Record<number, Made> = { 1: Float32Array, 2: Float64Array };
/** Nodes (length, null count) and buffers (offset, length) are structs of two 64-bit numbers. */
const BYTES_OF_PAIR = 16;

/**
 * A table of FlatBuffers. It starts with the distance back to a list of 16-bit numbers: two sizes, then for every field
 * its offset in the table; 0, or a list that is too short, = the field has its default.
 */
class FlatTable {
  constructor(
    private readonly view: DataView,
    private readonly at: number,
  ) {}

  static root(view: DataView, at: number): FlatTable {
    return new FlatTable(view, at + view.getUint32(at, true));
  }

  /** Where a field is; 0 = it has its default. */
  private place(field: number): number {
    const offsets = this.at - this.view.getInt32(this.at, true);
    const entry = 4 + field * 2;
    const sizeOfList = this.view.getUint16(offsets, true);
    const offset = entry < sizeOfList ? this.view.getUint16(offsets + entry, true) : 0;
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
      const at = first + i * BYTES_OF_PAIR;
      return [Number(this.view.getBigInt64(at, true)), Number(this.view.getBigInt64(at + 8, true))];
    });
  }
}

interface Field {
  name: string;
  type: number;
  /** The array of a column of numbers; null = it has texts or flags. */
  make: Made | null;
}

function fieldOf(table: FlatTable): Field {
  const [name, type] = [table.text(FIELD.name), table.byte(FIELD.typeType)];
  const details = table.table(FIELD.type);
  let make: Made | null = null;
  if (type === TYPE.int)
    make = (details?.byte(INT.isSigned) ? SIGNED : UNSIGNED)[details?.int(INT.bitWidth) ?? 0] ?? null;
  else if (type === TYPE.floatingPoint) make = FLOATS[details?.short(FLOATING_POINT.precision) ?? 0] ?? null;
  const isReadable = make !== null || type === TYPE.utf8 || type === TYPE.largeUtf8 || type === TYPE.bool;
  if (!isReadable || table.table(FIELD.dictionary))
    throw new Error(`the column ${name} has a type that the page cannot read`);
  return { name, type, make };
}

/** The schema and the batch of a stream. */
export function readStream(bytes: Uint8Array): Stream {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let fields: Field[] = [];
  let stream: Stream | null = null;
  for (let at = 0; at + 8 <= bytes.byteLength; ) {
    if (view.getUint32(at, true) !== CONTINUATION) throw new Error("an answer is damaged: it is not an Arrow stream");
    const metadataSize = view.getInt32(at + 4, true);
    if (metadataSize === 0) break; // the end of the stream
    const message = FlatTable.root(view, at + 8);
    const body = at + 8 + metadataSize;
    const header = message.table(MESSAGE.header);
    const type = message.byte(MESSAGE.headerType);
    if (header && type === HEADER_TYPE.schema) fields = header.tables(SCHEMA.fields).map(fieldOf);
    else if (header && type === HEADER_TYPE.recordBatch) {
      if (stream) throw new Error("an answer has several batches");
      stream = batchOf(bytes, body, header, fields);
    }
    at = body + message.long(MESSAGE.bodyLength);
  }
  return stream ?? batchOf(new Uint8Array(0), 0, null, fields);
}

/**
 * A batch, whose buffers lie in `bytes` from `body` on; without a header one of no rows. Each column has a buffer of the
 * rows that are not null, then its values; texts have two of them, where each ends and the letters of all.
 */
function batchOf(bytes: Uint8Array, body: number, header: FlatTable | null, fields: Field[]): Stream {
  const length = header?.long(RECORD_BATCH.length) ?? 0;
  const nodes = header?.pairs(RECORD_BATCH.nodes) ?? [];
  const buffers = header?.pairs(RECORD_BATCH.buffers) ?? [];
  let nextBuffer = 0;
  const take = (make: Made, count: number): Numbers | Big => {
    const [offset] = buffers[nextBuffer++] ?? [0, 0];
    return valuesAt(bytes, body + offset, make, length ? count : 0);
  };
  const columns = fields.map(({ name, type, make }, i): StreamColumn => {
    const nullCount = nodes[i]?.[1] ?? 0;
    const present = take(Uint8Array, nullCount ? Math.ceil(length / 8) : 0) as Uint8Array;
    const isNull = (row: number) => nullCount > 0 && !bitOf(present, row);
    const none = { values: null, flag: () => false, text: () => "" };
    if (type === TYPE.bool) {
      const bits = take(Uint8Array, Math.ceil(length / 8)) as Uint8Array;
      return { name, kind: "flag", nullCount, isNull, ...none, flag: (row) => bitOf(bits, row) };
    }
    if (make) return { name, kind: "number", nullCount, isNull, ...none, values: take(make, length) };
    const ends = take(type === TYPE.utf8 ? Int32Array : BigInt64Array, length + 1);
    const letters = take(Uint8Array, length ? Number(ends[length]) : 0) as Uint8Array;
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
