// The tracks of two documents on one time axis: those of the second one stand under names of their own, moved by an offset.
import { askUncached, type Parameters } from "../data/ask";
import { Tile } from "./tile";
import { type Track, TrackSet } from "./tracks";

const BASE = "base/";

export const isBase = (track: Track) => track.name.startsWith(BASE);

/** The track of the second document that corresponds to a track of the first. */
export function baseTrack(set: TrackSet, name: string): Track | undefined {
  return set.track(BASE + name);
}

/** `offset` is added to all times of the base. */
export function pairedTracks(own: Sided, base: Sided, offset: number): TrackSet {
  const moved = [...base.set.tracks.values()].map((track) => ({
    ...track,
    name: BASE + track.name,
    begin: track.begin + offset,
    end: track.end + offset,
  }));
  const get = async (parameters: Parameters) => {
    const name = String(parameters.track);
    if (!name.startsWith(BASE)) return Tile.from(await askUncached(own.document, "spans", parameters));
    const asked = { ...parameters, track: name.slice(BASE.length) };
    return Tile.from(await askUncached(base.document, "spans", asked), offset);
  };
  return new TrackSet([...own.set.tracks.values(), ...moved], get);
}

export interface Sided {
  document: number;
  set: TrackSet;
}
