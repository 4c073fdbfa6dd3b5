// Counters streamed into the trace, what is derived from them, and the shader clock, over time.
import { useSignal } from "@preact/signals";
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
const CHARTS: [Chart, string][] = [
  ["derived", "derived"],
  ["sampled_counters", "counters"],
  ["clock", "shader clock"],
];

function Counters() {
  const answer = useAnswer(curvesOf(current.value));
  return <Answered answer={answer}>{(sets) => <Charts sets={sets} />}</Answered>;
}

function Charts({ sets }: { sets: CurveSet[] }) {
  const of = (name: string) => sets.filter((set) => set.name === name);
  const hasCounters = of("sampled_counters").length > 0;
  const engine = useSignal<number | null>(null);
  const off = useSignal<Set<Chart>>(new Set(hasCounters ? ["clock"] : []));
  const isEditing = useSignal(false);
  const engines = (hasCounters ? of("sampled_counters") : of("clock")).map(({ se }) => se).filter((se) => se !== null);
  const pick = (name: string) => of(name).find(({ se }) => se === engine.value) ?? of(name)[0];
  const raw = pick("sampled_counters");
  const clock = pick("clock");
  const there = CHARTS.filter(([chart]) => (chart === "clock" ? clock : hasCounters));
  const isOn = (chart: Chart) => !off.value.has(chart) && there.some(([known]) => known === chart);
  return (
    <div class="view counters">
      <div class="toolbar">
        {there.map(([chart, words]) => (
          <label key={chart}>
            <input
              type="checkbox"
              data-chart={chart}
              checked={isOn(chart)}
              onChange={() => {
                off.value = flipped(off.value, chart);
              }}
            />{" "}
            {words}
          </label>
        ))}
        {engines.length ? (
          <EngineSelect
            engines={engines}
            value={engine.value}
            onChange={(se) => {
              engine.value = se;
            }}
          />
        ) : null}
        {hasCounters ? (
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

/** A single number is not a curve, and often of another size than the others. */
const isConstant = (answer: DerivedAnswer) => {
  const numbers = new Set(answer.summary.rows.filter(({ shape }) => shape === "1 x 1 x 1 x 1").map(({ name }) => name));
  return ({ keys }: CurveSeries) => numbers.has(String(keys.counter));
};

interface DerivedProps {
  se: number | null;
  isShown: boolean;
  isEditing: boolean;
  close: () => void;
}

function Derived({ se, isShown, isEditing, close }: DerivedProps) {
  const applied = useSignal<string | null>(
    useMemo(() => (chosenSet.peek() === null ? null : (savedSets.peek()[chosenSet.peek() ?? ""] ?? null)), []),
  );
  const builtin = useAnswer(derivedOf(current.value, null, null));
  const answer = useAnswer(derivedOf(current.value, applied.value, se));
  const loaded = answer.value;
  const value = loaded.state === "ready" ? loaded.value : null;
  const start = builtin.value.state === "ready" ? builtin.value.value.builtin : null;
  return (
    <>
      {isShown ? (
        <Answered answer={answer}>
          {(got) =>
            got.series.length ? (
              <CurveChart
                set={got}
                label="Derived counters over time"
                fileName="derived_counters"
                isHiddenAtFirst={isConstant(got)}
              >
                <span title="Values per sampling step">Derived counters</span>
                {got.problems.length ? (
                  <span class="curve-problem" data-problems={got.problems.length}>
                    {got.problems.length} without a value
                  </span>
                ) : null}
              </CurveChart>
            ) : (
              <Nothing>
                No derived counter has values: {got.problems[0]?.message ?? "the counters that they need are not here"}.
              </Nothing>
            )
          }
        </Answered>
      ) : null}
      {isEditing && start !== null ? (
        <Editor
          answer={value}
          error={loaded.state === "failed" ? loaded.error : null}
          applied={applied}
          builtin={start}
          close={close}
        />
      ) : null}
      {isEditing && builtin.value.state === "failed" ? <Problem error={builtin.value.error} /> : null}
    </>
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
