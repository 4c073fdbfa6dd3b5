// A timeline's view: waits for the tracks, and says why there is nothing where the one it shows is not among them.
import type { VNode } from "preact";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import { type Track, type TrackSet, tracksOf } from "../model/tracks";
import { Answered, Nothing } from "./answered";

interface Props {
  name: string;
  /** Why there is no such track, or none with lanes. */
  nothing: string;
  children: (set: TrackSet, track: Track) => VNode;
}

export function OfTrack({ name, nothing, children }: Props) {
  const answer = useAnswer(tracksOf(current.value));
  return (
    <Answered answer={answer}>
      {(set) => {
        const track = set.track(name);
        return track?.lane_count ? children(set, track) : <Nothing>{nothing}</Nothing>;
      }}
    </Answered>
  );
}
