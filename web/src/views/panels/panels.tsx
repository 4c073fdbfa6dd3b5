// Every panel of a counter capture as tables, with a search over all of them.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { exact } from "../../base/format";
import { matcher } from "../../base/matcher";
import type { CounterPanelsRow } from "../../data/answers.gen";
import { together } from "../../data/ask";
import type { Columns } from "../../data/columns";
import {
  counterChannels,
  counterMetrics,
  counterPanels,
  type Metric,
  type MetricTable,
  metricsById,
  normalization,
  ofChosenNormalized,
  type Panel,
  type PanelsAnswer,
} from "../../model/counters";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { selection } from "../../model/selection";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { Definition } from "../../widgets/cards";
import { Caveats } from "../../widgets/caveats";
import { Check } from "../../widgets/check";
import { CounterKernelChooser, NormalizationChooser } from "../../widgets/counter_choice";
import { type Column, tableOffer } from "../../widgets/data_table";
import { FilterField } from "../../widgets/filter_field";
import { SaveMenu } from "../../widgets/saving";
import { strips } from "./channels";
import { Explanation } from "./explanation";
import { HeatMap } from "./heat_map";
import { MetricRows } from "./metric_table";
import { knownOf, type ShownTable, shownTables } from "./rows";
import "../../widgets/small_table.css";
import "./panels.css";

const NUMBERS = ["average", "deviation", "minimum", "q1", "median", "q3", "maximum", "peak", "peak_share"] as const;
const COLUMNS: Column<CounterPanelsRow>[] = [
  { name: "table_id", title: "Table", value: (row) => row.table_id, width: "" },
  { name: "metric_id", title: "Id", value: (row) => row.metric_id, width: "" },
  { name: "name", title: "Metric", value: (row) => row.name, width: "" },
  { name: "unit", title: "Unit", value: (row) => row.unit, width: "" },
  ...NUMBERS.map((name) => ({ name, title: name, value: (row: CounterPanelsRow) => row[name], width: "" })),
  { name: "dispatch_count", title: "Dispatches", value: (row) => row.dispatch_count, width: "" },
  { name: "reason", title: "Reason", value: (row) => row.reason, width: "" },
];

interface Answers {
  panels: Panel[];
  answer: PanelsAnswer;
}

function Panels() {
  const answers = useAnswer(
    together(counterMetrics(current.value), counterPanels(current.value, ofChosenNormalized())),
  );
  return (
    <Answered
      answer={answers}
      choose={
        <>
          <CounterKernelChooser />
          <NormalizationChooser />
        </>
      }
    >
      {([panels, answer]) => <Tables panels={panels} answer={answer} />}
    </Answered>
  );
}

/** The word of no panel: all of them are shown. */
const ALL = "";

function Tables({ panels, answer }: Answers) {
  const panelWord = useSignal(panels[0]?.word ?? ALL);
  const query = useSignal("");
  const onlyKnown = useSignal(false);
  const declared = useMemo(() => metricsById(panels), [panels]);
  const chosen = selection.value.metric;
  const choosePanel = (word: string) => {
    panelWord.value = word;
    query.value = "";
  };
  useEffect(() => {
    const ofChosen = panels.find((panel) => chosen?.startsWith(`${panel.number}.`));
    if (ofChosen) choosePanel(ofChosen.word);
  }, [chosen, panels]);
  const rows = answer.rows.rows;
  const tables = shownTables(panels, rows, declared, {
    panel: panelWord.value,
    query: query.value,
    onlyKnown: onlyKnown.value,
  });
  const shownRows = tables.flatMap((table) => table.rows);
  // a thousand cells are drawn when one asks for their panel, not among all others
  const isOnePanel = !query.value && panelWord.value !== ALL;
  const perChannel = isOnePanel ? tables.filter(({ table }) => table.per_channel) : [];
  return (
    <div class="view">
      <div class="toolbar">
        <CounterKernelChooser />
        <NormalizationChooser />
        <FilterField
          query={query}
          placeholder="metric, counter or /regex/"
          label="Metrics whose name, id or formula contains"
          problem={query.value ? matcher(query.value).problem : ""}
        />
        <Check isOn={onlyKnown.value} onChange={(isOn) => (onlyKnown.value = isOn)}>
          only known values
        </Check>
        <span>{query.value ? `${exact(shownRows.length)} of ${exact(rows.length)} metrics` : ""}</span>
        <SaveMenu name="panels" offers={[tableOffer(COLUMNS, () => shownRows)]} />
      </div>
      <div class="panels">
        <PanelList panels={panels} rows={rows} shown={query.value ? null : panelWord.value} choose={choosePanel} />
        <div class="scroll panels-tables">
          <Caveats caveats={answer.caveats} />
          {tables.map((shownTable) => (
            <OneTable key={shownTable.table.id} shown={shownTable} declared={declared} />
          ))}
          {perChannel.length ? <Channels tables={perChannel} /> : null}
          {shownRows.length || perChannel.length ? null : <Nothing>No metric matches.</Nothing>}
          <Definition text={answer.definition} />
        </div>
      </div>
      <Explanation metric={declared.get(chosen ?? "")} row={rows.find((row) => row.metric_id === chosen)} />
    </div>
  );
}

interface ListProps {
  panels: Panel[];
  rows: CounterPanelsRow[];
  /** Word of the panel that is shown, or ALL; null = a search goes through all of them. */
  shown: string | null;
  choose: (word: string) => void;
}

function PanelList({ panels, rows, shown, choose }: ListProps) {
  return (
    <nav class="panels-list" aria-label="Panels">
      <button type="button" aria-pressed={shown === ALL} data-panel={ALL} onClick={() => choose(ALL)}>
        <span>All panels</span>
      </button>
      {panels.map((panel) => (
        <PanelButton
          key={panel.word}
          panel={panel}
          rows={rows}
          isOn={shown === panel.word}
          choose={() => choose(panel.word)}
        />
      ))}
    </nav>
  );
}

interface ButtonProps {
  panel: Panel;
  rows: CounterPanelsRow[];
  isOn: boolean;
  choose: () => void;
}

function PanelButton({ panel, rows, isOn, choose }: ButtonProps) {
  const { known, all } = knownOf(panel, rows);
  return (
    <button
      type="button"
      aria-pressed={isOn}
      class={all && !known ? "empty" : ""}
      data-panel={panel.word}
      title={all ? `${exact(known)} of ${exact(all)} metrics are known` : panel.title}
      onClick={choose}
    >
      <span>{panel.title}</span>
      <span class="faint-text">{all ? `${known}/${all}` : ""}</span>
    </button>
  );
}

/** Tables of the reference say "per normUnit" where they mean what was chosen. */
const titleOf = (table: MetricTable) => table.title.replace("per normUnit", `per ${normalization()}`);

function OneTable({ shown, declared }: { shown: ShownTable; declared: Map<string, Metric> }) {
  const { panel, table, rows } = shown;
  if (!rows.length) return null;
  return (
    <section class="section" data-table={table.id}>
      <h3>
        {table.id} {titleOf(table)} <span class="faint-text">{panel.title === table.title ? "" : panel.title}</span>
      </h3>
      <MetricRows table={table} rows={rows} declared={declared} />
    </section>
  );
}

function Channels({ tables }: { tables: ShownTable[] }) {
  const answer = useAnswer(counterChannels(current.value, ofChosenNormalized()));
  return (
    <Answered answer={answer}>
      {(columns: Columns) =>
        tables.map(({ table }) => (
          <section key={table.id} class="section" data-table={table.id}>
            <h3>
              {table.id} {titleOf(table)}
            </h3>
            {strips(columns, table.id).map((strip) => (
              <HeatMap key={`${strip.metric} ${strip.series}`} strip={strip} />
            ))}
          </section>
        ))
      }
    </Answered>
  );
}

export const panels: View = {
  id: "panels",
  title: "Panels",
  hint: "Every metric of the capture, table by table: values, spread over dispatches, peaks, definitions; per L2 channel too",
  about: "counters",
  missing: () => "",
  component: Panels,
};
