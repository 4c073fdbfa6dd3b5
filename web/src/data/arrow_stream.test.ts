// Judged by Arrow's own writer: whatever it writes, we read as it would.
import {
  Bool,
  Dictionary,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  LargeUtf8,
  Table,
  tableFromArrays,
  tableFromIPC,
  tableToIPC,
  Uint8,
  Uint16,
  Uint32,
  Utf8,
  type Vector,
  vectorFromArray,
} from "apache-arrow";
import { describe, expect, it } from "vitest";
import { readStream } from "./arrow_stream";
import { Columns } from "./columns";

const written = (columns: Record<string, Vector>): Uint8Array => tableToIPC(new Table(columns), "stream");

const NUMBERS = [0, 1, -1, 100, null, 7, -128, 127, null];

describe("a stream of Arrow", () => {
  it("has the numbers that Arrow's reader finds, with and without nulls", () => {
    for (const type of [new Int8(), new Int16(), new Int32(), new Int64(), new Float32(), new Float64()]) {
      for (const values of [NUMBERS, NUMBERS.map((value) => value ?? 3)]) {
        const given = type instanceof Int64 ? values.map((v) => (v === null ? null : BigInt(v))) : values;
        const bytes = written({ x: vectorFromArray(given as number[], type) });
        const judge = tableFromIPC(bytes).getChild("x");
        const expected = values.map((_, i) => (judge?.get(i) === null ? Number.NaN : Number(judge?.get(i))));
        expect([...Columns.from(bytes).numbers("x")]).toEqual(expected);
      }
    }
    for (const type of [new Uint8(), new Uint16(), new Uint32()]) {
      const bytes = written({ x: vectorFromArray([0, 200, 255], type) });
      expect([...Columns.from(bytes).numbers("x")]).toEqual([0, 200, 255]);
    }
  });

  it("has texts of any language, empty ones and nulls, with offsets of 32 and 64 bits", () => {
    const texts = ["", "wave", "größer", "日本", "🌊", null, "x".repeat(1000)];
    for (const type of [new Utf8(), new LargeUtf8()]) {
      const columns = Columns.from(written({ t: vectorFromArray(texts, type) }));
      expect(columns.texts("t")).toEqual(texts.map((text) => text ?? ""));
      expect(columns.rows()).toEqual(texts.map((t) => ({ t })));
    }
  });

  it("has flags, and rows as objects", () => {
    const flags = Array.from({ length: 21 }, (_, i) => (i % 5 === 4 ? null : i % 3 === 0));
    const columns = Columns.from(
      written({
        f: vectorFromArray(flags, new Bool()),
        n: vectorFromArray(
          flags.map((_, i) => i),
          new Int32(),
        ),
      }),
    );
    expect(columns.flags("f")).toEqual(flags.map((flag) => flag === true));
    expect(columns.rows()[4]).toEqual({ f: null, n: 4 });
    expect(columns.names).toEqual(["f", "n"]);
    expect([columns.has("n"), columns.has("m")]).toEqual([true, false]);
  });

  it("may start anywhere in a buffer, and may be empty", () => {
    const bytes = written({ x: vectorFromArray([1.5, 2.5], new Float64()) });
    const moved = new Uint8Array(bytes.byteLength + 3);
    moved.set(bytes, 3);
    expect([...Columns.from(moved.subarray(3)).numbers("x")]).toEqual([1.5, 2.5]);
    const nothing = Columns.from(
      written({ x: vectorFromArray([], new Float64()), t: vectorFromArray([], new Utf8()) }),
    );
    expect([nothing.length, nothing.numbers("x").length, nothing.texts("t")]).toEqual([0, 0, []]);
  });

  it("is refused when it is cut, of several batches, or of a type that is not read", () => {
    const bytes = tableToIPC(tableFromArrays({ x: Float64Array.from({ length: 100 }, (_, i) => i) }), "stream");
    expect(() => readStream(bytes.subarray(0, 600))).toThrow(/damaged/);
    expect(() => readStream(new Uint8Array(64))).toThrow(/damaged/);
    const list = vectorFromArray(["a", "b", "a"], new Dictionary(new Utf8(), new Int32()));
    expect(() => readStream(written({ d: list }))).toThrow(/cannot read/);
    const two = new Table([
      ...new Table({ x: vectorFromArray([1], new Int32()) }).batches,
      ...new Table({ x: vectorFromArray([2], new Int32()) }).batches,
    ]);
    expect(() => readStream(tableToIPC(two, "stream"))).toThrow(/several batches/);
  });
});
