import { expect, test } from "vitest";
import type { CurveTiles } from "../../model/curves";
import type { Layer } from "../../model/layers";
import { NO_ISSUE, type PipeCurves } from "../../model/pipe_shares";
import { pipeRows } from "./rows";

// Two SIMDs of SE 0: the matrix pipe issues on both, the LDS only on SIMD 1; SIMD 1 also has matrix passes as busy time.
const curves = (places: [simd: number, pipe: string][]) =>
  ({ series: places.map(([simd, pipe]) => ({ label: "", keys: { se: 0, simd, pipe } })) }) as unknown as PipeCurves;
const tiles = (name: string) => name as unknown as CurveTiles;
const issuing = {
  set: curves([
    [0, "MATRIX"],
    [0, NO_ISSUE],
    [1, "MATRIX"],
    [1, "LDS"],
    [1, NO_ISSUE],
    [1, "resident"],
  ]),
  tiles: tiles("issuing"),
};
const layer = {
  name: "pipes",
  tracks: [
    { track: 0, label: "", se: 0, simd: 0, pipe: "MATRIX" },
    { track: 1, label: "", se: 0, simd: 1, pipe: "MATRIX" },
    { track: 2, label: "", se: 0, simd: 1, pipe: "LDS" },
  ],
} as unknown as Layer;
const colourOf = () => "#102030";

test("means of pipes come first, then the pipes of each SIMD", () => {
  const rows = pipeRows(layer, issuing, null, colourOf);
  expect(rows.map(({ path, label, strips }) => [path[0], path[1], label, strips[0]?.track])).toEqual([
    ["Mean of 2 SIMDs", "all", "MATRIX", -1],
    ["Mean of 2 SIMDs", "all", "LDS", -1],
    ["Mean of 2 SIMDs", "all", NO_ISSUE, -1],
    ["SE 0", "SIMD 0", "MATRIX", 0],
    ["SE 0", "SIMD 0", NO_ISSUE, -1],
    ["SE 0", "SIMD 1", "MATRIX", 1],
    ["SE 0", "SIMD 1", "LDS", 2],
    ["SE 0", "SIMD 1", NO_ISSUE, -1],
  ]);
});

test("a mean is over all SIMDs, also those on which the pipe never issues", () => {
  const lds = pipeRows(layer, issuing, null, colourOf)[1]?.strips[0]?.shares;
  expect([lds?.series, lds?.of]).toEqual([[3], 2]);
});

test("busy time is drawn around the issues where all SIMDs of a row have it", () => {
  const busy = { set: curves([[1, "MATRIX"]]), tiles: tiles("busy") };
  const rows = pipeRows(layer, issuing, busy, colourOf);
  const [mean, ofSimd1] = [rows[0]?.strips[0]?.shares, rows[5]?.strips[0]?.shares];
  expect([mean?.tiles, mean?.inner]).toEqual(["issuing", undefined]);
  expect([ofSimd1?.tiles, ofSimd1?.series, ofSimd1?.inner?.series]).toEqual(["busy", [0], [2]]);
});

test("one SIMD has no mean: it would be that SIMD", () => {
  const one = { set: curves([[0, "MATRIX"]]), tiles: tiles("issuing") };
  expect(pipeRows(layer, one, null, colourOf).map(({ path }) => path[0])).toEqual(["SE 0"]);
});
