// The toolbar of the histogram of hotspots: which shader engine, which rows of code in how many bars, and saving it.
import { useSignal } from "@preact/signals";
import { short } from "../../base/format";
import type { HistogramAnswer } from "../../data/answers.gen";
import { wavesNow } from "../../model/waves";
import type { Paint, Size } from "../../widgets/canvas";
import { EngineSelect } from "../../widgets/engine_select";
import { csv, pictures, SaveMenu } from "../../widgets/saving";

export interface Options {
  /** Number of bars. */
  bins: number;
  /** First and last row of code; null = of all executed code. */
  first: number | null;
  last: number | null;
  /** Shader engine; null = all. */
  se: number | null;
  /** The largest value of the axis in cycles; null = automatic. */
  most: number | null;
}

const FEWEST_BINS = 4;
const MOST_BINS = 100;
export const DEFAULTS: Options = { bins: 32, first: null, last: null, se: null, most: null };

/** The histogram as it was drawn last, of which saved pictures are made. */
export interface Drawing {
  paint: Paint;
  size: Size;
}

interface ToolbarProps {
  /** null = it has not arrived yet. */
  answer: HistogramAnswer | null;
  options: Options;
  set: (change: Partial<Options>) => void;
  drawing: { current: Drawing };
}

export function Toolbar({ answer, options, set, drawing }: ToolbarProps) {
  const engines = [...new Set(wavesNow().map((wave) => wave.se))].sort((a, b) => a - b);
  const rows = answer?.bins.rows ?? [];
  const table = () =>
    csv(
      ["bin", "first_row", "last_row", "category", "cycles_total", "execution_count"],
      rows.map((row) => [row.bin, row.first_row, row.last_row, row.category, row.cycles_total, row.execution_count]),
    );
  const picture: Paint = (painter, size) => drawing.current.paint(painter, size);
  const offers = [...pictures(picture, () => drawing.current.size), { format: "csv", make: table }];
  return (
    <div class="toolbar">
      <span title={answer?.definition} data-total={answer?.cycles_total}>
        {short(answer?.cycles_total ?? 0)} cycles
      </span>
      <EngineSelect engines={engines} value={options.se} onChange={(se) => set({ se })} />
      <NumberField
        name="bins"
        hint={`Number of bars, ${FEWEST_BINS} to ${MOST_BINS}`}
        value={options.bins}
        onChange={(value) => set({ bins: Math.min(Math.max(value ?? DEFAULTS.bins, FEWEST_BINS), MOST_BINS) })}
      />
      <NumberField
        name="rows"
        hint="First row"
        value={options.first ?? answer?.first_row ?? null}
        onChange={(first) => set({ first })}
      />
      <NumberField
        name="to"
        hint="Last row"
        value={options.last ?? answer?.last_row ?? null}
        onChange={(last) => set({ last })}
      />
      <NumberField
        name="axis up to"
        hint="Largest value of the axis, in cycles; empty = automatic"
        value={options.most}
        onChange={(value) => set({ most: value && value > 0 ? value : null })}
      />
      <SaveMenu name="hotspot_histogram" offers={offers} />
    </div>
  );
}

interface FieldProps {
  name: string;
  hint: string;
  value: number | null;
  onChange: (value: number | null) => void;
}

/** A field for a whole number; null = it is empty, or holds something else. */
function NumberField({ name, hint, value, onChange }: FieldProps) {
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
