// A view of one kind of curves with a choice of shader engine.
import { useSignal } from "@preact/signals";
import { type CurveSet, curvesOf } from "../model/curves";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import { Answered, Nothing } from "./answered";
import { CurveChart, type CurveChartProps } from "./curve_chart";
import { EngineSelect } from "./engine_select";

interface Props extends Omit<CurveChartProps, "set" | "children"> {
  name: string;
  all?: string;
  one?: (se: number) => string;
  /** What the curves mean: a tooltip of the toolbar's words. */
  words: string;
  definition: string;
}

export function CurvesView(props: Props) {
  const answer = useAnswer(curvesOf(current.value));
  return (
    <Answered answer={answer}>
      {(sets) => <Chosen {...props} sets={sets.filter((s) => s.name === props.name)} />}
    </Answered>
  );
}

function Chosen({ sets, words, definition, all, one, ...chart }: Props & { sets: CurveSet[] }) {
  const engine = useSignal<number | null>(null);
  const set = sets.find(({ se }) => se === engine.value) ?? sets[0];
  if (!set) return <Nothing>Nothing to show.</Nothing>;
  const engines = sets.map(({ se }) => se).filter((se) => se !== null);
  const names = { ...(all === undefined ? {} : { all }), ...(one === undefined ? {} : { one }) };
  return (
    <CurveChart {...chart} set={set}>
      <span title={definition}>{words}</span>
      {engines.length ? (
        <EngineSelect
          engines={engines}
          value={set.se}
          onChange={(se) => {
            engine.value = se;
          }}
          {...names}
        />
      ) : null}
    </CurveChart>
  );
}
