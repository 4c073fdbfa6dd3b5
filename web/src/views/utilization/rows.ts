// The rows of the Utilization view: the mean of all SIMDs, then the pipes of every SIMD; below them when none issues.
import type { TimelineRow } from "../../draw/lanes";
import type { Shares } from "../../draw/shares";
import type { CurveTiles } from "../../model/curves";
import { NO_ISSUE, type PipeCurves } from "../../model/pipe_shares";
import { slotOf } from "../../model/slots";
import type { Lane, Track } from "../../model/tracks";

/** The lane number of a row that is not a lane of the track. */
const NO_LANE = -1;

export function pipeRows(
  track: Track,
  set: PipeCurves,
  tiles: CurveTiles,
  colourOf: (pipe: string) => string,
): TimelineRow[] {
  const laneOf = new Map(track.lanes.map((lane) => [keyOf(slotOf(lane), pipeOf(lane)), lane.lane]));
  const shown = set.series
    .map(({ keys }, series) => ({ ...keys, series, lane: laneOf.get(keyOf(keys, keys.pipe)) }))
    .filter(({ lane, pipe }) => lane !== undefined || pipe === NO_ISSUE)
    .sort((a, b) => a.se - b.se || a.simd - b.simd);
  const row = (pipe: string, lane: number, path: string[], series: number[], of: number): TimelineRow => {
    const shares: Shares = { tiles, series, of, colour: colourOf(pipe) };
    return { key: `${path.join("/")}/${pipe}`, label: pipe, path, strips: [{ track, lane, shares }] };
  };
  const rows = shown.map(({ se, simd, pipe, lane, series }) =>
    row(pipe, lane ?? NO_LANE, [`SE ${se}`, `SIMD ${simd}`], [series], 1),
  );
  const units = new Set(shown.map((curve) => keyOf(curve, "")));
  if (units.size < 2) return rows;
  const issuing = [...new Set(shown.map(({ pipe }) => pipe))].filter((pipe) => pipe !== NO_ISSUE);
  const means = [...issuing, NO_ISSUE].map((pipe) => {
    const series = shown.filter((curve) => curve.pipe === pipe).map((curve) => curve.series);
    return row(pipe, NO_LANE, [`Mean of ${units.size} SIMDs`, "all"], series, units.size);
  });
  return [...means, ...rows];
}

const keyOf = ({ se, simd }: { se: number; simd: number }, pipe: string) => `${se}/${simd}/${pipe}`;
const pipeOf = (lane: Lane) => String(lane.pipe ?? lane.label);
