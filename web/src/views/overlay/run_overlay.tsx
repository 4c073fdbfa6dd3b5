// The GPUs of this run and of its baseline on one time axis, aligned by their start or by the first event of a name.

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { json, together } from "../../data/ask";
import { runColour, spanName } from "../../draw/timeline_spans";
import type { TimelineRow } from "../../draw/track_layout";
import { comparable, comparedBase } from "../../model/baseline";
import { current, documents, ofDocument } from "../../model/document";
import { kindOf, type Layer, type LayerSet, layersOf, type Span } from "../../model/layers";
import { useAnswer } from "../../model/loaded";
import { baseLayer, isBase, pairedLayers } from "../../model/paired_layers";
import { isDispatch, type RunLayer, spanItem, spanKey } from "../../model/run_layer";
import { select, selection } from "../../model/selection";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { BaseChooser } from "../../widgets/baseline_chooser";
import { Check } from "../../widgets/check";
import { SaveMenu } from "../../widgets/saving";
import { rowsOfLayer, Timeline, TimelineHandle } from "../../widgets/timeline";
import type { Aligned } from "./alignment";
import { Alignment, paintSides, SideLegend, useBounds } from "./controls";

const WAYS = { start: "start", event: "first event" } as const;
const way = ofDocument<keyof typeof WAYS>("start");

const HEIGHTS = { least: 12, most: 18 };

function RunOverlay() {
  const base = comparedBase();
  const answer = useAnswer(base === null ? null : together(layersOf(current.value), layersOf(base)));
  if (base === null) {
    return (
      <Nothing>
        Only one run is open. Open two: <code>wavewright open BEFORE AFTER</code>
      </Nothing>
    );
  }
  return (
    <Answered answer={answer} choose={<BaseChooser base={base} view="run_overlay" />}>
      {([own, other]) => <Both key={base} {...{ base, own, other }} />}
    </Answered>
  );
}

/** The first event of a name. */
interface Occurrence {
  begin: number;
}

const kindNamed = (layer: Layer | undefined, name: string | undefined) =>
  layer?.kinds.find((kind) => kind.name === name)?.kind;

/** The name of the selected kernel, else of the selected event; undefined = none is selected, or it has not arrived. */
function useSelectedName(layer: Layer | undefined): string | undefined {
  const item = spanItem(selection.value.span);
  const event = useAnswer(item < 0 ? null : json<{ kind?: number }>(current.value, "span", { layer: "run", item }));
  const kind = event.value.state === "ready" ? event.value.value.kind : undefined;
  return selection.value.kernelName ?? (layer && kind !== undefined ? kindOf(layer, kind)?.name : undefined);
}

/** The starts of both runs stand under each other, or the first events of the selected name. */
function useAligned(own: Layer | undefined, other: Layer | undefined, base: number): Aligned {
  const name = useSelectedName(own);
  const [kind, baseKind] = [kindNamed(own, name), kindNamed(other, name)];
  const isPaired = way.value === "event" && kind !== undefined && baseKind !== undefined;
  const first = useAnswer(
    isPaired
      ? together(
          json<Occurrence>(current.value, "occurrence", { layer: "run", kind }),
          json<Occurrence>(base, "occurrence", { layer: "run", kind: baseKind }),
        )
      : null,
  );
  if (way.value === "start") return { offset: 0, own: 0, base: 0 };
  if (name === undefined) return { why: "select a kernel or an event, here or in any other view" };
  if (!isPaired) return { why: `the baseline has no event ${name.slice(0, 40)}` };
  if (first.value.state === "failed") return { why: first.value.error.what };
  if (first.value.state === "waiting") return { why: "on its way" };
  const [here, there] = first.value.value;
  return { offset: here.begin - there.begin, own: here.begin, base: there.begin };
}

/** Tracks of both correspond in their order, which is that of processes and GPUs. */
function pairedRows(own: Layer, before: Layer, isShown: (kind: string) => boolean): TimelineRow[] {
  const rowsNamed = (layer: Layer, word: string) =>
    rowsOfLayer(layer, (track) => isShown(String(track.kind))).map((row) => ({
      ...row,
      label: `${row.label} ${word}`,
    }));
  const [ownRows, baseRows] = [rowsNamed(own, "after"), rowsNamed(before, "before")];
  const count = Math.max(ownRows.length, baseRows.length);
  return Array.from({ length: count }, (_, n) => {
    const [above, below] = [baseRows[n], ownRows[n]];
    // A row of the baseline stands in the group of its partner.
    return [above && { ...above, path: below?.path ?? above.path }, below].filter((row) => row !== undefined);
  }).flat();
}

function Both({ base, own, other }: { base: number; own: LayerSet; other: LayerSet }) {
  const withCalls = useSignal(false);
  const handle = useMemo(() => new TimelineHandle(), []);
  const aligned = useAligned(own.layer("run"), other.layer("run"), base);
  const offset = "offset" in aligned ? aligned.offset : 0;
  const here = current.value;
  const set = useMemo(
    () => pairedLayers({ document: here, set: own }, { document: base, set: other }, offset),
    [own, other, offset],
  );
  const [layer, before] = [set.layer("run"), baseLayer(set, "run")];
  useBounds(before ?? { begin: 0, end: 0 });
  const rows = useMemo(
    () => (layer && before ? pairedRows(layer, before, (kind) => kind === "stream" || withCalls.value) : []),
    [layer, before, withCalls.value],
  );
  if (!layer || !before) return <Nothing>No event with a time was recorded in one of both.</Nothing>;
  const nameOf = (span: Span) => kindOf(span.layer, span.kind)?.name ?? "";
  const onSpan = (span: Span | null) => {
    if (!span || span.item < 0) return;
    if (isBase(span.layer)) {
      if (isDispatch(span.layer as RunLayer, span.item)) select({ kernelName: nameOf(span) });
      return;
    }
    const kernelName = isDispatch(layer as RunLayer, span.item) ? nameOf(span) : undefined;
    select({ span: spanKey(layer, span.item), kernelName });
  };
  return (
    <div class="view">
      <div class="toolbar">
        <BaseChooser base={base} view="run_overlay" />
        <Alignment ways={WAYS} way={way} aligned={aligned} unit="ns" />
        <Check
          isOn={withCalls.value}
          onChange={(isOn) => (withCalls.value = isOn)}
          hint="Calls and marker ranges of threads, and allocations"
        >
          calls
        </Check>
        <SideLegend />
        <SaveMenu name="overlay" offers={handle.offers()} />
      </div>
      <div class="overlay-tracks">
        <Timeline
          label={`${documents.value[here]?.label} under ${documents.value[base]?.label}`}
          set={set}
          rows={rows}
          unit="ns"
          rowHeights={HEIGHTS}
          overviewLayer={layer}
          handle={handle}
          focus={null}
          labelsGroups
          kindColour={runColour}
          labelOf={(span) => spanName(span, nameOf(span))}
          overlay={paintSides}
          onSpan={onSpan}
        />
      </div>
    </div>
  );
}

export const runOverlay: View = {
  id: "run_overlay",
  title: "Overlay",
  hint: "The GPUs of this run and of the one it is compared with on one time axis, aligned by start or by the first event of a name",
  about: "run",
  missing: () => (comparable().length ? "" : "only one run is open"),
  component: RunOverlay,
};
