// The GPUs of this run and of its baseline on one time axis, aligned by their start or by the first event of a name.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { json, together } from "../../data/ask";
import type { TimelineRow } from "../../draw/lanes";
import { seriesColour } from "../../draw/palette";
import { spanName } from "../../draw/timeline_spans";
import { comparable, comparedBase } from "../../model/baseline";
import { current, documents, ofDocument } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { baseTrack, isBase, pairedTracks } from "../../model/paired_tracks";
import { isDispatch, type RunTrack, spanItem, spanKey } from "../../model/run_track";
import { select, selection } from "../../model/selection";
import { kindOf, type Span, type Track, type TrackSet, tracksOf } from "../../model/tracks";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { BaseChooser } from "../../widgets/baseline_chooser";
import { SaveMenu } from "../../widgets/saving";
import { rowsOfTrack, Timeline, TimelineHandle } from "../../widgets/timeline";
import type { Aligned } from "./alignment";
import { Alignment, paintSides, SideLegend, useBounds } from "./controls";

const WAYS = { start: "start", event: "first event" } as const;
const way = ofDocument<keyof typeof WAYS>("start");

const HEIGHTS = { least: 12, most: 18 };

function RunOverlay() {
  const base = comparedBase();
  const answer = useAnswer(base === null ? null : together(tracksOf(current.value), tracksOf(base)));
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

/** Where the first event of a name is, if the track has it. */
interface Occurrence {
  begin: number;
}

const kindNamed = (track: Track | undefined, name: string | undefined) =>
  track?.kinds.find((kind) => kind.name === name)?.kind;

/** The name that was selected last: a kernel's, or that of an event. */
function useSelectedName(track: Track | undefined): string | undefined {
  const item = spanItem(selection.value.span);
  const event = useAnswer(item < 0 ? null : json<{ kind?: number }>(current.value, "span", { track: "run", item }));
  const kind = event.value.state === "ready" ? event.value.value.kind : undefined;
  return selection.value.kernelName ?? (track && kind !== undefined ? kindOf(track, kind)?.name : undefined);
}

function useAligned(own: Track | undefined, other: Track | undefined, base: number): Aligned {
  const name = useSelectedName(own);
  const [kind, baseKind] = [kindNamed(own, name), kindNamed(other, name)];
  const isPaired = way.value === "event" && kind !== undefined && baseKind !== undefined;
  const first = useAnswer(
    isPaired
      ? together(
          json<Occurrence>(current.value, "occurrence", { track: "run", kind }),
          json<Occurrence>(base, "occurrence", { track: "run", kind: baseKind }),
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

/** Lanes of both correspond in their order, which is that of processes and GPUs. */
function pairedRows(own: Track, before: Track, isShown: (kind: string) => boolean): TimelineRow[] {
  const rows = (track: Track, word: string) =>
    rowsOfTrack(track, (lane) => isShown(String(lane.kind))).map((row) => ({ ...row, label: `${row.label} ${word}` }));
  const [after, earlier] = [rows(own, "after"), rows(before, "before")];
  const count = Math.max(after.length, earlier.length);
  return Array.from({ length: count }, (_, at) => {
    const [above, below] = [earlier[at], after[at]];
    return [above && { ...above, path: below?.path ?? above.path }, below].filter((row) => row !== undefined);
  }).flat();
}

function Both({ base, own, other }: { base: number; own: TrackSet; other: TrackSet }) {
  const withCalls = useSignal(false);
  const handle = useMemo(() => new TimelineHandle(), []);
  const aligned = useAligned(own.track("run"), other.track("run"), base);
  const offset = "offset" in aligned ? aligned.offset : 0;
  const here = current.value;
  const set = useMemo(
    () => pairedTracks({ document: here, set: own }, { document: base, set: other }, offset),
    [own, other, offset],
  );
  const [track, before] = [set.track("run"), baseTrack(set, "run")];
  useBounds(before ?? { begin: 0, end: 0 });
  const rows = useMemo(
    () => (track && before ? pairedRows(track, before, (kind) => kind === "stream" || withCalls.value) : []),
    [track, before, withCalls.value],
  );
  const colours = useMemo(() => new Map(track?.kinds.map(({ kind, name }) => [name, seriesColour(kind)])), [track]);
  if (!track || !before) return <Nothing>No event with a time was recorded in one of both.</Nothing>;
  const nameOf = (span: Span) => kindOf(span.track, span.kind)?.name ?? "";
  const onSpan = (span: Span | null) => {
    if (!span || span.item < 0) return;
    if (isBase(span.track)) {
      if (isDispatch(span.track as RunTrack, span.item)) select({ kernelName: nameOf(span) });
      return;
    }
    const kernelName = isDispatch(track as RunTrack, span.item) ? nameOf(span) : undefined;
    select({ span: spanKey(track, span.item), kernelName });
  };
  return (
    <div class="view">
      <div class="toolbar">
        <BaseChooser base={base} view="run_overlay" />
        <Alignment ways={WAYS} way={way} aligned={aligned} unit="ns" />
        <label title="Calls and marker ranges of threads, and allocations">
          <input
            type="checkbox"
            checked={withCalls.value}
            onChange={(event) => (withCalls.value = event.currentTarget.checked)}
          />{" "}
          calls
        </label>
        <SideLegend />
        <SaveMenu name="overlay" offers={handle.offers()} />
      </div>
      <div class="overlay-lanes">
        <Timeline
          label={`${documents.value[here]?.label} under ${documents.value[base]?.label}`}
          set={set}
          rows={rows}
          unit="ns"
          rowHeights={HEIGHTS}
          overviewTrack={track}
          handle={handle}
          focus={null}
          labelsGroups
          kindColour={(of, kind) => (isBase(of) ? colours.get(kindOf(of, kind)?.name ?? "") : seriesColour(kind))}
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
