// A view of one kind of curves with a choice of shader engine.
import { useSignal } from "@preact/signals";
import { SHAPES, type Shape } from "../draw/stacks";
import { type CurveSet, curvesOf } from "../model/curves";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import { change, settings } from "../model/settings";
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
  /** The shape at first: stacked or lines; more than a few curves stand in strips. */
  shape?: Shape;
}

/** More lines than this cannot be told apart. */
const MOST_LINES = 8;

export function CurvesView(props: Props) {
  const answer = useAnswer(curvesOf(current.value));
  return (
    <Answered answer={answer}>
      {(sets) => <Chosen {...props} sets={sets.filter((s) => s.name === props.name)} />}
    </Answered>
  );
}

function Chosen({ sets, words, definition, all, one, shape = "lines", ...chart }: Props & { sets: CurveSet[] }) {
  const engine = useSignal<number | null>(null);
  const set = sets.find(({ se }) => se === engine.value) ?? sets[0];
  if (!set) return <Nothing>Nothing to show.</Nothing>;
  const engines = sets.map(({ se }) => se).filter((se) => se !== null);
  const names = { ...(all === undefined ? {} : { all }), ...(one === undefined ? {} : { one }) };
  const setting = `${set.name}_shape`;
  const fitting: Shape = set.series.length > MOST_LINES ? "strips" : shape;
  const liked = settings.value[setting];
  const drawn = liked === "lines" || liked === "stacked" || liked === "strips" ? liked : fitting;
  return (
    <CurveChart {...chart} set={set} shape={drawn}>
      <span title={definition}>{words}</span>
      <select
        data-shape
        aria-label="How the curves are drawn"
        title={SHAPES[drawn]}
        value={drawn}
        onChange={(event) => change({ [setting]: event.currentTarget.value })}
      >
        {Object.entries(SHAPES).map(([name, hint]) => (
          <option key={name} value={name} title={hint}>
            {name}
          </option>
        ))}
      </select>
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
