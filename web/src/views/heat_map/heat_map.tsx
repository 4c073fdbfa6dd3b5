// Where on the GPU waves ran, how long, and how much they stalled: a cell per compute unit or SIMD.

import { signal, useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { exact, percent, short } from "../../base/format";
import { HEAT_MAP_PLACES, type HeatMapAnswer, type HeatMapPlacesRow } from "../../data/answers.gen";
import { json } from "../../data/ask";
import { letterWidth } from "../../draw/painter";
import { inkOn, mixed, paper, seriesColour } from "../../draw/palette";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { selection } from "../../model/selection";
import { waveNumbered } from "../../model/slots";
import { soughtUnit } from "../../model/sought_unit";
import { reveal } from "../../model/timewindow";
import { frontView, type View } from "../../model/view";
import { selectWave } from "../../model/waves";
import { Answered, Nothing } from "../../widgets/answered";
import { Canvas, type Paint, type Size } from "../../widgets/canvas";
import { Definition } from "../../widgets/cards";
import { Check } from "../../widgets/check";
import { DataTable, tableOffer } from "../../widgets/data_table";
import { figureColumns } from "../../widgets/figure_columns";
import { pictures, SaveMenu } from "../../widgets/saving";
import { type Cell, type Grid, gridOf, type Measure, placeName, rowName, scaleOf, shareOf } from "./grid";
import "./heat_map.css";

const MEASURES: Record<Measure, { title: string; show: (value: number) => string; brief: (value: number) => string }> =
  {
    wave_count: { title: "waves", show: exact, brief: short },
    duration_cycles_mean: { title: "mean duration of a wave", show: (v) => `${exact(v)} cycles`, brief: short },
    resident_waves_mean: { title: "waves at once, mean", show: (v) => v.toFixed(2), brief: (v) => v.toFixed(1) },
    instruction_count: { title: "traced instructions", show: exact, brief: short },
    stall_share: { title: "stall of traced waves", show: percent, brief: (v) => `${Math.round(v * 100)}%` },
  };
const isTraced = (measure: Measure) => measure === "instruction_count" || measure === "stall_share";

/** What is shown; kept while the view is closed. */
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
  const paint: Paint = (painter, given) => {
    size.current = given;
    paintGrid(painter, given, grid, measure);
  };
  const at = (event: MouseEvent): Cell | undefined => {
    const { rowHeight, columnWidth, left, top } = shapeOf(size.current, grid);
    const [row, column] = [
      Math.floor((event.offsetY - top) / rowHeight),
      Math.floor((event.offsetX - left) / columnWidth),
    ];
    return grid.cells.find((cell) => cell.row === row && cell.column === column);
  };
  if (!places.length) return <Nothing>Nothing to show: no wave was seen in this time.</Nothing>;
  return (
    <div class="view">
      <div class="toolbar heat-bar">
        <label>
          colour{" "}
          <select
            value={measure}
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
            events={{
              onPointerMove: (event) => (hovered.value = at(event)?.place ?? null),
              onPointerLeave: () => (hovered.value = null),
              onClick: (event) => {
                const cell = at(event);
                if (cell) choose(cell.place);
              },
            }}
          />
        </div>
      )}
      <p class="heat-words" data-field="place">
        {hovered.value
          ? words(hovered.value)
          : "Point at a cell for its numbers; a click shows its tracks in the Global view and selects its first traced wave."}
      </p>
      <Definition text={answer.definition} />
    </div>
  );
}

function words(place: HeatMapPlacesRow): string {
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

/** The lowest value still differs from an empty place. */
const LOWEST = 0.12;

function colourAt(share: number): string {
  return mixed(paper("background"), seriesColour(0), LOWEST + (1 - LOWEST) * share);
}

interface Shape {
  left: number;
  top: number;
  rowHeight: number;
  columnWidth: number;
}

const TALLEST = 48;
const WIDEST = 64;

function shapeOf({ width, height }: Size, grid: Grid): Shape {
  const left = Math.max(...grid.rows.map((name) => name.length)) * letterWidth() + 14;
  const top = 2 * letterWidth() + 8;
  const columns = Math.max(grid.units.length * grid.parts, 1);
  return {
    left,
    top,
    rowHeight: Math.min(TALLEST, Math.max(6, (height - top - 4) / Math.max(grid.rows.length, 1))),
    columnWidth: Math.min(WIDEST, Math.max(2, (width - left - 6) / columns)),
  };
}

function paintGrid(painter: Parameters<Paint>[0], size: Size, grid: Grid, measure: Measure): void {
  const { left, top, rowHeight, columnWidth } = shapeOf(size, grid);
  const scale = scaleOf(
    grid.cells.map(({ place }) => place),
    measure,
  );
  const unitWidth = columnWidth * grid.parts;
  const every = Math.max(1, Math.ceil((3 * letterWidth()) / unitWidth));
  for (const unit of grid.units) {
    if (unit % every === 0) {
      const label = unit === 0 ? `${grid.cells[0]?.place.sa === null ? "CU" : "WGP"} 0` : String(unit);
      painter.text(left + unit * unitWidth + unitWidth / 2, top / 2, label, paper("faint"), { align: "center" });
    }
  }
  grid.rows.forEach((name, row) => {
    const y = top + row * rowHeight;
    painter.text(left - 8, y + rowHeight / 2, name, paper("text"), { align: "right" });
    for (const unit of grid.units)
      frame(painter, left + unit * unitWidth, y, unitWidth - 1, rowHeight - 1, paper("line"), 1);
  });
  const gap = grid.parts > 1 ? 1.25 : 2;
  for (const { place, row, column } of grid.cells) {
    const value = place[measure];
    const within = grid.parts > 1 ? (column % grid.parts) * (3 / grid.parts) : 0; // units stand a little apart
    const x = left + column * columnWidth - within;
    const [y, w, h] = [top + row * rowHeight, columnWidth - gap, rowHeight - 2];
    if (value !== null) {
      const fill = colourAt(shareOf(value, scale));
      painter.rect(x + 0.5, y + 0.5, w, h, fill);
      const text = MEASURES[measure].brief(value);
      const isRoom = h > 14 && w > text.length * letterWidth() + 4;
      if (isRoom) painter.text(x + w / 2, y + h / 2, text, inkOn(fill), { align: "center" });
    }
    if (isChosen(place)) frame(painter, x, y, w, h, paper("text"), 2);
  }
}

function frame(
  painter: Parameters<Paint>[0],
  x: number,
  y: number,
  width: number,
  height: number,
  colour: string,
  line: number,
): void {
  painter.polyline([x, y, x + width, y, x + width, y + height, x, y + height, x, y], colour, line);
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
