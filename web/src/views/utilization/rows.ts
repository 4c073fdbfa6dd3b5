// The rows of the Utilization view: the mean of all SIMDs, then the pipes of every SIMD; below them when none issues.

import { mixed, paper } from "../../draw/palette";
import type { Shares } from "../../draw/shares";
import type { TimelineRow } from "../../draw/track_layout";
import type { CurveTiles } from "../../model/curves";
import type { Layer, Track } from "../../model/layers";
import { NO_ISSUE, type PipeCurves } from "../../model/pipe_shares";
import { slotOf } from "../../model/slots";

/** The track number of a row that is not a track of the layer. */
const NO_TRACK = -1;
/** How much paler a pipe is while it is busy and nothing issues. */
const PALE = 0.45;

export function pipeRows(
  layer: Layer,
  set: PipeCurves,
  tiles: CurveTiles,
  busy: { set: PipeCurves; tiles: CurveTiles } | null,
  colourOf: (pipe: string) => string,
): TimelineRow[] {
  const busyOf = new Map(busy?.set.series.map(({ keys }, series) => [keyOf(keys, keys.pipe), series]));
  const trackOf = new Map(layer.tracks.map((track) => [keyOf(slotOf(track), pipeOf(track)), track.track]));
  const shown = set.series
    .map(({ keys }, series) => ({ ...keys, series, track: trackOf.get(keyOf(keys, keys.pipe)) }))
    .filter(({ track, pipe }) => track !== undefined || pipe === NO_ISSUE)
    .sort((a, b) => a.se - b.se || a.simd - b.simd);
  const row = (
    pipe: string,
    track: number,
    path: string[],
    curves: (typeof shown)[number][],
    of: number,
  ): TimelineRow => {
    const issued: Shares = { tiles, series: curves.map(({ series }) => series), of, colour: colourOf(pipe) };
    const long = curves.flatMap((curve) => busyOf.get(keyOf(curve, pipe)) ?? []);
    // The busy time includes the issues; SIMDs without a curve of it are busy while they issue.
    const pale = mixed(colourOf(pipe), paper("background"), PALE);
    const shares =
      busy && long.length === curves.length
        ? { tiles: busy.tiles, series: long, of, colour: pale, inner: issued }
        : issued;
    return { key: `${path.join("/")}/${pipe}`, label: pipe, path, strips: [{ layer, track, shares }] };
  };
  const rows = shown.map((curve) => {
    const { se, simd, pipe, track } = curve;
    return row(pipe, track ?? NO_TRACK, [`SE ${se}`, `SIMD ${simd}`], [curve], 1);
  });
  const units = new Set(shown.map((curve) => keyOf(curve, "")));
  if (units.size < 2) return rows;
  const issuing = [...new Set(shown.map(({ pipe }) => pipe))].filter((pipe) => pipe !== NO_ISSUE);
  const means = [...issuing, NO_ISSUE].map((pipe) => {
    const curves = shown.filter((curve) => curve.pipe === pipe);
    return row(pipe, NO_TRACK, [`Mean of ${units.size} SIMDs`, "all"], curves, units.size);
  });
  return [...means, ...rows];
}

const keyOf = ({ se, simd }: { se: number; simd: number }, pipe: string) => `${se}/${simd}/${pipe}`;
const pipeOf = (track: Track) => String(track.pipe ?? track.label);
