import { describe, expect, it } from "vitest";
import { colourOf, mixed } from "../../draw/palette";
import { PALER } from "../../draw/stalled";
import { spanColour } from "../../draw/timeline_spans";
import type { Kind, Layer } from "../../model/layers";
import { type ColourBy, colourIn, legendOf } from "./colours";

const made = (name: string, kinds: Partial<Kind>[]): Layer =>
  ({ name, kinds: kinds.map((kind, number) => ({ kind: number, ...kind })) }) as Layer;

const instructions = made("instructions", [
  { name: "NONE", colour: "NONE" },
  { name: "SMEM", colour: "SMEM", meaning: "scalar loads" },
  { name: "VALU", colour: "VALU", meaning: "vector arithmetic" },
]);
const states = made("states", [
  { name: "EXEC", colour: "EXEC", meaning: "executes" },
  { name: "STALL", colour: "STALL", meaning: "stalls" },
]);
const classes = made("classes", [
  { name: "barrier", colour: "class barrier", meaning: "others come late", cycles: 1234 },
]);
const layers = { instructions, states, classes };
const named = (entries: { name: string; colour: string }[]) => entries.map(({ name, colour }) => [name, colour]);
const strip = [
  ["EXEC (strip)", colourOf("EXEC")],
  ["STALL (strip)", colourOf("STALL")],
];

describe("the legend has the colours that spans are drawn with", () => {
  it("by kind: those that occur, the stalled part, and the strip of states", () => {
    expect(named(legendOf("kind", layers))).toEqual([
      ["SMEM", spanColour(instructions, 1, {})],
      ["VALU", spanColour(instructions, 2, {})],
      ["stalled", mixed(colourOf("VMEM"), colourOf("EMPTY"), PALER)],
      ...strip,
    ]);
    expect(spanColour(instructions, 2, {})).toBe(colourOf("VALU"));
  });
  it("by state: the states", () => {
    expect(named(legendOf("state", layers))).toEqual([
      ["EXEC", colourOf("EXEC")],
      ["STALL", colourOf("STALL")],
    ]);
  });
  it("by class: what was stalled on, with its cycles, and what was issued", () => {
    const entries = legendOf("class", layers);
    expect(named(entries)).toEqual([["barrier", colourOf("class barrier")], ["issued", colourOf("issued")], ...strip]);
    expect(entries[0]?.meaning).toBe("1,234 stall cycles, execution by execution: others come late");
  });
  it("of a trace without some layers has what is there", () => {
    const none = { instructions: undefined, states: undefined, classes: undefined };
    expect(legendOf("state", none)).toEqual([]);
    expect(named(legendOf("kind", none)).map(([name]) => name)).toEqual(["stalled"]);
  });
});

const colourWith = (by: ColourBy, lit: number | null, layer: Layer, kind: number) =>
  colourIn({ by, layers, lit }, layer, kind);

describe("a kind that is lit up", () => {
  it("alone keeps its colour, among those that the legend is about", () => {
    expect(colourWith("kind", 2, instructions, 2)).toBeUndefined();
    expect(colourWith("kind", 2, instructions, 1)).toBe(mixed(colourOf("SMEM"), colourOf("EMPTY"), 0.82));
    expect(colourWith("kind", 2, states, 0)).toBeUndefined();
    expect(colourWith("kind", null, instructions, 1)).toBeUndefined();
  });
  it("by class leaves what was issued grey, and paler than that when a class is lit", () => {
    expect(colourWith("class", null, instructions, 2)).toBe(colourOf("issued"));
    expect(colourWith("class", 0, instructions, 0)).toBe(mixed(colourOf("issued"), colourOf("EMPTY"), 0.82));
    expect(colourWith("class", 0, classes, 0)).toBeUndefined();
  });
});
