// The rows of the Utilization view: for each pipe its mean over all SIMDs, then the pipes of every SIMD. The mean of
// "no issue" stands last among the means. A row is drawn as one area (`Shares`) from the curves of its pipe.

import { mixed, paper } from "../../draw/palette";
import type { Shares } from "../../draw/shares";
import type { TimelineRow } from "../../draw/track_layout";
import type { CurveTiles } from "../../model/curves";
import type { Layer, Track } from "../../model/layers";
import { NO_ISSUE, type PipeCurves } from "../../model/pipe_shares";
import { slotOf } from "../../model/slots";

/** Curves of pipes, with the tiles that hold their values. */
export interface PipeTiles {
  set: PipeCurves;
  tiles: CurveTiles;
}

/** One curve of a set, and the track of the layer that has the same issues as spans; undefined = there is none. */
interface PipeCurve {
  se: number;
  simd: number;
  pipe: string;
  /** Position of the curve in its set. */
  series: number;
  track: number | undefined;
}

interface PipeRow {
  pipe: string;
  path: string[];
  curves: PipeCurve[];
  /** By how many SIMDs the sum of the curves is divided. */
  simdCount: number;
  track: number;
}

/** The track of a row that is none of the layer's: `isCurve` of draw/shares.ts draws such a row as a curve at every zoom. */
const NO_TRACK = -1;
/** How much paler a pipe is while it is busy and nothing issues. */
const PALE = 0.45;

/** `busy` has the curves of pipes that are busy for longer than they issue; null = it has not arrived yet. */
export function pipeRows(
  layer: Layer,
  issuing: PipeTiles,
  busy: PipeTiles | null,
  colourOf: (pipe: string) => string,
): TimelineRow[] {
  const busySeries = new Map(busy?.set.series.map(({ keys }, series) => [keyOf(keys, keys.pipe), series]));
  const areaOf = ({ pipe, curves, simdCount }: PipeRow): Shares => {
    const colour = colourOf(pipe);
    const issues = { tiles: issuing.tiles, series: curves.map(({ series }) => series), of: simdCount, colour };
    const busyOfCurves = curves.flatMap((curve) => busySeries.get(keyOf(curve, pipe)) ?? []);
    // A SIMD without a curve of busy time is busy exactly while it issues: then the issues alone are drawn.
    if (!busy || busyOfCurves.length !== curves.length) return issues;
    // The busy time includes the issues: their area lies inside the pale one.
    const pale = mixed(colour, paper("background"), PALE);
    return { tiles: busy.tiles, series: busyOfCurves, of: simdCount, colour: pale, inner: issues };
  };
  const curves = shownCurves(layer, issuing.set);
  return [...meanRows(curves), ...curves.map(simdRow)].map((row) => ({
    key: `${row.path.join("/")}/${row.pipe}`,
    label: row.pipe,
    path: row.path,
    strips: [{ layer, track: row.track, shares: areaOf(row) }],
  }));
}

/** Curves of pipes that the layer has a track for, and those of no issue; by shader engine and SIMD. */
function shownCurves(layer: Layer, set: PipeCurves): PipeCurve[] {
  const trackOf = new Map(layer.tracks.map((track) => [keyOf(slotOf(track), pipeOf(track)), track.track]));
  return set.series
    .map(({ keys }, series) => ({ ...keys, series, track: trackOf.get(keyOf(keys, keys.pipe)) }))
    .filter(({ track, pipe }) => track !== undefined || pipe === NO_ISSUE)
    .sort((a, b) => a.se - b.se || a.simd - b.simd);
}

function simdRow(curve: PipeCurve): PipeRow {
  const { se, simd, pipe, track } = curve;
  return { pipe, path: [`SE ${se}`, `SIMD ${simd}`], curves: [curve], simdCount: 1, track: track ?? NO_TRACK };
}

/** One row for each pipe; none where there is one SIMD only, whose mean it is itself. */
function meanRows(curves: PipeCurve[]): PipeRow[] {
  const simdCount = new Set(curves.map((curve) => keyOf(curve, ""))).size;
  if (simdCount < 2) return [];
  const issuing = [...new Set(curves.map(({ pipe }) => pipe))].filter((pipe) => pipe !== NO_ISSUE);
  return [...issuing, NO_ISSUE].map((pipe) => ({
    pipe,
    path: [`Mean of ${simdCount} SIMDs`, "all"],
    curves: curves.filter((curve) => curve.pipe === pipe),
    simdCount,
    track: NO_TRACK,
  }));
}

const keyOf = ({ se, simd }: { se: number; simd: number }, pipe: string) => `${se}/${simd}/${pipe}`;
const pipeOf = (track: Track) => String(track.pipe ?? track.label);
