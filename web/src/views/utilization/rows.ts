// The rows of the Utilization view: the pipes of every SIMD, and below them when none of them issues.
import type { Strip, TimelineRow } from "../../draw/lanes";
import { type Lives, slotOf } from "../../model/slots";
import type { Lane, Track } from "../../model/tracks";

export function pipeRows(track: Track, livesBySimd: Map<string, Lives>): TimelineRow[] {
  const simds = new Map<string, Lane[]>();
  for (const lane of track.lanes) {
    const { se, simd } = slotOf(lane);
    const key = `${se}/${simd}`;
    simds.set(key, [...(simds.get(key) ?? []), lane]);
  }
  const sorted = [...simds].sort(([, a], [, b]) => order(a[0] as Lane, b[0] as Lane));
  return sorted.flatMap(([key, lanes]) => {
    const { se, simd } = slotOf(lanes[0] as Lane);
    const path = [`SE ${se}`, `SIMD ${simd}`];
    const rows: TimelineRow[] = lanes.map((lane) => ({
      key: `${lane.lane}`,
      label: String(lane.pipe ?? lane.label),
      path,
      strips: [{ track, lane: lane.lane }],
    }));
    const behind = livesBySimd.get(key);
    if (!behind) return rows;
    const strip: Strip = { track, lane: -1, behind, emptyIn: lanes.map((lane) => lane.lane) };
    return [...rows, { key: `bubbles/${key}`, label: "no issue", path, strips: [strip] }];
  });
}

function order(a: Lane, b: Lane): number {
  const [one, other] = [slotOf(a), slotOf(b)];
  return one.se - other.se || one.simd - other.simd;
}
