// What the histogram is about: shader engine, time, rows, bars; and saving it.
import { useSignal } from "@preact/signals";
import { short } from "../../base/format";
import type { HistogramAnswer } from "../../data/answers.gen";
import { wavesNow } from "../../model/waves";
import type { Paint, Size } from "../../widgets/canvas";
import { EngineSelect } from "../../widgets/engine_select";
import { csv, pictures, SaveMenu } from "../../widgets/saving";

export interface Options {
  bins: number;
  first: number | null;
  last: number | null;
  se: number | null;
  /** The largest value of the axis; null = automatic. */
  most: number | null;
}

const FEWEST_BINS = 4;
const MOST_BINS = 100;
export const FIRST: Options = { bins: 32, first: null, last: null, se: null, most: null };

/** What saved pictures are made of: the drawing on screen. */
export const onScreen: { paint: Paint; size: Size } = { paint: () => {}, size: { width: 800, height: 300 } };

interface ToolbarProps {
  answer: HistogramAnswer | null;
  options: Options;
  set: (change: Partial<Options>) => void;
}

export function Toolbar({ answer, options, set }: ToolbarProps) {
  const engines = [...new Set(wavesNow().map((wave) => wave.se))].sort((a, b) => a - b);
  const rows = answer?.bins.rows ?? [];
  const table = () =>
    csv(
      ["bin", "first_row", "last_row", "category", "cycles_total", "execution_count"],
      rows.map((r) => [r.bin, r.first_row, r.last_row, r.category, r.cycles_total, r.execution_count]),
    );
  const picture: Paint = (painter, size) => onScreen.paint(painter, size);
  const offers = [...pictures(picture, () => onScreen.size), { format: "csv", make: table }];
  return (
    <div class="toolbar">
      <span title={answer?.definition} data-total={answer?.cycles_total}>
        {short(answer?.cycles_total ?? 0)} cycles
      </span>
      <EngineSelect engines={engines} value={options.se} onChange={(se) => set({ se })} />
      <Whole
        name="bins"
        hint={`Number of bars, ${FEWEST_BINS} to ${MOST_BINS}`}
        value={options.bins}
        onChange={(value) => set({ bins: Math.min(Math.max(value ?? FIRST.bins, FEWEST_BINS), MOST_BINS) })}
      />
      <Whole
        name="rows"
        hint="First row"
        value={options.first ?? answer?.first_row ?? null}
        onChange={(first) => set({ first })}
      />
      <Whole
        name="to"
        hint="Last row"
        value={options.last ?? answer?.last_row ?? null}
        onChange={(last) => set({ last })}
      />
      <Whole
        name="axis up to"
        hint="Largest value of the axis, in cycles; empty = automatic"
        value={options.most}
        onChange={(value) => set({ most: value && value > 0 ? value : null })}
      />
      <SaveMenu name="hotspot_histogram" offers={offers} />
    </div>
  );
}

interface WholeProps {
  name: string;
  hint: string;
  value: number | null;
  onChange: (value: number | null) => void;
}

function Whole({ name, hint, value, onChange }: WholeProps) {
  // What is being typed, or is selected to be typed over, stays whatever arrives meanwhile.
  const draft = useSignal<string | null>(null);
  return (
    <label title={hint} class="whole">
      {name}{" "}
      <input
        type="number"
        min={0}
        data-option={name}
        value={draft.value ?? (value === null ? "" : value)}
        onFocus={(event) => {
          draft.value = event.currentTarget.value;
        }}
        onBlur={() => {
          draft.value = null;
        }}
        onInput={(event) => {
          draft.value = event.currentTarget.value;
        }}
        onChange={(event) => {
          const text = event.currentTarget.value;
          draft.value = null;
          onChange(/^\d{1,12}$/.test(text) ? Number(text) : null);
        }}
      />
    </label>
  );
}
