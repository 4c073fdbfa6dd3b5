// Where on the GPU waves ran, how long, and how much they stalled: a cell per compute unit or SIMD.

import { signal, useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { exact, percent, short } from "../../base/format";
import { HEAT_MAP_PLACES, type HeatMapAnswer, type HeatMapPlacesRow } from "../../data/answers.gen";
import { json } from "../../data/ask";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { selection } from "../../model/selection";
import { waveNumbered } from "../../model/slots";
import { soughtUnit } from "../../model/sought_unit";
import { reveal } from "../../model/timewindow";
import { frontView, type View } from "../../model/view";
import { selectWave } from "../../model/waves";
import { Answered, Nothing } from "../../widgets/answered";
import { Canvas, type CanvasEvents, type Paint, type Size } from "../../widgets/canvas";
import { Definition } from "../../widgets/cards";
import { Check } from "../../widgets/check";
import { DataTable, tableOffer } from "../../widgets/data_table";
import { figureColumns } from "../../widgets/figure_columns";
import { pictures, SaveMenu } from "../../widgets/saving";
import { gridOf, type Measure, placeName, rowName, scaleOf } from "./grid";
import { cellAt, colourAt, paintGrid } from "./paint";
import "./heat_map.css";

interface MeasureWords {
  title: string;
  show: (value: number) => string;
  /** In few characters, for a cell. */
  brief: (value: number) => string;
}

const MEASURES: Record<Measure, MeasureWords> = {
  wave_count: { title: "waves", show: exact, brief: short },
  duration_cycles_mean: { title: "mean duration of a wave", show: (cycles) => `${exact(cycles)} cycles`, brief: short },
  resident_waves_mean: {
    title: "waves at once, mean",
    show: (waves) => waves.toFixed(2),
    brief: (waves) => waves.toFixed(1),
  },
  instruction_count: { title: "traced instructions", show: exact, brief: short },
  stall_share: { title: "stall of traced waves", show: percent, brief: (share) => `${Math.round(share * 100)}%` },
};
/** Whether a measure is known of traced waves only. */
const isTraced = (measure: Measure) => measure === "instruction_count" || measure === "stall_share";

/** What is shown; it stays while the view is closed. */
const chosenMeasure = signal<Measure>("wave_count");
const chosenLevel = signal<"cu" | "simd">("cu");

const COLUMNS = figureColumns<HeatMapPlacesRow>(HEAT_MAP_PLACES, [
  { name: "se", title: "Shader engine", value: rowName, width: "minmax(7em, 1fr)" },
  ["cu", "CU", "id", "4em"],
  ["simd", "SIMD", "id", "4em"],
  ["wave_count", "Waves", "count", "6em"],
  ["duration_cycles_mean", "Mean duration", "cycles", "8em"],
  ["resident_waves_mean", "At once, mean", "measured", "8em"],
  ["traced_wave_count", "Traced waves", "count", "7em"],
  ["instruction_count", "Instructions", "count", "7em"],
  ["stall_share", "Stall", "share", "5em"],
]);

function HeatMap() {
  const by = chosenLevel.value;
  const answer = useAnswer(json<HeatMapAnswer>(current.value, "heat_map", by === "cu" ? {} : { by }));
  return <Answered answer={answer}>{(value) => <Shown answer={value} />}</Answered>;
}

/** Selects the first traced wave of a place, which every view follows; the Global view shows the tracks of any place. */
function choose(place: HeatMapPlacesRow): void {
  if (place.first_wave !== null) {
    selectWave(place.first_wave);
    const wave = waveNumbered(place.first_wave);
    if (wave) reveal(wave.begin);
  }
  soughtUnit.value = place.first_wave === null ? place : null;
  frontView("global_view");
}

function isChosen(place: HeatMapPlacesRow): boolean {
  const wave = waveNumbered(selection.value.wave);
  const isUnit = wave?.se === place.se && wave.cu === place.cu;
  return isUnit && (place.simd === null || place.simd === wave.simd);
}

function Shown({ answer }: { answer: HeatMapAnswer }) {
  const isTable = useSignal(false);
  const hovered = useSignal<HeatMapPlacesRow | null>(null);
  const size = useRef<Size>({ width: 600, height: 200 });
  const places = answer.places.rows;
  const grid = useMemo(() => gridOf(places), [places]);
  const measure = chosenMeasure.value;
  const paint: Paint = (painter, area) => {
    size.current = area;
    const { brief } = MEASURES[measure];
    paintGrid(painter, area, { grid, measure, brief, isChosen: ({ place }) => isChosen(place) });
  };
  const placeUnder = (event: MouseEvent) => cellAt(grid, size.current, event.offsetX, event.offsetY)?.place ?? null;
  const events: CanvasEvents = {
    onPointerMove: (event) => {
      hovered.value = placeUnder(event);
    },
    onPointerLeave: () => {
      hovered.value = null;
    },
    onClick: (event) => {
      const place = placeUnder(event);
      if (place) choose(place);
    },
  };
  if (!places.length) return <Nothing>Nothing to show: no wave was seen in this time.</Nothing>;
  return (
    <div class="view">
      <div class="toolbar heat-bar">
        <MeasureSelect />
        <LevelSelect />
        <Legend places={places} measure={measure} />
        <Check isOn={isTable.value} onChange={() => (isTable.value = !isTable.value)}>
          as a table
        </Check>
        <SaveMenu
          name="heat_map"
          offers={[tableOffer(COLUMNS, () => places), ...pictures(paint, () => size.current)]}
        />
      </div>
      {isTable.value ? (
        <DataTable label="Places" columns={COLUMNS} rows={places} isSelected={isChosen} onSelect={choose} />
      ) : (
        <div class="heat-map">
          <Canvas
            paint={paint}
            label={`${MEASURES[measure].title} of ${exact(places.length)} places, whose numbers the table has`}
            events={events}
          />
        </div>
      )}
      <p class="heat-words" data-field="place">
        {hovered.value
          ? factsInWords(hovered.value)
          : "Point at a cell for its numbers; a click shows its tracks in the Global view and selects its first traced wave."}
      </p>
      <Definition text={answer.definition} />
    </div>
  );
}

function MeasureSelect() {
  return (
    <label>
      colour{" "}
      <select
        value={chosenMeasure.value}
        data-choose="measure"
        onChange={(event) => (chosenMeasure.value = event.currentTarget.value as Measure)}
      >
        {Object.entries(MEASURES).map(([name, { title }]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

function LevelSelect() {
  return (
    <label>
      by{" "}
      <select
        value={chosenLevel.value}
        data-choose="level"
        onChange={(event) => (chosenLevel.value = event.currentTarget.value as "cu" | "simd")}
      >
        <option value="cu">compute unit</option>
        <option value="simd">SIMD</option>
      </select>
    </label>
  );
}

function factsInWords(place: HeatMapPlacesRow): string {
  const figures = (Object.keys(MEASURES) as Measure[]).map((name) => {
    const value = place[name];
    return value === null ? "" : `${MEASURES[name].title} ${MEASURES[name].show(value)}`;
  });
  const traced = place.traced_wave_count ? "" : "no wave was traced here";
  return [placeName(place), ...figures, traced].filter(Boolean).join(" · ");
}

function Legend({ places, measure }: { places: HeatMapPlacesRow[]; measure: Measure }) {
  const { low, high } = scaleOf(places, measure);
  const { show } = MEASURES[measure];
  return (
    <span class="heat-legend" data-field="scale">
      {show(low)}
      <span
        class="heat-ramp"
        style={{ background: `linear-gradient(to right, ${colourAt(0)}, ${colourAt(0.5)}, ${colourAt(1)})` }}
      />
      {show(high)}
      {isTraced(measure) ? <span title="These figures come from traced waves only">□ not traced</span> : null}
    </span>
  );
}

export const heatMap: View = {
  id: "heat_map",
  title: "Heat map",
  hint: "Waves, durations, instructions and stall by die, shader engine, compute unit and SIMD",
  about: "trace",
  time: "selected",
  missing: (overview) =>
    overview.kind === "trace" && (overview.holds.occupancy || overview.wave_count) ? "" : "no wave is recorded",
  component: HeatMap,
};
