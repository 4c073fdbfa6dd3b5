// What the explorer shows of code without source lines: functions, loops, blocks and instructions by what they cost.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact, percent } from "../../base/format";
import { flipped } from "../../base/sets";
import { arrow } from "../../data/ask";
import type { Columns } from "../../data/columns";
import { selectRow } from "../../model/code";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { preview, selection } from "../../model/selection";
import { settings } from "../../model/settings";
import { type CostPart, isSampled, type SortBy, type SourceCost, sumOf, weightOf } from "../../model/source";
import { Answered } from "../../widgets/answered";
import { CostBar } from "../../widgets/cost_bar";
import { csv, SaveMenu } from "../../widgets/saving";
import { VirtualList } from "../../widgets/virtual_list";
import { columnName, definition, SortSelect } from "./headline";
import { rowHeight } from "./row";

/** A frame of the tree of code: the whole, a function, loop, block or instruction. */
interface Node {
  kind: string;
  name: string;
  /** Its row of code; of frames with several the first. */
  row: number;
  depth: number;
  cost: SourceCost;
  children: Node[];
}

/** Cost -> its column in the tree; others are not known of frames. The tree has what is exposed of stall and issue as one figure. */
const COST_COLUMNS: Partial<Record<keyof SourceCost, string>> = {
  hits: "hit_count",
  latency: "latency_cycles_total",
  stall: "stall_cycles_total",
  idle: "idle_cycles_total",
  exposedIssue: "exposed_latency_cycles_total",
  exposedIdle: "exposed_idle_cycles_total",
  unknown: "sample_count",
};

/** The frames of the tree `code` as nodes; the first is the whole. */
export function nodesFrom(table: Columns): Node[] {
  const names = table.texts("name");
  const [parents, rows, depths] = [table.numbers("parent"), table.numbers("row"), table.numbers("depth")];
  const costs = Object.entries(COST_COLUMNS).map(([name, column]) => ({ name, values: table.numbers(column) }));
  const costAt = (frame: number): SourceCost => {
    const known = costs.map(({ name, values }) => [name, values[frame] ?? 0]);
    return { ...sumOf([]), ...Object.fromEntries(known) };
  };
  const nodes = table.texts("kind").map<Node>((kind, frame) => ({
    kind,
    name: names[frame] ?? "",
    row: rows[frame] ?? 0,
    depth: depths[frame] ?? 0,
    cost: costAt(frame),
    children: [],
  }));
  nodes.forEach((node, frame) => {
    nodes[parents[frame] ?? -1]?.children.push(node); // the first has the parent -1
  });
  return nodes;
}

export function CodeTree() {
  const answer = useAnswer(arrow(current.value, "flame", { tree: "code" }).as(nodesFrom));
  return <Answered answer={answer}>{(nodes) => <Shown nodes={nodes} />}</Answered>;
}

/** The parts of `weightOf(cost, by)`, for bars: those that a tree of frames knows. */
function treeParts(cost: SourceCost, by: SortBy): CostPart[] {
  if (isSampled.value) return [{ meaning: "stall", label: "samples", value: cost.unknown }];
  const withIdle = settings.value.withIdle;
  if (by === "exposed") {
    return [
      { meaning: "stall", label: "latency that nothing hid", value: cost.exposedIssue },
      { meaning: "idle", label: "idle that nothing hid", value: withIdle ? cost.exposedIdle : 0 },
    ];
  }
  return [
    { meaning: "stall", label: "stall", value: cost.stall },
    { meaning: "issue", label: "issue", value: by === "stall" ? 0 : cost.latency - cost.stall },
    { meaning: "idle", label: "idle", value: by === "stall" || !withIdle ? 0 : cost.idle },
  ];
}

const keyOf = ({ kind, row }: Node) => `${kind} ${row}`;

/** The costliest of some nodes; the first of equal ones. */
function costliestOf(nodes: Node[], by: SortBy): Node | undefined {
  return nodes.reduce<Node | undefined>(
    (best, node) => (!best || weightOf(node.cost, by) > weightOf(best.cost, by) ? node : best),
    undefined,
  );
}

/** Nodes with those below the open ones, the costliest first on every level; what costs nothing is left out. */
function openNodes(nodes: Node[], by: SortBy, isOpen: (node: Node) => boolean): Node[] {
  const weight = ({ cost }: Node) => weightOf(cost, by);
  return nodes
    .filter(weight)
    .sort((a, b) => weight(b) - weight(a) || a.row - b.row)
    .flatMap((node) => [node, ...(isOpen(node) ? openNodes(node.children, by, isOpen) : [])]);
}

function asCsv(nodes: Node[], by: SortBy, total: number): string {
  const line = ({ depth, kind, name, row, cost }: Node) => {
    const weight = weightOf(cost, by);
    return [depth, kind, name, row, weight, total ? weight / total : 0, cost.hits];
  };
  const names = ["depth", "kind", "name", "row", columnName(by), "share", "hit_count"];
  return csv(names, nodes.slice(1).map(line));
}

function Shown({ nodes }: { nodes: Node[] }) {
  const by = useSignal<SortBy>("cycles");
  /** Nodes that are not as they were at first: opened blocks, and closed others. */
  const toggled = useSignal<ReadonlySet<string>>(new Set());
  const { withIdle } = settings.value;
  const total = nodes[0] ? weightOf(nodes[0].cost, by.value) : 0;
  const costliestBlock = useMemo(() => {
    const blocks = nodes.filter(({ kind }) => kind === "block");
    return costliestOf(blocks, by.value);
  }, [nodes, by.value, withIdle]);
  // Blocks are closed at first, apart from the costliest.
  const isOpenAtFirst = (node: Node) => node.kind !== "block" || node === costliestBlock;
  const isOpen = (node: Node) => isOpenAtFirst(node) !== toggled.value.has(keyOf(node));
  const items = useMemo(
    () => openNodes(nodes[0]?.children ?? [], by.value, isOpen),
    [nodes, by.value, toggled.value, withIdle, costliestBlock],
  );
  const activate = (node: Node) => {
    if (node.kind === "instruction") return selectRow(node.row);
    toggled.value = flipped(toggled.value, keyOf(node));
  };
  const chosen = items.findIndex(({ kind, row }) => kind === "instruction" && row === selection.value.row);
  return (
    <div class="view explorer">
      {costliestBlock ? <HottestBlock block={costliestBlock} by={by.value} total={total} /> : null}
      <div class="toolbar">
        {isSampled.value ? null : <SortSelect by={by} />}
        <span title="No instruction has a debug line. Compile with -g to see source lines here">no source lines</span>
        <SaveMenu name="explorer" offers={[{ format: "csv", make: () => asCsv(nodes, by.value, total) }]} />
      </div>
      <VirtualList
        label="Functions, loops, blocks and instructions"
        count={items.length}
        rowHeight={rowHeight()}
        reveal={chosen}
        header={<Header by={by.value} />}
        onKeyDown={(event) => stepInstruction(event, items, chosen)}
        row={(index) => {
          const node = items[index] as Node;
          const look = { isOpen: isOpen(node), isSelected: index === chosen };
          return <NodeRow key={index} {...{ node, total, ...look }} by={by.value} onActivate={() => activate(node)} />;
        }}
      />
    </div>
  );
}

/** Arrow keys go from instruction to instruction; other nodes between them are skipped. */
function stepInstruction(event: KeyboardEvent, items: Node[], chosen: number): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  let next = chosen + step;
  while (items[next] && items[next]?.kind !== "instruction") next += step;
  const item = items[next];
  if (!item) return;
  event.preventDefault();
  selectRow(item.row);
}

function HottestBlock({ block, by, total }: { block: Node; by: SortBy; total: number }) {
  const hottest = costliestOf(block.children, by);
  if (!hottest) return null;
  return (
    <div class="headline">
      The hottest block is{" "}
      <button type="button" onClick={() => selectRow(hottest.row)}>
        {block.name}
      </button>{" "}
      with <strong>{percent(total ? weightOf(block.cost, by) / total : null)}</strong> of all{" "}
      {isSampled.value ? "samples" : "cycles"}
      <code class="text">{hottest.name}</code>
    </div>
  );
}

function Header({ by }: { by: SortBy }) {
  return (
    <div class="row" role="row">
      <span role="columnheader">Function, loop, block</span>
      <span role="columnheader">Cost</span>
      <span role="columnheader" class="number" data-column="cycles" title={definition(by)}>
        {isSampled.value ? "Samples" : "Cycles"}
      </span>
      <span role="columnheader" class="number">
        Share
      </span>
    </div>
  );
}

interface NodeRowProps {
  node: Node;
  by: SortBy;
  total: number;
  isOpen: boolean;
  isSelected: boolean;
  onActivate: () => void;
}

function NodeRow({ node, by, total, isOpen, isSelected, onActivate }: NodeRowProps) {
  const value = weightOf(node.cost, by);
  const isInstruction = node.kind === "instruction";
  const isLeaf = isInstruction || !node.children.length;
  return (
    <div
      role="row"
      tabIndex={-1}
      class={`row can-click ${isInstruction ? "line" : "folder"}${isSelected ? " selected" : ""}`}
      data-kind={node.kind}
      data-node={node.row}
      style={{ height: `${rowHeight()}px` }}
      onClick={onActivate}
      onPointerEnter={() => {
        if (isInstruction) preview.value = { row: node.row };
      }}
      onPointerLeave={() => {
        preview.value = {};
      }}
    >
      <span
        role="gridcell"
        class="name"
        style={{ paddingLeft: `${Math.min(node.depth - 1, 12) * 10}px` }}
        title={isInstruction ? `Row ${node.row}: ${node.name}` : node.name}
      >
        <span class="twist">{isLeaf ? "" : isOpen ? "▾" : "▸"}</span>
        {isInstruction ? <b>{node.row}</b> : null}
        {node.name}
      </span>
      <span role="gridcell">
        <CostBar parts={treeParts(node.cost, by)} scale={total} />
      </span>
      <span role="gridcell" class="number" data-column="cycles">
        {exact(value)}
      </span>
      <span role="gridcell" class="number" data-column="share">
        {percent(total ? value / total : null)}
      </span>
    </div>
  );
}
