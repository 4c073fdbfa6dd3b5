// The rows of the Compute Unit view: per slot its markers, its instructions over the lives of its waves, its states.
import type { Strip, TimelineRow } from "../../draw/lanes";
import { type Lives, type Slot, slotKey, slotOf } from "../../model/slots";
import type { Lane, Track, TrackSet } from "../../model/tracks";

const STATE_HEIGHT = 4;

export function engineGroup(lane: Lane): string {
  const { se, cu } = slotOf(lane);
  return typeof lane.group === "string" && lane.group ? lane.group : `SE ${se}${cu >= 0 ? ` CU ${cu}` : ""}`;
}

function bySlot(track: Track | undefined): Map<string, Lane[]> {
  const lanes = new Map<string, Lane[]>();
  for (const lane of track?.lanes ?? []) {
    const key = slotKey(slotOf(lane));
    lanes.set(key, [...(lanes.get(key) ?? []), lane]);
  }
  return lanes;
}

const order = (a: Slot, b: Slot) => a.se - b.se || a.cu - b.cu || a.simd - b.simd || a.slot - b.slot;

export function computeUnitRows(
  set: TrackSet,
  lives: Map<string, Lives>,
  isShown: (se: number) => boolean,
): TimelineRow[] {
  const [instructions, states] = [set.track("instructions"), set.track("states")];
  const [other, events] = [set.track("other_simd"), set.track("events")];
  const [byInstructions, byStates] = [bySlot(instructions), bySlot(states)];
  const written = ["shader_data", "markers"].flatMap((name) => set.track(name) ?? []);
  const byWritten = written.map((track) => ({ track, lanes: bySlot(track) }));
  const everywhere = [...byWritten.flatMap((written) => [...written.lanes]), ...byStates, ...byInstructions];
  const lanes = [...new Map(everywhere).values()].map((list) => list[0] as Lane);
  const sorted = lanes.filter((lane) => isShown(slotOf(lane).se)).sort((a, b) => order(slotOf(a), slotOf(b)));
  const rows: TimelineRow[] = [];
  sorted.forEach((lane, i) => {
    const place = slotOf(lane);
    const key = slotKey(place);
    const group = engineGroup(lane);
    if (events && place.se !== slotOf(sorted[i - 1] ?? {}).se) rows.push(...extra(events, place.se, [group], ""));
    const path = [group, `SIMD ${place.simd}`];
    for (const { track, lanes } of byWritten) {
      for (const lane of lanes.get(key) ?? []) {
        const label = `${place.slot} ${track.name === "markers" ? `mark ${lane.depth}` : "data"}`;
        rows.push({ key: `${track.name}/${lane.lane}`, label, path, strips: [{ track, lane: lane.lane }] });
      }
    }
    const strips: Strip[] = [];
    const main = byInstructions.get(key)?.[0];
    const behind = lives.get(key);
    if (instructions && main) strips.push({ track: instructions, lane: main.lane, ...(behind ? { behind } : {}) });
    const strip = byStates.get(key)?.[0];
    if (states && strip) strips.push({ track: states, lane: strip.lane, ...(main ? { fixed: STATE_HEIGHT } : {}) });
    if (strips.length) rows.push({ key, label: String(place.slot), path, strips });
    const isLast = place.se !== slotOf(sorted[i + 1] ?? {}).se;
    if (other && isLast) rows.push(...extra(other, place.se, [group], "other"));
  });
  return rows;
}

function extra(track: Track, se: number, path: string[], label: string): TimelineRow[] {
  return track.lanes
    .filter((lane) => slotOf(lane).se === se)
    .map((lane) => ({
      key: `${track.name}/${lane.lane}`,
      label,
      path: [...path, track.name === "events" ? "events" : lane.label],
      strips: [{ track, lane: lane.lane }],
    }));
}
