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
import { type CostPart, isSampled, type SortBy, type SourceCost, weightOf } from "../../model/source";
import { Answered } from "../../widgets/answered";
import { CostBar } from "../../widgets/cost_bar";
import { csv, SaveMenu } from "../../widgets/saving";
import { VirtualList } from "../../widgets/virtual_list";
import { columnName, definition, SortSelect } from "./headline";
import { rowHeight } from "./row";

interface Node {
  kind: string;
  name: string;
  row: number;
  depth: number;
  cost: SourceCost;
  children: Node[];
}

/** The frames of the tree `code` as nodes; the first is the whole. What is exposed of stall and issue is one figure. */
export function nodesFrom(table: Columns): Node[] {
  const [kinds, names] = [table.texts("kind"), table.texts("name")];
  const [parents, rows, depths] = ["parent", "row", "depth"].map((name) => table.numbers(name));
  const numbers = (name: string) => table.numbers(name);
  const [hits, latency, stall] = ["hit_count", "latency_cycles_total", "stall_cycles_total"].map(numbers);
  const [idle, exposed] = ["idle_cycles_total", "exposed_latency_cycles_total"].map(numbers);
  const [exposedIdle, samples] = ["exposed_idle_cycles_total", "sample_count"].map(numbers);
  const nodes = kinds.map<Node>((kind, at) => {
    const of = (values: ArrayLike<number> | undefined) => values?.[at] ?? 0;
    const cost: SourceCost = {
      rows: 0,
      hits: of(hits),
      latency: of(latency),
      stall: of(stall),
      idle: of(idle),
      exposedStall: 0,
      exposedIssue: of(exposed),
      exposedIdle: of(exposedIdle),
      issued: 0,
      stalled: 0,
      unknown: of(samples),
    };
    return { kind, name: names[at] ?? "", row: of(rows), depth: of(depths), cost, children: [] };
  });
  nodes.forEach((node, at) => {
    nodes[parents?.[at] ?? -1]?.children.push(node);
  });
  return nodes;
}

export function CodeTree() {
  const answer = useAnswer(arrow(current.value, "flame", { tree: "code" }).as(nodesFrom));
  return <Answered answer={answer}>{(nodes) => <Shown nodes={nodes} />}</Answered>;
}

/** The parts of `weightOf(cost, by)` that a tree of frames knows. */
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

/** The nodes below some others that are not closed, the costliest first; what costs nothing is left out. */
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
  const toggled = useSignal<ReadonlySet<string>>(new Set());
  const { withIdle } = settings.value;
  const total = nodes[0] ? weightOf(nodes[0].cost, by.value) : 0;
  // Blocks are closed at first, apart from the costliest.
  const costliest = useMemo(() => {
    const blocks = nodes.filter(({ kind }) => kind === "block");
    return costliestOf(blocks, by.value);
  }, [nodes, by.value, withIdle]);
  const isOpen = (node: Node) => (node.kind !== "block" || node === costliest) !== toggled.value.has(keyOf(node));
  const items = useMemo(
    () => openNodes(nodes[0]?.children ?? [], by.value, isOpen),
    [nodes, by.value, toggled.value, withIdle, costliest],
  );
  const activate = (node: Node) => {
    if (node.kind === "instruction") return selectRow(node.row);
    toggled.value = flipped(toggled.value, keyOf(node));
  };
  const chosen = items.findIndex(({ kind, row }) => kind === "instruction" && row === selection.value.row);
  const step = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    let next = chosen + by;
    while (items[next] && items[next]?.kind !== "instruction") next += by;
    const item = items[next];
    if (!item) return;
    event.preventDefault();
    selectRow(item.row);
  };
  return (
    <div class="view explorer">
      {costliest ? <HottestBlock block={costliest} by={by.value} total={total} /> : null}
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
        onKeyDown={step}
        row={(index) => {
          const node = items[index] as Node;
          const look = { isOpen: isOpen(node), isSelected: index === chosen };
          return <NodeRow key={index} {...{ node, total, ...look }} by={by.value} onActivate={() => activate(node)} />;
        }}
      />
    </div>
  );
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
