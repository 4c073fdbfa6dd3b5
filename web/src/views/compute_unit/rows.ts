// The rows of the Compute Unit view: per slot its markers, its instructions over the lives of its waves, its states.
import type { Strip, TimelineRow } from "../../draw/track_layout";
import type { CurveTiles } from "../../model/curves";
import type { Layer, LayerSet, Track } from "../../model/layers";
import { type Lives, type Slot, slotKey, slotOf } from "../../model/slots";

const STATE_HEIGHT = 4;

/** What is drawn of the instructions of a slot. */
export interface Look {
  /** The states of the waves in place of their instructions. */
  areStates: boolean;
  /** How much of the time is stall; null = not here yet. */
  shares: CurveTiles | null;
  /** The layer of stalls by class; null = stalls are paler. */
  classes: Layer | null;
}

function engineGroup(track: Track): string {
  const { se, cu } = slotOf(track);
  return typeof track.group === "string" && track.group ? track.group : `SE ${se}${cu >= 0 ? ` CU ${cu}` : ""}`;
}

function bySlot(layer: Layer | undefined): Map<string, Track[]> {
  const tracks = new Map<string, Track[]>();
  for (const track of layer?.tracks ?? []) {
    const key = slotKey(slotOf(track));
    tracks.set(key, [...(tracks.get(key) ?? []), track]);
  }
  return tracks;
}

const order = (a: Slot, b: Slot) => a.se - b.se || a.cu - b.cu || a.simd - b.simd || a.slot - b.slot;

export function computeUnitRows(
  set: LayerSet,
  lives: Map<string, Lives>,
  isShown: (se: number) => boolean,
  look: Look,
): TimelineRow[] {
  const [instructions, states] = [set.layer("instructions"), set.layer("states")];
  const [byInstructions, byStates] = [bySlot(instructions), bySlot(states)];
  const written = ["shader_data", "markers"].flatMap((name) => {
    const layer = set.layer(name);
    return layer ? [{ layer, tracks: bySlot(layer) }] : [];
  });
  const traced = new Map([...byStates, ...byInstructions]);
  const others = new Map(written.flatMap(({ tracks }) => [...tracks]).filter(([key]) => !traced.has(key)));

  /** What a slot wrote into the trace, above its instructions. */
  const writtenRows = (key: string, path: string[]): TimelineRow[] =>
    written.flatMap(({ layer, tracks }) =>
      (tracks.get(key) ?? []).map((track) => {
        const label = `${slotOf(track).slot} ${layer.name === "markers" ? `mark ${track.depth}` : "data"}`;
        return { key: `${layer.name}/${track.track}`, label, path, strips: [{ layer, track: track.track }] };
      }),
    );
  const slotRow = (key: string, slot: number, path: string[]): TimelineRow => {
    const strips: Strip[] = [];
    const [main, state] = [byInstructions.get(key)?.[0], byStates.get(key)?.[0]];
    const behind = lives.get(key);
    const drawsStates = look.areStates && states !== undefined && state !== undefined;
    if (instructions && main) {
      const by = look.classes ? { by: look.classes } : {};
      const stalled = look.shares ? { stalled: { tiles: look.shares, series: main.track, ...by } } : {};
      const drawn = drawsStates ? { instead: { layer: states, track: state.track } } : stalled;
      const thin = states && state ? { thin: { layer: states, track: state.track } } : {};
      strips.push({ layer: instructions, track: main.track, ...(behind ? { behind } : {}), ...drawn, ...thin });
    }
    if (states && state && !(main && drawsStates))
      strips.push({ layer: states, track: state.track, ...(main ? { fixed: STATE_HEIGHT } : {}) });
    return { key, label: String(slot), path, strips };
  };
  const tracedTracks = sorted(traced);
  const otherTracks = sorted(others);
  const engines = [...new Set([...tracedTracks, ...otherTracks].map((track) => slotOf(track).se))].sort(
    (a, b) => a - b,
  );
  return engines.filter(isShown).flatMap((se) => {
    const own = tracedTracks.filter((track) => slotOf(track).se === se);
    const first = own[0] ? engineGroup(own[0]) : `SE ${se}`;
    const last = own.at(-1) ? engineGroup(own.at(-1) as Track) : first;
    const beside = otherTracks.filter((track) => slotOf(track).se === se);
    return [
      ...extra(set.layer("events"), se, first, "", () => "events"),
      ...own.flatMap((track) => {
        const { simd, slot } = slotOf(track);
        const [key, path] = [slotKey(slotOf(track)), [engineGroup(track), `SIMD ${simd}`]];
        return [...writtenRows(key, path), slotRow(key, slot, path)];
      }),
      ...extra(set.layer("other_simd"), se, last, "other", (track) => track.label),
      ...beside.flatMap((track) => {
        const { cu, simd } = slotOf(track);
        return writtenRows(slotKey(slotOf(track)), [`SE ${se} others`, `CU ${cu} SIMD ${simd}`]);
      }),
    ];
  });
}

function sorted(tracks: Map<string, Track[]>): Track[] {
  return [...tracks.values()].map((list) => list[0] as Track).sort((a, b) => order(slotOf(a), slotOf(b)));
}

/** Tracks that belong to a shader engine as a whole. */
function extra(
  layer: Layer | undefined,
  se: number,
  group: string,
  label: string,
  column: (track: Track) => string,
): TimelineRow[] {
  if (!layer) return [];
  return layer.tracks
    .filter((track) => slotOf(track).se === se)
    .map((track) => ({
      key: `${layer.name}/${track.track}`,
      label,
      path: [group, column(track)],
      strips: [{ layer, track: track.track }],
    }));
}
