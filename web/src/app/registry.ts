// All views, in the order of the menu, and where they stand at first.
import type { View } from "../model/view";
import { answers, counterAnswers, runAnswers } from "../views/answers";
import { area, runAreaView } from "../views/area";
import { barriers } from "../views/barriers/barriers";
import { busy } from "../views/busy";
import { byDispatch } from "../views/by_dispatch/by_dispatch";
import { collectives } from "../views/collectives";
import { compare } from "../views/compare/compare";
import { computeUnit } from "../views/compute_unit/compute_unit";
import { counterCompare } from "../views/counter_compare";
import { counterDiagnosis } from "../views/counter_diagnosis/diagnosis";
import { counterKernels } from "../views/counter_kernels/kernels";
import { counterSystem } from "../views/counter_system";
import { counters } from "../views/counters/counters";
import { coverage } from "../views/coverage/coverage";
import { diagnosis } from "../views/diagnosis/diagnosis";
import { dispatches } from "../views/dispatches";
import { explorer } from "../views/explorer/view";
import { flame } from "../views/flame/view";
import { counterGallery, gallery, runGallery } from "../views/gallery/gallery";
import { gaps } from "../views/gaps";
import { globalView } from "../views/global_view/global_view";
import { heatMap } from "../views/heat_map/heat_map";
import { hotspotHistogram } from "../views/hotspot_histogram/hotspot_histogram";
import { isa } from "../views/isa";
import { kernels } from "../views/kernels/index";
import { lanes } from "../views/lanes/lanes";
import { launches } from "../views/launches";
import { loops } from "../views/loops";
import { counterLosses, losses, runLosses, storeLosses } from "../views/losses/losses";
import { memory } from "../views/memory";
import { memoryChart } from "../views/memory_chart/memory_chart";
import { memoryLatency } from "../views/memory_latency/memory_latency";
import { occupancy } from "../views/occupancy";
import { occupancyLimits } from "../views/occupancy_limits/occupancy_limits";
import { overlap } from "../views/overlap";
import { overlay } from "../views/overlay/overlay";
import { runOverlay } from "../views/overlay/run_overlay";
import { panels } from "../views/panels/panels";
import { path } from "../views/path/path";
import { ranks } from "../views/ranks";
import { rawCounters } from "../views/raw_counters";
import { regions } from "../views/regions";
import { roofline } from "../views/roofline/roofline";
import { runCompare } from "../views/run_compare";
import { runDiagnosis } from "../views/run_diagnosis/diagnosis";
import { runFlame } from "../views/run_flame/run_flame";
import { runSummary } from "../views/run_summary";
import { runTimeline } from "../views/run_timeline/index";
import { source } from "../views/source/view";
import { speedOfLight } from "../views/speed_of_light/speed_of_light";
import { sql } from "../views/sql/sql";
import { stalls } from "../views/stalls/stalls";
import { summary } from "../views/summary/summary";
import { traffic } from "../views/traffic";
import { storeCaptures, trends } from "../views/trends";
import { utilization } from "../views/utilization/utilization";
import { waits } from "../views/waits";
import { waveStates } from "../views/wave_states";
import { waves } from "../views/waves";
import { column, type Layout, row, tabs } from "./layout";

export const VIEWS: View[] = [
  explorer,
  source,
  flame,
  waves,
  computeUnit,
  globalView,
  heatMap,
  utilization,
  area,
  isa,
  lanes,
  traffic,
  loops,
  diagnosis,
  stalls,
  waits,
  barriers,
  memoryLatency,
  occupancyLimits,
  coverage,
  compare,
  overlay,
  losses,
  runLosses,
  occupancy,
  waveStates,
  dispatches,
  runTimeline,
  runAreaView,
  runDiagnosis,
  busy,
  kernels,
  runSummary,
  regions,
  runFlame,
  path,
  gaps,
  overlap,
  ranks,
  collectives,
  launches,
  memory,
  sql,
  runCompare,
  runOverlay,
  hotspotHistogram,
  counters,
  summary,
  counterKernels,
  counterDiagnosis,
  speedOfLight,
  roofline,
  memoryChart,
  panels,
  byDispatch,
  rawCounters,
  counterCompare,
  counterSystem,
  counterLosses,
  gallery,
  runGallery,
  counterGallery,
  answers,
  runAnswers,
  counterAnswers,
  trends,
  storeCaptures,
  storeLosses,
];

/** The views of the menu by what one wants to know; a view that is in none of these stands at its end. */
export const PURPOSES: { title: string; ids: string[] }[] = [
  {
    title: "Time",
    ids: [
      "compute_unit",
      "utilization",
      "global_view",
      "occupancy",
      "wave_states",
      "dispatches",
      "waves",
      "counters",
      "heat_map",
      "area",
      "run_timeline",
      "run_area",
      "busy",
      "gaps",
      "trends",
      "overlap",
      "ranks",
      "collectives",
      "launches",
      "by_dispatch",
    ],
  },
  {
    title: "Code",
    ids: [
      "isa",
      "source",
      "explorer",
      "flame",
      "loops",
      "hotspot_histogram",
      "kernels",
      "regions",
      "run_flame",
      "counter_kernels",
    ],
  },
  {
    title: "Why",
    ids: [
      "answers",
      "run_answers",
      "counter_answers",
      "diagnosis",
      "stalls",
      "waits",
      "barriers",
      "occupancy_limits",
      "run_diagnosis",
      "path",
      "counter_diagnosis",
      "speed_of_light",
      "roofline",
    ],
  },
  { title: "Memory", ids: ["memory_latency", "lanes", "traffic", "memory_chart", "memory"] },
  {
    title: "Compare",
    ids: [
      "compare",
      "overlay",
      "run_compare",
      "run_overlay",
      "counter_compare",
      "gallery",
      "run_gallery",
      "counter_gallery",
    ],
  },
  {
    title: "Data",
    ids: [
      "summary",
      "coverage",
      "losses",
      "run_summary",
      "run_losses",
      "sql",
      "panels",
      "raw_counters",
      "counter_system",
      "counter_losses",
      "store_captures",
      "store_losses",
    ],
  },
];

/**
 * Views that have nothing to show for a document are left out; ids that no view has, too. At most eight, so that
 * every tab is read; the menu *Views* has the others.
 */
export const FIRST_LAYOUT: Record<View["about"], Layout> = {
  trace: row(
    [0.26, tabs("diagnosis", "explorer")],
    [
      0.74,
      column(
        [0.48, tabs("compute_unit", "utilization", "global_view")],
        [0.52, row([0.6, tabs("isa")], [0.4, tabs("source", "stalls")])],
      ),
    ],
  ),
  run: column(
    [0.56, tabs("run_timeline", "busy")],
    [0.44, row([0.6, tabs("kernels", "path", "gaps", "ranks", "regions")], [0.4, tabs("run_diagnosis")])],
  ),
  store: tabs("trends", "store_captures"),
  counters: row(
    [0.42, column([0.26, tabs("counter_kernels")], [0.74, tabs("counter_diagnosis")])],
    [0.58, column([0.38, tabs("speed_of_light", "panels")], [0.62, tabs("roofline", "memory_chart", "by_dispatch")])],
  ),
};

/** The same with other documents to compare with. */
export const FIRST_LAYOUT_OF_SEVERAL: Record<View["about"], Layout> = {
  trace: row(
    [0.26, tabs("diagnosis", "explorer")],
    [
      0.74,
      column(
        [0.48, tabs("compare", "overlay", "compute_unit", "gallery")],
        [0.52, row([0.6, tabs("isa")], [0.4, tabs("source")])],
      ),
    ],
  ),
  run: column(
    [0.5, row([0.6, tabs("run_compare", "run_overlay", "run_gallery")], [0.4, tabs("run_diagnosis")])],
    [0.5, tabs("run_timeline", "kernels", "gaps")],
  ),
  store: tabs("trends", "store_captures"),
  counters: row(
    [0.42, column([0.26, tabs("counter_kernels")], [0.74, tabs("counter_diagnosis")])],
    [
      0.58,
      column(
        [0.5, tabs("counter_compare", "counter_gallery")],
        [0.5, tabs("roofline", "speed_of_light", "memory_chart")],
      ),
    ],
  ),
};
