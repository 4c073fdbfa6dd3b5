// Counters streamed into the trace, what is derived from them, and the shader clock, over time.
import { type Signal, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { flipped } from "../../base/sets";
import { type CurveSeries, type CurveSet, curvesOf } from "../../model/curves";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import type { View } from "../../model/view";
import { Answered, Nothing, Problem } from "../../widgets/answered";
import { CurveChart } from "../../widgets/curve_chart";
import { EngineSelect } from "../../widgets/engine_select";
import { type DerivedAnswer, derivedOf } from "./answer";
import { Editor } from "./editor";
import { chosenSet, savedSets } from "./saved_sets";
import "./counters.css";

type Chart = "derived" | "sampled_counters" | "clock";
const CHARTS: [chart: Chart, name: string][] = [
  ["derived", "derived"],
  ["sampled_counters", "counters"],
  ["clock", "shader clock"],
];

function Counters() {
  const answer = useAnswer(curvesOf(current.value));
  return <Answered answer={answer}>{(sets) => <Charts sets={sets} />}</Answered>;
}

/** The curves of a name: those of the chosen shader engine, else the first. */
function setOf(sets: CurveSet[], name: string, engine: number | null): CurveSet | undefined {
  const named = sets.filter((set) => set.name === name);
  return named.find(({ se }) => se === engine) ?? named[0];
}

function Charts({ sets }: { sets: CurveSet[] }) {
  const hasCounters = sets.some((set) => set.name === "sampled_counters");
  /** The chosen shader engine; null = all of them. */
  const engine = useSignal<number | null>(null);
  const hiddenCharts = useSignal<ReadonlySet<Chart>>(new Set<Chart>(hasCounters ? ["clock"] : []));
  const isEditing = useSignal(false);
  const raw = setOf(sets, "sampled_counters", engine.value);
  const clock = setOf(sets, "clock", engine.value);
  const available = CHARTS.filter(([chart]) => (chart === "clock" ? clock : hasCounters));
  const isOn = (chart: Chart) => !hiddenCharts.value.has(chart) && available.some(([name]) => name === chart);
  return (
    <div class="view counters">
      <div class="toolbar">
        {available.map(([chart, name]) => (
          <label key={chart}>
            <input
              type="checkbox"
              data-chart={chart}
              checked={isOn(chart)}
              onChange={() => {
                hiddenCharts.value = flipped(hiddenCharts.value, chart);
              }}
            />{" "}
            {name}
          </label>
        ))}
        <Engines
          sets={sets.filter(({ name }) => name === (hasCounters ? "sampled_counters" : "clock"))}
          engine={engine}
        />
        {hasCounters ? (
          <EditButton isEditing={isEditing} />
        ) : (
          <span>no counters are in this trace (rocprofv3 --att-perfcounters)</span>
        )}
      </div>
      <div class="chart-stack">
        {hasCounters ? (
          <Derived
            se={engine.value}
            isShown={isOn("derived")}
            isEditing={isEditing.value}
            close={() => {
              isEditing.value = false;
            }}
          />
        ) : null}
        {raw && isOn("sampled_counters") ? (
          <CurveChart set={raw} label="Counters over time" fileName="counters">
            <span title="Sum over CUs, each at its latest sample; samples hold what was counted since the one before">
              Counters, sum over CUs
            </span>
          </CurveChart>
        ) : null}
        {clock && isOn("clock") ? (
          <CurveChart set={clock} label="Shader clock over time" fileName="shader_clock" fromZero={false}>
            <span title="Between neighbouring realtime pairs">Shader clock</span>
          </CurveChart>
        ) : null}
      </div>
    </div>
  );
}

/** The choice of a shader engine, among those that have curves. */
function Engines({ sets, engine }: { sets: CurveSet[]; engine: Signal<number | null> }) {
  const engines = sets.map(({ se }) => se).filter((se) => se !== null);
  if (!engines.length) return null;
  return (
    <EngineSelect
      engines={engines}
      value={engine.value}
      onChange={(se) => {
        engine.value = se;
      }}
    />
  );
}

function EditButton({ isEditing }: { isEditing: Signal<boolean> }) {
  return (
    <button
      type="button"
      class="quiet"
      data-action="edit"
      aria-expanded={isEditing.value}
      onClick={() => {
        isEditing.value = !isEditing.value;
      }}
    >
      Edit derived counters
    </button>
  );
}

/** Curves of single numbers (one XCC, SE, CU and step) are hidden at first: they are often of another size than others. */
function singleNumberTest(answer: DerivedAnswer): (curve: CurveSeries) => boolean {
  const numbers = new Set(answer.summary.rows.filter(({ shape }) => shape === "1 x 1 x 1 x 1").map(({ name }) => name));
  return ({ keys }) => numbers.has(String(keys.counter));
}

/** The definitions of the set that was chosen when the view was opened; null = the built-in ones. */
function storedDefinitions(): string | null {
  const name = chosenSet.peek();
  return name === null ? null : (savedSets.peek()[name] ?? null);
}

interface DerivedProps {
  /** Shader engine; null = all. */
  se: number | null;
  isShown: boolean;
  isEditing: boolean;
  close: () => void;
}

/** Derived counters as curves, and the editor of their definitions. */
function Derived({ se, isShown, isEditing, close }: DerivedProps) {
  const applied = useSignal<string | null>(useMemo(storedDefinitions, []));
  const builtin = useAnswer(derivedOf(current.value, null, null));
  const answer = useAnswer(derivedOf(current.value, applied.value, se));
  const loaded = answer.value;
  return (
    <>
      {isShown ? <Answered answer={answer}>{(value) => <DerivedCurves answer={value} />}</Answered> : null}
      {isEditing && builtin.value.state === "ready" ? (
        <Editor
          answer={loaded.state === "ready" ? loaded.value : null}
          error={loaded.state === "failed" ? loaded.error : null}
          applied={applied}
          builtin={builtin.value.value.builtin}
          close={close}
        />
      ) : null}
      {isEditing && builtin.value.state === "failed" ? <Problem error={builtin.value.error} /> : null}
    </>
  );
}

function DerivedCurves({ answer }: { answer: DerivedAnswer }) {
  const { series, problems } = answer;
  if (!series.length) {
    return (
      <Nothing>
        No derived counter has values: {problems[0]?.message ?? "the counters that they need are not here"}.
      </Nothing>
    );
  }
  return (
    <CurveChart
      set={answer}
      label="Derived counters over time"
      fileName="derived_counters"
      isHiddenAtFirst={singleNumberTest(answer)}
    >
      <span title="Values per sampling step">Derived counters</span>
      {problems.length ? (
        <span class="curve-problem" data-problems={problems.length}>
          {problems.length} without a value
        </span>
      ) : null}
    </CurveChart>
  );
}

export const counters: View = {
  id: "counters",
  title: "Counters",
  hint: "Counters streamed into the trace, derived counters with an editor, and the shader clock, over time",
  about: "trace",
  missing: (overview) =>
    overview.kind === "trace" && (overview.holds.sampled_counters || (overview.holds.realtime ?? 0) > 1)
      ? ""
      : "neither counters nor wall-clock times are in this trace (rocprofv3 --att-perfcounters)",
  component: Counters,
};
