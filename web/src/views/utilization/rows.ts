// The rows of the Utilization view: the mean of all SIMDs, then the pipes of every SIMD; below them when none issues.

import type { Shares } from "../../draw/shares";
import type { TimelineRow } from "../../draw/track_layout";
import type { CurveTiles } from "../../model/curves";
import type { Layer, Track } from "../../model/layers";
import { NO_ISSUE, type PipeCurves } from "../../model/pipe_shares";
import { slotOf } from "../../model/slots";

/** The track number of a row that is not a track of the layer. */
const NO_TRACK = -1;

export function pipeRows(
  layer: Layer,
  set: PipeCurves,
  tiles: CurveTiles,
  colourOf: (pipe: string) => string,
): TimelineRow[] {
  const trackOf = new Map(layer.tracks.map((track) => [keyOf(slotOf(track), pipeOf(track)), track.track]));
  const shown = set.series
    .map(({ keys }, series) => ({ ...keys, series, track: trackOf.get(keyOf(keys, keys.pipe)) }))
    .filter(({ track, pipe }) => track !== undefined || pipe === NO_ISSUE)
    .sort((a, b) => a.se - b.se || a.simd - b.simd);
  const row = (pipe: string, track: number, path: string[], series: number[], of: number): TimelineRow => {
    const shares: Shares = { tiles, series, of, colour: colourOf(pipe) };
    return { key: `${path.join("/")}/${pipe}`, label: pipe, path, strips: [{ layer, track, shares }] };
  };
  const rows = shown.map(({ se, simd, pipe, track, series }) =>
    row(pipe, track ?? NO_TRACK, [`SE ${se}`, `SIMD ${simd}`], [series], 1),
  );
  const units = new Set(shown.map((curve) => keyOf(curve, "")));
  if (units.size < 2) return rows;
  const issuing = [...new Set(shown.map(({ pipe }) => pipe))].filter((pipe) => pipe !== NO_ISSUE);
  const means = [...issuing, NO_ISSUE].map((pipe) => {
    const series = shown.filter((curve) => curve.pipe === pipe).map((curve) => curve.series);
    return row(pipe, NO_TRACK, [`Mean of ${units.size} SIMDs`, "all"], series, units.size);
  });
  return [...means, ...rows];
}

const keyOf = ({ se, simd }: { se: number; simd: number }, pipe: string) => `${se}/${simd}/${pipe}`;
const pipeOf = (track: Track) => String(track.pipe ?? track.label);
