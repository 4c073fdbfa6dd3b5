// The layers of two documents on one time axis: those of the second one stand under names of their own, moved by an offset.
import { askUncached, type Parameters } from "../data/ask";
import { type Layer, LayerSet } from "./layers";
import { Tile } from "./tile";

const BASE = "base/";

export const isBase = (layer: Layer) => layer.name.startsWith(BASE);

/** The layer of the second document that corresponds to a layer of the first. */
export function baseLayer(set: LayerSet, name: string): Layer | undefined {
  return set.layer(BASE + name);
}

/** `offset` is added to all times of the base. */
export function pairedLayers(own: Sided, base: Sided, offset: number): LayerSet {
  const moved = [...base.set.layers.values()].map((layer) => ({
    ...layer,
    name: BASE + layer.name,
    begin: layer.begin + offset,
    end: layer.end + offset,
  }));
  const get = async (parameters: Parameters, stop: AbortSignal) => {
    const name = String(parameters.layer);
    if (!name.startsWith(BASE)) return Tile.from(await askUncached(own.document, "spans", parameters, stop));
    const asked = { ...parameters, layer: name.slice(BASE.length) };
    return Tile.from(await askUncached(base.document, "spans", asked, stop), offset);
  };
  return new LayerSet([...own.set.layers.values(), ...moved], get);
}

export interface Sided {
  document: number;
  set: LayerSet;
}
