// The rows of the Compute unit view. Per shader engine from top to bottom: its events; of each traced slot what it wrote
// into the trace, its instructions over the lives of its waves, and their states; the neighbour SIMD; at the end what slots
// of other units wrote into the trace.
import type { Strip, TimelineRow } from "../../draw/track_layout";
import type { CurveTiles } from "../../model/curves";
import type { Layer, LayerSet, Track } from "../../model/layers";
import { type Lives, type Slot, slotKey, slotOf } from "../../model/slots";

/** Pixels of the strip of states below the instructions of a slot. */
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

/** A layer and its tracks by the key of their slot. */
interface SlotLayer {
  layer: Layer;
  tracks: Map<string, Track[]>;
}

/** One track of a layer. */
type LayerTrack = Pick<Strip, "layer" | "track">;

export function computeUnitRows(
  set: LayerSet,
  lives: Map<string, Lives>,
  isShown: (se: number) => boolean,
  look: Look,
): TimelineRow[] {
  const [instructions, states] = [slotLayer(set, "instructions"), slotLayer(set, "states")];
  const written = ["shader_data", "markers"].flatMap((name) => slotLayer(set, name) ?? []);
  // Where a slot has both, its track of instructions stands for it.
  const traced = new Map([...(states?.tracks ?? []), ...(instructions?.tracks ?? [])]);
  const others = new Map(written.flatMap(({ tracks }) => [...tracks]).filter(([key]) => !traced.has(key)));

  const slotRow = (place: Slot, path: string[]): TimelineRow => {
    const key = slotKey(place);
    const strips = slotStrips(trackIn(instructions, key), trackIn(states, key), lives.get(key), look);
    return { key, label: String(place.slot), path, strips };
  };
  const [tracedTracks, otherTracks] = [firstTracks(traced), firstTracks(others)];
  const engines = [...new Set([...tracedTracks, ...otherTracks].map((track) => slotOf(track).se))];
  return engines
    .sort((a, b) => a - b)
    .filter(isShown)
    .flatMap((se) => {
      const [own, beside] = [ofEngine(tracedTracks, se), ofEngine(otherTracks, se)];
      const groupOf = (track: Track | undefined) => (track ? engineGroup(track) : `SE ${se}`);
      // What belongs to the engine stands in the groups of its first and of its last slot, without a heading of its own.
      const [first, last] = [groupOf(own.at(0)), groupOf(own.at(-1))];
      return [
        ...engineRows(set.layer("events"), se, () => ({ label: "", path: [first, "events"] })),
        ...own.flatMap((track) => {
          const place = slotOf(track);
          const path = [engineGroup(track), `SIMD ${place.simd}`];
          return [...writtenRows(written, slotKey(place), path), slotRow(place, path)];
        }),
        ...engineRows(set.layer("other_simd"), se, ({ label }) => ({ label: "other", path: [last, label] })),
        ...beside.flatMap((track) => {
          const place = slotOf(track);
          return writtenRows(written, slotKey(place), [`SE ${se} others`, `CU ${place.cu} SIMD ${place.simd}`]);
        }),
      ];
    });
}

function slotLayer(set: LayerSet, name: string): SlotLayer | undefined {
  const layer = set.layer(name);
  if (!layer) return undefined;
  const tracks = new Map<string, Track[]>();
  for (const track of layer.tracks) {
    const key = slotKey(slotOf(track));
    tracks.set(key, [...(tracks.get(key) ?? []), track]);
  }
  return { layer, tracks };
}

function trackIn(slots: SlotLayer | undefined, key: string): LayerTrack | undefined {
  const track = slots?.tracks.get(key)?.[0];
  return slots && track && { layer: slots.layer, track: track.track };
}

/** The first track of each slot, by place. */
function firstTracks(tracks: Map<string, Track[]>): Track[] {
  return [...tracks.values()].map((list) => list[0] as Track).sort((a, b) => order(slotOf(a), slotOf(b)));
}

const ofEngine = (tracks: Track[], se: number) => tracks.filter((track) => slotOf(track).se === se);

const order = (a: Slot, b: Slot) => a.se - b.se || a.cu - b.cu || a.simd - b.simd || a.slot - b.slot;

function engineGroup(track: Track): string {
  const { se, cu } = slotOf(track);
  return typeof track.group === "string" && track.group ? track.group : `SE ${se}${cu >= 0 ? ` CU ${cu}` : ""}`;
}

/** What is drawn in the row of a slot: its instructions over the lives of its waves, below them its states. */
function slotStrips(
  instructions: LayerTrack | undefined,
  states: LayerTrack | undefined,
  behind: Lives | undefined,
  look: Look,
): Strip[] {
  if (!instructions) return states ? [states] : [];
  const by = look.classes ? { by: look.classes } : {};
  const stalled = look.shares ? { stalled: { tiles: look.shares, series: instructions.track, ...by } } : {};
  const areStates = look.areStates && states !== undefined;
  const main: Strip = {
    ...instructions,
    ...(behind ? { behind } : {}),
    ...(areStates ? { instead: states } : stalled),
    ...(states ? { thin: states } : {}),
  };
  return !states || areStates ? [main] : [main, { ...states, fixed: STATE_HEIGHT }];
}

/** What a slot wrote into the trace: its data, and its markers by their depth. */
function writtenRows(written: SlotLayer[], key: string, path: string[]): TimelineRow[] {
  return written.flatMap(({ layer, tracks }) =>
    (tracks.get(key) ?? []).map((track) => ({
      key: `${layer.name}/${track.track}`,
      label: `${slotOf(track).slot} ${layer.name === "markers" ? `mark ${track.depth}` : "data"}`,
      path,
      strips: [{ layer, track: track.track }],
    })),
  );
}

/** Rows of a layer whose tracks belong to a shader engine, not to a slot. */
function engineRows(
  layer: Layer | undefined,
  se: number,
  namesOf: (track: Track) => Pick<TimelineRow, "label" | "path">,
): TimelineRow[] {
  if (!layer) return [];
  return ofEngine(layer.tracks, se).map((track) => ({
    key: `${layer.name}/${track.track}`,
    ...namesOf(track),
    strips: [{ layer, track: track.track }],
  }));
}
