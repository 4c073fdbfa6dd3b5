// Arrows over the timeline of a run: what calls launched, what waited for what, and the critical path below the events.
import { useComputed, useSignal } from "@preact/signals";
import { paintEdges, paintFlows } from "../../draw/flow_arrows";
import type { Frame } from "../../draw/frame";
import type { Painter } from "../../draw/painter";
import { paper } from "../../draw/palette";
import { paintPath } from "../../draw/path_segments";
import { current } from "../../model/document";
import { edgesOf, type Flows, flowsOf, tilesAround } from "../../model/flows";
import { useAnswer } from "../../model/loaded";
import { segmentsOf } from "../../model/path";
import type { RunLayer } from "../../model/run_layer";
import type { Range } from "../../model/selection";
import { shown } from "../../model/timewindow";
import { Check } from "../../widgets/check";

/** More arrows than this hide what they lie over. */
const MOST_ARROWS = 120;

/**
 * The arrows of the time on screen and how they are painted. `around` has those of launches, null = they are switched off
 * or have not arrived; `withFlows` and `withPath` are the switches.
 */
export function useArrows(layer: RunLayer) {
  const withFlows = useSignal(true);
  const withPath = useSignal(false);
  const tiles = useComputed(() => tilesAround(layer, shown.value));
  // The time on screen changes often, its tiles seldom: this is drawn again when their text is another one.
  void useComputed(() => JSON.stringify(tiles.value)).value;
  const flows = useAnswer(withFlows.value ? flowsOf(current.value, layer, tiles.peek()) : null);
  const edges = useAnswer(edgesOf(current.value, layer, tiles.peek()));
  const segments = useAnswer(withPath.value ? segmentsOf(current.value, layer, tiles.peek()) : null);
  const around = useComputed(() => {
    const flowSet = withFlows.value && flows.value.state === "ready" ? flows.value.value : null;
    return flowSet ? within(flowSet, shown.value) : null;
  });
  const paint = (painter: Painter, frame: Frame) => {
    if (edges.value.state === "ready")
      paintEdges(painter, frame, { layer: layer.name, edges: edges.value.value, colour: paper("background") });
    paintFlows(painter, frame, { layer: layer.name, flows: around.value?.flows ?? [], colour: `${paper("faint")}90` });
    if (withPath.value && segments.value.state === "ready") {
      paintPath(painter, frame, { layer: layer.name, segments: segments.value.value, colour: paper("accent") });
    }
  };
  return { withFlows, withPath, around: around.value, paint };
}

export function ArrowChecks({ withFlows, withPath }: Pick<ReturnType<typeof useArrows>, "withFlows" | "withPath">) {
  return (
    <>
      <Check
        isOn={withFlows.value}
        onChange={(isOn) => (withFlows.value = isOn)}
        name="flows"
        hint="Arrows from calls to what they launched"
      >
        Flows
      </Check>
      <Check
        isOn={withPath.value}
        onChange={(isOn) => (withPath.value = isOn)}
        name="path"
        hint="The chain of events that set the time, as a line under them; slack stands in the details of an event"
      >
        Critical path
      </Check>
    </>
  );
}

/** The flows that start or end in an interval; only their number when there are too many to see. */
function within(flowSet: Flows, range: Range): Flows {
  if (flowSet.count > flowSet.flows.length) return { count: flowSet.count, flows: [] };
  const isInside = (time: number) => time >= range.begin && time <= range.end;
  const seen = flowSet.flows.filter((flow) => isInside(flow.from_begin) || isInside(flow.to_begin));
  return { count: seen.length, flows: seen.length > MOST_ARROWS ? [] : seen };
}
