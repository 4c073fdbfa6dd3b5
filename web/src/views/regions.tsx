// The call tree of a run: calls and marker ranges with their own time, the time below them, and the GPU time they caused.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact, nanoseconds, percent } from "../base/format";
import { matcher } from "../base/matcher";
import { flipped } from "../base/sets";
import { ASKED, RUN_REGIONS_TREE } from "../data/answers.gen";
import { arrow, json } from "../data/ask";
import type { Columns, Numbers } from "../data/columns";
import { hintOf } from "../data/tables";
import { truncation } from "../model/answers";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import { childrenOf, visibleNodes } from "../model/tree";
import type { View } from "../model/view";
import { Answered, Nothing } from "../widgets/answered";
import { ShareBar } from "../widgets/bars";
import { csv, SaveMenu } from "../widgets/saving";
import { VirtualList } from "../widgets/virtual_list";
import "./regions.css";

/** Columns of the tree with their titles. */
const FIGURES = [
  ["call_count", "Calls"],
  ["total_ns", "Inclusive"],
  ["self_ns", "Exclusive"],
  ["mean_ns", "Mean"],
  ["gpu_length_ns", "On GPU"],
  ["gpu_total_ns", "GPU time"],
  ["gpu_ns", "GPU own"],
] as const;
/** Columns of a saved file. */
const SAVED = [
  "node",
  "parent",
  "depth",
  "call_count",
  "total_ns",
  "total_share",
  "self_ns",
  "self_share",
  "mean_ns",
  "min_ns",
  "max_ns",
  "gpu_count",
  "gpu_ns",
  "gpu_total_count",
  "gpu_total_ns",
  "gpu_length_ns",
  "gpu_share",
  "crossing_count",
];
/** Widths of the columns: name, share, calls, and six times. */
const TEMPLATE = "minmax(16em, 1fr) 7em 5em repeat(6, 7em)";
const ROW_HEIGHT = 24;
/** Nodes that are open at first, and the share of the whole that each of them has at least. */
const OPEN_AT_FIRST = 12;
const LEAST_OPEN_SHARE = 0.02;

function Regions() {
  const domain = useSignal("all");
  const domains = useAnswer(json<string[]>(current.value, "run_region_domains"));
  const answer = useAnswer(arrow(current.value, "run_regions", { domain: domain.value }));
  const names = domains.value.state === "ready" ? domains.value.value : [];
  const choose = (
    <label>
      regions{" "}
      <select
        value={domain.value}
        data-choose="domain"
        onChange={(event) => {
          domain.value = event.currentTarget.value;
        }}
      >
        <option value="all">of all kinds</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <Answered answer={answer} choose={choose}>
      {(table) => <Tree key={domain.value} table={table} choose={choose} />}
    </Answered>
  );
}

function Tree({ table, choose }: { table: Columns; choose: preact.ComponentChild }) {
  const names = table.texts("name");
  const parents = useMemo(() => parentPositions(table.numbers("node"), table.numbers("parent")), [table]);
  const children = useMemo(() => childrenOf(parents), [parents]);
  const open = useSignal<ReadonlySet<number>>(firstOpen(children, table.numbers("total_share")));
  const query = useSignal("");
  const search = matcher(query.value);
  const shown = useMemo(
    () => visibleNodes(parents, children, open.value, query.value ? (n) => search.test(names[n] ?? "") : null),
    [parents, children, open.value, query.value],
  );
  if (!table.length) {
    return (
      <div class="view">
        <div class="toolbar">{choose}</div>
        <Nothing>There are no regions: neither calls nor marker ranges were recorded.</Nothing>
      </div>
    );
  }
  // Figures of the whole tree are read from its first row.
  const ofTree = (name: string) => table.numbers(name)[0] ?? 0;
  const cutNote = truncation(table.length, ofTree("node_count"));
  const unlinked = ofTree("unlinked_gpu_ns");
  return (
    <div class="view">
      <div class="toolbar">
        {choose}
        <span>
          {exact(ofTree("region_count"))} regions of {exact(ofTree("thread_count"))} threads
        </span>
        <input
          type="search"
          placeholder="name or /regex/"
          aria-label="Regions whose name contains"
          onInput={(event) => {
            query.value = event.currentTarget.value;
          }}
        />
        <button type="button" class="quiet" onClick={() => (open.value = new Set(parents.keys()))}>
          open all
        </button>
        <button type="button" class="quiet" onClick={() => (open.value = new Set())}>
          close all
        </button>
        {cutNote ? <strong>{cutNote} nodes</strong> : null}
        {unlinked ? <span>{nanoseconds(unlinked)} of GPU time has no known launch</span> : null}
        <SaveMenu name="regions" offers={[{ format: "csv", make: () => asCsv(table) }]} />
      </div>
      <VirtualList
        class="table regions"
        label="Tree of regions"
        count={shown.length}
        rowHeight={ROW_HEIGHT}
        header={<Header />}
        row={(index) => {
          const n = shown[index] as number;
          const twist = children[n]?.length ? (open.value.has(n) || query.value ? "▾" : "▸") : "";
          const toggle = () => {
            open.value = flipped(open.value, n);
          };
          return <Region key={n} {...{ table, n, twist }} onClick={twist ? toggle : undefined} />;
        }}
      />
    </div>
  );
}

function asCsv(table: Columns): string {
  const figures = SAVED.map((column) => table.numbers(column));
  const rows = table.texts("name").map((name, n) => [name, ...figures.map((figure) => figure[n] ?? null)]);
  return csv(["name", ...SAVED], rows);
}

function Header() {
  return (
    <div class="row head" role="row" style={{ gridTemplateColumns: TEMPLATE }}>
      <span>Region</span>
      <span title={hintOf(RUN_REGIONS_TREE.total_share)}>Share</span>
      {FIGURES.map(([name, title]) => (
        <span key={name} class="number" title={hintOf(RUN_REGIONS_TREE[name])}>
          {title}
        </span>
      ))}
    </div>
  );
}

interface RegionProps {
  table: Columns;
  /** Its place in the table. */
  n: number;
  /** Before its name: whether what is below it is shown; empty = there is nothing. */
  twist: string;
  onClick: (() => void) | undefined;
}

function Region({ table, n, twist, onClick }: RegionProps) {
  const name = table.texts("name")[n] ?? "";
  const figure = (column: string) => table.numbers(column)[n] ?? 0;
  const share = figure("total_share");
  return (
    <div
      role="row"
      class={`row${onClick ? " can-click" : ""}`}
      data-node={n}
      style={{ gridTemplateColumns: TEMPLATE, height: `${ROW_HEIGHT}px` }}
      onClick={onClick}
    >
      <span class="text" style={{ paddingLeft: `${figure("depth") * 14}px` }} title={name} data-column="name">
        <span class="twist">{twist}</span>
        {name}
      </span>
      <span class="share-cell" title={percent(share)}>
        <ShareBar share={share} meaning="share" label={percent(share)} />
      </span>
      {FIGURES.map(([column]) => (
        <span key={column} class="number" data-column={column} title={exact(figure(column))}>
          {column === "call_count" ? exact(figure(column)) : nanoseconds(figure(column))}
        </span>
      ))}
    </div>
  );
}

/** Of each row the position of its parent, from the numbers of both; -1 = it has none. */
function parentPositions(nodes: Numbers, parents: Numbers): Int32Array {
  const positionOf = new Map<number, number>();
  for (let n = 0; n < nodes.length; n++) positionOf.set(nodes[n] as number, n);
  return Int32Array.from(parents as ArrayLike<number>, (parent) => positionOf.get(parent) ?? -1);
}

/** The nodes that are open at first: the first ones with a part of the whole, so that the first picture says something. */
function firstOpen(children: number[][], share: Numbers): Set<number> {
  const opened = new Set<number>();
  for (let n = 0; n < children.length && opened.size < OPEN_AT_FIRST; n++)
    if ((share[n] ?? 0) > LEAST_OPEN_SHARE) opened.add(n);
  return opened;
}

export const regions: View = {
  id: "regions",
  title: "Regions",
  hint: ASKED.regions,
  about: "run",
  time: "selected",
  missing: (overview) => (overview.kind === "run" && overview.holds.regions ? "" : "no calls or ranges were recorded"),
  component: Regions,
};
