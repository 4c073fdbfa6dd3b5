// The rows of the Compute Unit view: per slot its markers, its instructions over the lives of its waves, its states.
import type { Strip, TimelineRow } from "../../draw/lanes";
import type { CurveTiles } from "../../model/curves";
import { type Lives, type Slot, slotKey, slotOf } from "../../model/slots";
import type { Lane, Track, TrackSet } from "../../model/tracks";

const STATE_HEIGHT = 4;

/** What is drawn of the instructions of a slot. */
export interface Look {
  /** The states of the waves in place of their instructions. */
  areStates: boolean;
  /** How much of the time is stall; null = not here yet. */
  shares: CurveTiles | null;
  /** The track of stalls by class; null = stalls are paler. */
  classes: Track | null;
}

function engineGroup(lane: Lane): string {
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
  look: Look,
): TimelineRow[] {
  const [instructions, states] = [set.track("instructions"), set.track("states")];
  const [byInstructions, byStates] = [bySlot(instructions), bySlot(states)];
  const written = ["shader_data", "markers"].flatMap((name) => {
    const track = set.track(name);
    return track ? [{ track, lanes: bySlot(track) }] : [];
  });
  const traced = new Map([...byStates, ...byInstructions]);
  const others = new Map(written.flatMap(({ lanes }) => [...lanes]).filter(([key]) => !traced.has(key)));

  /** What a slot wrote into the trace, above its instructions. */
  const writtenRows = (key: string, path: string[]): TimelineRow[] =>
    written.flatMap(({ track, lanes }) =>
      (lanes.get(key) ?? []).map((lane) => {
        const label = `${slotOf(lane).slot} ${track.name === "markers" ? `mark ${lane.depth}` : "data"}`;
        return { key: `${track.name}/${lane.lane}`, label, path, strips: [{ track, lane: lane.lane }] };
      }),
    );
  const slotRow = (key: string, slot: number, path: string[]): TimelineRow => {
    const strips: Strip[] = [];
    const [main, state] = [byInstructions.get(key)?.[0], byStates.get(key)?.[0]];
    const behind = lives.get(key);
    const drawsStates = look.areStates && states !== undefined && state !== undefined;
    if (instructions && main) {
      const by = look.classes ? { by: look.classes } : {};
      const stalled = look.shares ? { stalled: { tiles: look.shares, series: main.lane, ...by } } : {};
      const drawn = drawsStates ? { instead: { track: states, lane: state.lane } } : stalled;
      strips.push({ track: instructions, lane: main.lane, ...(behind ? { behind } : {}), ...drawn });
    }
    if (states && state && !(main && drawsStates))
      strips.push({ track: states, lane: state.lane, ...(main ? { fixed: STATE_HEIGHT } : {}) });
    return { key, label: String(slot), path, strips };
  };
  const tracedLanes = sorted(traced);
  const otherLanes = sorted(others);
  const engines = [...new Set([...tracedLanes, ...otherLanes].map((lane) => slotOf(lane).se))].sort((a, b) => a - b);
  return engines.filter(isShown).flatMap((se) => {
    const own = tracedLanes.filter((lane) => slotOf(lane).se === se);
    const first = own[0] ? engineGroup(own[0]) : `SE ${se}`;
    const last = own.at(-1) ? engineGroup(own.at(-1) as Lane) : first;
    const beside = otherLanes.filter((lane) => slotOf(lane).se === se);
    return [
      ...extra(set.track("events"), se, first, "", () => "events"),
      ...own.flatMap((lane) => {
        const { simd, slot } = slotOf(lane);
        const [key, path] = [slotKey(slotOf(lane)), [engineGroup(lane), `SIMD ${simd}`]];
        return [...writtenRows(key, path), slotRow(key, slot, path)];
      }),
      ...extra(set.track("other_simd"), se, last, "other", (lane) => lane.label),
      ...beside.flatMap((lane) => {
        const { cu, simd } = slotOf(lane);
        return writtenRows(slotKey(slotOf(lane)), [`SE ${se} others`, `CU ${cu} SIMD ${simd}`]);
      }),
    ];
  });
}

function sorted(lanes: Map<string, Lane[]>): Lane[] {
  return [...lanes.values()].map((list) => list[0] as Lane).sort((a, b) => order(slotOf(a), slotOf(b)));
}

/** Lanes that belong to a shader engine as a whole. */
function extra(
  track: Track | undefined,
  se: number,
  group: string,
  label: string,
  column: (lane: Lane) => string,
): TimelineRow[] {
  if (!track) return [];
  return track.lanes
    .filter((lane) => slotOf(lane).se === se)
    .map((lane) => ({
      key: `${track.name}/${lane.lane}`,
      label,
      path: [group, column(lane)],
      strips: [{ track, lane: lane.lane }],
    }));
}
