// The waves of this trace and of its baseline on one time axis, aligned by their start, by a loop or by an instruction.

import { useMemo } from "preact/hooks";
import { exact } from "../../base/format";
import { arrow, together } from "../../data/ask";
import { kindName } from "../../draw/timeline_spans";
import { comparable, comparedBase } from "../../model/baseline";
import { codeNow, selectRow, textOf } from "../../model/code";
import { current, documents, ofDocument, traceOverview } from "../../model/document";
import { type Execution, Executions, executionOf, rowNow } from "../../model/executions";
import { type LayerSet, layersOf, type Span } from "../../model/layers";
import { useAnswer } from "../../model/loaded";
import { baseLayer, isBase, pairedLayers } from "../../model/paired_layers";
import { type Range, selection } from "../../model/selection";
import { livesOf, slotKey } from "../../model/slots";
import type { View } from "../../model/view";
import { targetWave, type Wave, wavesNow, wavesOf } from "../../model/waves";
import { Answered, Nothing } from "../../widgets/answered";
import { BaseChooser } from "../../widgets/baseline_chooser";
import { entriesOf, KindLegend } from "../../widgets/kind_legend";
import { SaveMenu } from "../../widgets/saving";
import { Timeline, TimelineHandle } from "../../widgets/timeline";
import { IterationField, useAligned, WAYS, way } from "./aligned_by";
import { type Partners, partnersFrom, partnerWave } from "./alignment";
import { Alignment, paintSides, SideLegend, useBounds } from "./controls";
import { paintMarked, useMarks } from "./marks";
import { type Arrangement, overlayRows } from "./rows";

const arrangement = ofDocument<Arrangement>("slots");
/** The wave of the base that was clicked; undefined = the partner of the target wave. */
const baseWaveChosen = ofDocument<number | undefined>(undefined);

const ROW_HEIGHTS = { least: 8, most: 20 };

function Overlay() {
  const base = comparedBase();
  if (base === null) {
    return (
      <Nothing>
        Only one trace is open. Open two: <code>wavewright open BEFORE AFTER</code>
      </Nothing>
    );
  }
  return <Pair key={base} base={base} />;
}

function Pair({ base }: { base: number }) {
  const answer = useAnswer(
    together(
      layersOf(current.value),
      layersOf(base),
      wavesOf(base),
      arrow(current.value, "compare_units", { other: base, by: "instruction" }).as(partnersFrom),
    ),
  );
  return (
    <Answered answer={answer} choose={<BaseChooser base={base} view="overlay" />}>
      {([own, other, waves, partners]) => <Tracks {...{ base, own, other, waves, partners }} />}
    </Answered>
  );
}

/** Both traces: this one and its baseline. */
interface TracePair {
  /** Document of the baseline. */
  base: number;
  own: LayerSet;
  other: LayerSet;
  /** Waves of the baseline. */
  waves: Wave[];
  partners: Partners;
}

function Tracks(pair: TracePair) {
  const { base, waves } = pair;
  const wave = targetWave();
  const baseWave = waves.find(({ wave }) => wave === baseWaveChosen.value) ?? partnerWave(wave, waves);
  const aligned = useAligned({ ...pair, wave, baseWave });
  return (
    <div class="view">
      <div class="toolbar">
        <BaseChooser base={base} view="overlay" />
        <Alignment
          ways={WAYS}
          way={way}
          aligned={aligned}
          unit="cycles"
          more={way.value === "loop" ? <IterationField /> : null}
        />
        <label>
          <select
            aria-label="Arrangement"
            value={arrangement.value}
            onChange={(event) => (arrangement.value = event.currentTarget.value as Arrangement)}
          >
            <option value="slots">slot by slot</option>
            <option value="traces">one trace below the other</option>
          </select>
        </label>
        {wave && baseWave ? (
          <span class="faint-text" data-waves={`${wave.wave}/${baseWave.wave}`}>
            wave {exact(wave.wave)}, before: {exact(baseWave.wave)}
          </span>
        ) : null}
      </div>
      <Both pair={pair} wave={wave} baseWave={baseWave} offset={"offset" in aligned ? aligned.offset : 0} />
    </div>
  );
}

interface BothProps {
  pair: TracePair;
  wave: Wave | undefined;
  baseWave: Wave | undefined;
  /** Cycles that move the baseline; 0 while nothing is aligned. */
  offset: number;
}

function Both({ pair, wave, baseWave, offset }: BothProps) {
  const { base, partners } = pair;
  const here = current.value;
  const handle = useMemo(() => new TimelineHandle(), []);
  const { set, layer, before, rows } = useRows(pair, offset);
  const actions = useSpanActions(pair);
  const row = selection.value.row;
  const baseRow = row === undefined ? undefined : partners.toBase.get(row);
  const marks = useMarks([
    { document: here, wave, layer, shift: 0, row },
    { document: base, wave: baseWave, layer: before, shift: offset, row: baseRow },
  ]);
  if (!layer || !before) return <Nothing>Instructions were traced in only one of both.</Nothing>;
  return (
    <>
      <div class="toolbar">
        <SideLegend />
        <KindLegend label="Kinds of instructions" entries={entriesOf(layer)} />
        <SaveMenu name="overlay" offers={handle.offers()} />
      </div>
      <div class="overlay-tracks" data-marked={JSON.stringify(marks.map(({ focus }) => focus))}>
        <Timeline
          label={`${labelOfDocument(here)} under ${labelOfDocument(base)}`}
          set={set}
          rows={rows}
          unit="cycles"
          clockMhz={traceOverview().clock_mhz}
          rowHeights={ROW_HEIGHTS}
          overviewLayer={layer}
          handle={handle}
          focus={null}
          reveal={marks[0] ? { layer, track: marks[0].track } : null}
          overlay={paintSides}
          highlight={(painter, frame) => paintMarked(painter, frame, marks)}
          {...actions}
        />
      </div>
    </>
  );
}

/** The instructions of both traces as rows of one timeline, and the bounds of time that hold both. */
function useRows({ base, own, other, waves }: TracePair, offset: number) {
  const here = current.value;
  const set = useMemo(
    () => pairedLayers({ document: here, set: own }, { document: base, set: other }, offset),
    [own, other, offset],
  );
  const moved = useMemo(
    () => waves.map((wave) => ({ ...wave, begin: wave.begin + offset, end: wave.end + offset })),
    [waves, offset],
  );
  useBounds(moved.length ? spanOfWaves(moved) : { begin: 0, end: 0 });
  const [layer, before] = [set.layer("instructions"), baseLayer(set, "instructions")];
  const ownWaves = wavesNow();
  const rows = useMemo(() => {
    if (!layer || !before) return [];
    return overlayRows(
      { word: "before", layer: before, lives: livesOf(moved, slotKey) },
      { word: "after", layer, lives: livesOf(ownWaves, slotKey) },
      arrangement.value,
    );
  }, [layer, before, ownWaves, moved, arrangement.value]);
  return { set, layer, before, rows };
}

/** What a click on a span selects, and what is said about it: spans are executions of one of both traces. */
function useSpanActions({ base, waves, partners }: TracePair) {
  const ofBase = useMemo(
    () =>
      new Executions(
        () => base,
        () => waves,
      ),
    [base, waves],
  );
  const executionUnder = (span: Span): Promise<Execution | null> =>
    isBase(span.layer) ? ofBase.executionOf(span.item) : executionOf(span.item);
  const onSpan = (span: Span | null) => {
    if (!span || span.item < 0) return;
    void executionUnder(span).then((execution) => {
      if (!execution) return;
      const { wave, row, iteration } = execution;
      if (!isBase(span.layer)) {
        selectRow(row, { wave: wave.wave, iteration });
        return;
      }
      // What is selected is of this trace: of the baseline its partner is, and the wave is remembered here.
      baseWaveChosen.value = wave.wave;
      const partner = partners.fromBase.get(row);
      if (partner !== undefined) selectRow(partner, { iteration });
    });
  };
  const tooltipOf = async (span: Span): Promise<string[]> => {
    const execution = await executionUnder(span);
    return execution ? factsOfExecution(execution, !isBase(span.layer), partners) : [];
  };
  const labelOf = (span: Span): string => {
    const kind = kindName(span.layer, span.kind);
    if (span.item < 0) return kind;
    const row = isBase(span.layer) ? ofBase.rowNow(span.item) : rowNow(span.item);
    if (row === undefined) return kind;
    const mnemonic = isBase(span.layer) ? partners.baseTexts.get(row)?.split(" ")[0] : codeNow()?.mnemonic[row];
    return mnemonic ?? kind;
  };
  return { onSpan, tooltipOf, labelOf };
}

/** What is known of one execution of either trace, for its tooltip. */
function factsOfExecution(execution: Execution, isOwn: boolean, partners: Partners): string[] {
  const { wave, row, iteration, stall, duration } = execution;
  const partner = isOwn ? partners.toBase.get(row) : partners.fromBase.get(row);
  const gone = isOwn ? "the baseline does not have it" : "it is gone";
  return [
    isOwn ? textOf(row) : (partners.baseTexts.get(row) ?? `row ${row}`),
    `${isOwn ? "after" : "before"} · row ${row} · execution ${exact(iteration + 1)} · wave ${wave.wave}`,
    `stall ${exact(stall)} · duration ${exact(duration)} cycles`,
    partner === undefined ? gone : `${isOwn ? "before" : "after"} it is row ${partner}`,
  ];
}

const labelOfDocument = (number: number) => documents.value[number]?.label ?? "";

const spanOfWaves = (waves: Wave[]): Range => ({
  begin: waves.reduce((first, { begin }) => Math.min(first, begin), Number.POSITIVE_INFINITY),
  end: waves.reduce((last, { end }) => Math.max(last, end), Number.NEGATIVE_INFINITY),
});

export const overlay: View = {
  id: "overlay",
  title: "Overlay",
  hint: "The waves of this trace and of the one it is compared with on one time axis, aligned by start, loop or instruction",
  about: "trace",
  missing: (overview) => {
    if (overview.kind !== "trace" || !overview.instruction_count) return "no instruction was traced";
    return comparable().length ? "" : "only one trace is open";
  },
  component: Overlay,
};
