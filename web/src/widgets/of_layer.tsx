// A timeline's view: waits for the layers, and says why there is nothing where the one it shows is not among them.
import type { VNode } from "preact";
import { current } from "../model/document";
import { type Layer, type LayerSet, layersOf } from "../model/layers";
import { useAnswer } from "../model/loaded";
import { Answered, Nothing } from "./answered";

interface Props {
  name: string;
  /** Why there is no such layer, or none with tracks. */
  nothing: string;
  children: (set: LayerSet, layer: Layer) => VNode;
}

export function OfLayer({ name, nothing, children }: Props) {
  const answer = useAnswer(layersOf(current.value));
  return (
    <Answered answer={answer}>
      {(set) => {
        const layer = set.layer(name);
        return layer?.track_count ? children(set, layer) : <Nothing>{nothing}</Nothing>;
      }}
    </Answered>
  );
}
