// The waves of this trace and of its baseline on one time axis, aligned by their start, by a loop or by an instruction.

import { useMemo } from "preact/hooks";
import { exact } from "../../base/format";
import type { LoopsAnswer } from "../../data/answers.gen";
import { arrow, json, together } from "../../data/ask";
import { kindName } from "../../draw/timeline_spans";
import { comparable, comparedBase } from "../../model/baseline";
import { codeNow, selectRow, textOf } from "../../model/code";
import { current, documents, ofDocument, traceOverview } from "../../model/document";
import { type Execution, Executions, executionOf, rowNow } from "../../model/executions";
import { type LayerSet, layersOf, type Span } from "../../model/layers";
import { useAnswer } from "../../model/loaded";
import { iterationsOf } from "../../model/loops";
import { baseLayer, isBase, pairedLayers } from "../../model/paired_layers";
import { type Range, selection } from "../../model/selection";
import { livesOf, slotKey } from "../../model/slots";
import type { View } from "../../model/view";
import { waveOf } from "../../model/wave_data";
import { targetWave, type Wave, wavesNow, wavesOf } from "../../model/waves";
import { Answered, Nothing } from "../../widgets/answered";
import { BaseChooser } from "../../widgets/baseline_chooser";
import { entriesOf, KindLegend } from "../../widgets/kind_legend";
import { SaveMenu } from "../../widgets/saving";
import { Timeline, TimelineHandle } from "../../widgets/timeline";
import {
  type Aligned,
  byLoop,
  byRow,
  byStart,
  hottest,
  type Partners,
  partnerLoop,
  partnersFrom,
  partnerWave,
} from "./alignment";
import { Alignment, paintSides, SideLegend, useBounds } from "./controls";
import { paintMarked, useMarks } from "./marks";
import { type Arrangement, overlayRows } from "./rows";

const WAYS = { start: "start", loop: "loop", row: "instruction" } as const;
type Way = keyof typeof WAYS;

const way = ofDocument<Way>("start");
const iteration = ofDocument(0);
const arrangement = ofDocument<Arrangement>("slots");
/** The wave of the base that was clicked; undefined = the partner of the target wave. */
const baseWaveChosen = ofDocument<number | undefined>(undefined);

const HEIGHTS = { least: 8, most: 20 };
const COUNTED = { begin: 0, end: 0 };

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

interface TracksProps {
  base: number;
  own: LayerSet;
  other: LayerSet;
  /** Of the base. */
  waves: Wave[];
  partners: Partners;
}

function Tracks(props: TracksProps) {
  const { base, waves, partners } = props;
  const wave = targetWave();
  const baseWave = waves.find(({ wave }) => wave === baseWaveChosen.value) ?? partnerWave(wave, waves);
  const aligned = useAligned(base, wave, baseWave, waves, partners);
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
      <Both {...props} {...{ wave, baseWave, aligned }} />
    </div>
  );
}

function IterationField() {
  return (
    <label>
      iteration{" "}
      <input
        type="number"
        min={1}
        class="iteration-field"
        aria-label="Iteration"
        value={iteration.value + 1}
        onChange={(event) => (iteration.value = Math.max(0, Math.round(Number(event.currentTarget.value)) - 1 || 0))}
      />
    </label>
  );
}

/** What is aligned now; it waits while what it needs is on its way. */
function useAligned(
  base: number,
  wave: Wave | undefined,
  baseWave: Wave | undefined,
  waves: Wave[],
  partners: Partners,
): Aligned {
  const here = current.value;
  const isLoop = way.value === "loop";
  const { row, iteration: execution } = selection.value;
  const loops = useAnswer(isLoop ? together(json<LoopsAnswer>(here, "loops"), json<LoopsAnswer>(base, "loops")) : null);
  const iterations = useAnswer(
    isLoop && wave && baseWave ? together(iterationsOf(here, wave.wave), iterationsOf(base, baseWave.wave)) : null,
  );
  const instructions = useAnswer(
    way.value === "row" && wave && baseWave ? together(waveOf(here, wave.wave), waveOf(base, baseWave.wave)) : null,
  );
  if (way.value === "start") return byStart(wavesNow(), waves);
  const failed = [loops, iterations, instructions].map((each) => each.value).find((each) => each.state === "failed");
  if (failed?.state === "failed") return { why: failed.error.what };
  if (way.value === "row" && instructions.value.state === "ready") {
    const [own, other] = instructions.value.value;
    return byRow(row, execution ?? 0, own, other, partners);
  }
  if (isLoop && loops.value.state === "ready" && iterations.value.state === "ready") {
    const [own, other] = loops.value.value;
    const [ownIterations, baseIterations] = iterations.value.value;
    const chosen = hottest(own.loops.rows);
    const partner = partnerLoop(chosen, other.loops.rows, partners);
    return byLoop([chosen, ownIterations], [partner, baseIterations], iteration.value);
  }
  return { why: "on its way" };
}

interface BothProps extends TracksProps {
  wave: Wave | undefined;
  baseWave: Wave | undefined;
  aligned: Aligned;
}

function Both({ base, own, other, waves, partners, wave, baseWave, aligned }: BothProps) {
  const facts = traceOverview();
  const offset = "offset" in aligned ? aligned.offset : 0;
  const here = current.value;
  const handle = useMemo(() => new TimelineHandle(), []);
  const set = useMemo(
    () => pairedLayers({ document: here, set: own }, { document: base, set: other }, offset),
    [own, other, offset],
  );
  const layer = set.layer("instructions");
  const before = baseLayer(set, "instructions");
  const ofBase = useMemo(
    () =>
      new Executions(
        () => base,
        () => waves,
      ),
    [base, waves],
  );
  const moved = useMemo(
    () => waves.map((each) => ({ ...each, begin: each.begin + offset, end: each.end + offset })),
    [waves, offset],
  );
  useBounds(moved.length ? spanned(moved) : COUNTED);
  const ownWaves = wavesNow();
  const rows = useMemo(() => {
    if (!layer || !before) return [];
    const lives = { own: livesOf(ownWaves, slotKey), base: livesOf(moved, slotKey) };
    return overlayRows(
      { word: "before", layer: before, lives: lives.base },
      { word: "after", layer, lives: lives.own },
      arrangement.value,
    );
  }, [layer, before, ownWaves, moved, arrangement.value]);

  const marks = useMarks([
    { document: here, wave, layer, shift: 0, row: selection.value.row },
    {
      document: base,
      wave: baseWave,
      layer: before,
      shift: offset,
      row: partners.toBase.get(selection.value.row ?? -1),
    },
  ]);

  if (!layer || !before) return <Nothing>Instructions were traced in only one of both.</Nothing>;
  const find = (span: Span): Promise<Execution | null> =>
    isBase(span.layer) ? ofBase.executionOf(span.item) : executionOf(span.item);
  const onSpan = (span: Span | null) => {
    if (!span || span.item < 0) return;
    void find(span).then((execution) => {
      if (!execution) return;
      if (!isBase(span.layer)) {
        selectRow(execution.row, { wave: execution.wave.wave, iteration: execution.iteration });
        return;
      }
      baseWaveChosen.value = execution.wave.wave;
      const partner = partners.fromBase.get(execution.row);
      if (partner !== undefined) selectRow(partner, { iteration: execution.iteration });
    });
  };
  const tooltipOf = async (span: Span): Promise<string[]> => {
    const execution = await find(span);
    return execution ? factsOfExecution(execution, !isBase(span.layer), partners) : [];
  };
  const labelOf = (span: Span): string => {
    const kind = kindName(span.layer, span.kind);
    if (span.item < 0) return kind;
    if (isBase(span.layer)) {
      const row = ofBase.rowNow(span.item);
      return partners.baseTexts.get(row ?? -1)?.split(" ")[0] ?? kind;
    }
    return codeNow()?.mnemonic[rowNow(span.item) ?? -1] ?? kind;
  };
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
          clockMhz={facts.clock_mhz}
          rowHeights={HEIGHTS}
          overviewLayer={layer}
          handle={handle}
          focus={null}
          reveal={marks[0] ? { layer, track: marks[0].track } : null}
          overlay={paintSides}
          highlight={(painter, frame) => paintMarked(painter, frame, marks)}
          {...{ onSpan, tooltipOf, labelOf }}
        />
      </div>
    </>
  );
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

const spanned = (waves: Wave[]): Range => ({
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
