// One function between its callers and its callees, chosen from all functions.
import { type Signal, useComputed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { nanoseconds } from "../../base/format";
import { matcher } from "../../base/matcher";
import {
  RUN_FUNCTIONS,
  type RunFunctionsRow,
  type RunSandwichAnswer,
  type RunSandwichCalleesRow,
} from "../../data/answers.gen";
import { json } from "../../data/ask";
import type { Frame } from "../../data/tables";
import { flameLayout } from "../../draw/flame";
import { truncation } from "../../model/answers";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { Answered, Nothing } from "../../widgets/answered";
import { DataTable } from "../../widgets/data_table";
import { figureColumns } from "../../widgets/figure_columns";
import { Split } from "../../widgets/split";
import { Graph, type RunFrames, useMatches } from "./graph";
import { Matched } from "./matched";
import { factsOf, type TreeChoice, WEIGHT_COLUMN } from "./merged";

/** A function, which its name and domain identify. */
export interface Chosen {
  name: string;
  domain: string;
}

interface Props {
  choice: TreeChoice;
  search: Signal<string>;
  chosen: Signal<Chosen | null>;
}

const COLUMNS = figureColumns<RunFunctionsRow>(RUN_FUNCTIONS, [
  ["name", "Function", "kernel", "minmax(10em, 3fr)"],
  ["total_ns", "Total"],
  ["self_ns", "Self"],
  ["gpu_total_ns", "GPU total"],
  ["gpu_ns", "GPU own"],
  ["call_count", "Calls", "count", "5em"],
]);

export function Sandwich(props: Props) {
  const { tree } = props.choice;
  const answer = useAnswer(json<{ functions: Frame<RunFunctionsRow> }>(current.value, "run_functions", { tree }));
  return (
    <Answered answer={answer}>
      {(value) => <FunctionsAndGraphs key={tree} functions={value.functions} {...props} />}
    </Answered>
  );
}

/** The list of functions, and beside it the graphs of the chosen one. */
function FunctionsAndGraphs({ functions, choice, search, chosen }: Props & { functions: Frame<RunFunctionsRow> }) {
  const query = matcher(search.value);
  const rows = useMemo(
    () => (search.value ? functions.rows.filter((row) => query.test(row.name)) : functions.rows),
    [functions, search.value],
  );
  const cutNote = truncation(functions.rows.length, functions.row_count);
  const isChosen = ({ name, domain }: RunFunctionsRow) =>
    name === chosen.value?.name && (domain ?? "") === chosen.value?.domain;
  return (
    <Split name="run_flame.functions" label="Between functions and graphs" direction="row" first={0.42}>
      <div class="run-sandwich-half">
        {cutNote ? <strong class="truncated">{cutNote} functions</strong> : null}
        <DataTable
          label="Functions"
          columns={COLUMNS}
          rows={rows}
          sortBy={WEIGHT_COLUMN[choice.weight]}
          isSelected={isChosen}
          onSelect={(row) => {
            chosen.value = { name: row.name, domain: row.domain ?? "" };
          }}
        />
      </div>
      {chosen.value ? (
        <OfFunction choice={choice} search={search} name={chosen.value.name} domain={chosen.value.domain} />
      ) : (
        <Nothing>Choose a function to see what calls it and what it calls.</Nothing>
      )}
    </Split>
  );
}

function OfFunction({ choice, search, name, domain }: Omit<Props, "chosen"> & Chosen) {
  const { tree, weight } = choice;
  const answer = useAnswer(json<RunSandwichAnswer>(current.value, "run_sandwich", { tree, weight, name, domain }));
  return (
    <Answered answer={answer}>
      {(value) =>
        value.callees.rows.length ? (
          <div class="view flame run-sandwich" key={`${name}/${domain}/${weight}`}>
            <Half title="Callers" rows={value.callers.rows} choice={choice} search={search} rootAt="bottom" />
            <Half title="Callees" rows={value.callees.rows} choice={choice} search={search} rootAt="top" />
          </div>
        ) : (
          <Nothing>It took no time of this kind: choose the other weight.</Nothing>
        )
      }
    </Answered>
  );
}

interface HalfProps {
  title: string;
  rows: RunSandwichCalleesRow[];
  choice: TreeChoice;
  search: Signal<string>;
  rootAt: "top" | "bottom";
}

/** The graph of callers, which stand above the function, or of callees below it. */
function Half({ title, rows, choice, search, rootAt }: HalfProps) {
  const { frames, weights, layout } = useMemo(() => fromRows(rows, choice), [rows]);
  const query = useComputed(() => matcher(search.value));
  const matches = useMatches(frames, weights, query);
  const total = weights[0] ?? 0;
  const smaller = frames.kinds.filter((kind) => kind === "smaller").length;
  return (
    <section class="run-sandwich-half" data-half={title}>
      <Matched query={query.value} text={search.value} matches={matches} total={total}>
        <strong>{title}</strong>
        <span data-column="total">{nanoseconds(total)}</span>
        <span data-column="self">self {nanoseconds(rows[0]?.self_ns ?? 0)}</span>
        {smaller ? <strong data-column="truncated">light paths are “smaller” frames</strong> : null}
      </Matched>
      <Graph
        frames={frames}
        weights={weights}
        layout={layout}
        rootAt={rootAt}
        label={`${title} of ${frames.names[0]}, ${nanoseconds(total)}`}
        query={query.value}
        isSearching={search.value !== ""}
      />
    </section>
  );
}

/** The frames of an answer, their weights and where they lie. */
function fromRows(rows: RunSandwichCalleesRow[], { tree, weight }: TreeChoice) {
  const column = (name: keyof RunSandwichCalleesRow) => rows.map((row) => Number(row[name] ?? 0));
  const figures = {
    call_count: column("call_count"),
    total_ns: column("total_ns"),
    self_ns: column("self_ns"),
    gpu_total_ns: column("gpu_total_ns"),
    gpu_ns: column("gpu_ns"),
  };
  const frames: RunFrames = {
    parents: column("parent"),
    names: rows.map((row) => row.name ?? ""),
    kinds: rows.map((row) => row.domain ?? ""),
    facts: (frame) => factsOf(figures, frame, tree === "gpus"),
  };
  const weights = figures[WEIGHT_COLUMN[weight]];
  return { frames, weights, layout: flameLayout(frames, weights) };
}
