// Places of the GPU as cells of a grid: a row per shader engine (and array), a column per compute unit (and SIMD).
import type { HeatMapPlacesRow } from "../../data/answers.gen";

export type Measure =
  | "wave_count"
  | "duration_cycles_mean"
  | "resident_waves_mean"
  | "instruction_count"
  | "stall_share";

/** A place, and where it stands in the grid, from 0. */
export interface Cell {
  place: HeatMapPlacesRow;
  row: number;
  column: number;
}

export interface Grid {
  /** Names of the rows, in the order of the answer. */
  rows: string[];
  /** Numbers of compute units, in the order of the columns. */
  units: number[];
  /** Columns per compute unit: its SIMDs, or one. */
  parts: number;
  cells: Cell[];
}

/** The number of a CU, or of a WGP in its shader array (`sa`): of the byte that names a WGP, bit 7 is the array. */
const unitOf = (place: HeatMapPlacesRow) => (place.sa === null ? place.cu : place.cu & 127);

export function rowName(place: HeatMapPlacesRow): string {
  const die = place.xcc === null ? "" : `XCC ${place.xcc} · `;
  const array = place.sa === null ? "" : ` · SA ${place.sa}`;
  return `${die}SE ${place.se}${array}`;
}

export function placeName(place: HeatMapPlacesRow): string {
  const unit = `${place.sa === null ? "CU" : "WGP"} ${unitOf(place)}`;
  return `${rowName(place)} · ${unit}${place.simd === null ? "" : ` · SIMD ${place.simd}`}`;
}

/** All units from 0 to the last with a wave: an empty column is a unit that ran nothing, or does not exist. */
export function gridOf(places: HeatMapPlacesRow[]): Grid {
  const rows = [...new Set(places.map(rowName))];
  const last = places.reduce((most, place) => Math.max(most, unitOf(place)), -1);
  const parts = places.reduce((most, place) => Math.max(most, (place.simd ?? 0) + 1), 1);
  const rowOf = new Map(rows.map((name, row) => [name, row]));
  const cells = places.map((place) => ({
    place,
    row: rowOf.get(rowName(place)) ?? 0,
    column: unitOf(place) * parts + (place.simd ?? 0),
  }));
  return { rows, units: Array.from({ length: last + 1 }, (_, unit) => unit), parts, cells };
}

export interface Scale {
  low: number;
  high: number;
}

/** The values of the faintest and of the strongest colour. Amounts start at 0; durations of waves differ by little, so their scale starts at the shortest. */
export function scaleOf(places: HeatMapPlacesRow[], measure: Measure): Scale {
  const values = places.map((place) => place[measure]).filter((value) => value !== null);
  const high = Math.max(...values, 0);
  const low = measure === "duration_cycles_mean" ? Math.min(...values, high) : 0;
  return { low, high };
}

/** Where a value stands on the scale, from 0 to 1. */
export function shareOf(value: number, { low, high }: Scale): number {
  return high > low ? (value - low) / (high - low) : 1;
}
