// One row of the explorer: a folder, a file, a line, or how many lines are not shown.

import { amount, exact, percent } from "../../base/format";
import { baseName } from "../../base/path";
import { textScale } from "../../draw/painter";
import { preview } from "../../model/selection";
import { attribution, partsOf, type SortBy, type SourceCost, weightOf } from "../../model/source";
import { CostBar } from "../../widgets/cost_bar";
import { type Item, isSelectedLine, NO_LINE } from "./items";

export const rowHeight = () => 22 * textScale();

interface RowProps {
  item: Item;
  isOpen: boolean;
  by: SortBy;
  /** The cost of all that was executed, and the cost that fills the bar. */
  total: number;
  scale: number;
  onActivate: () => void;
}

export function Row({ item, isOpen, by, total, scale, onActivate }: RowProps) {
  const look = { height: `${rowHeight()}px` };
  if (item.kind === "more") {
    return (
      <div class="row can-click faint" role="row" tabIndex={-1} style={look} onClick={onActivate}>
        <span class="name" style={indented(item)}>
          showing {item.shown} of {exact(item.all)} lines: show all
        </span>
      </div>
    );
  }
  const cost = costOf(item);
  const value = weightOf(cost, by);
  const place = item.kind === "line" ? { file: item.line.file.file, line: item.line.line } : null;
  const isPreviewed =
    place && preview.value.sourceLine?.file === place.file && preview.value.sourceLine.line === place.line;
  const isSelected = item.kind === "line" && isSelectedLine(item.line);
  return (
    <div
      class={`row can-click ${item.kind}${isSelected ? " selected" : ""}${isPreviewed ? " preview" : ""}`}
      role="row"
      tabIndex={-1}
      style={look}
      data-file={place ? place.file : item.kind === "line" ? "" : item.node.path}
      data-line={place?.line}
      onClick={onActivate}
      onPointerEnter={() => {
        if (place) preview.value = { sourceLine: place };
      }}
      onPointerLeave={() => {
        if (place) preview.value = {};
      }}
    >
      <Name item={item} isOpen={isOpen} />
      <CostBar parts={partsOf(cost, by)} scale={scale} />
      <span class="number" data-column="cycles">
        {amount(value)}
      </span>
      <span class="number" data-column="share">
        {percent(total ? value / total : null)}
      </span>
    </div>
  );
}

/** Folders have the own costs of their files; of files and lines the chosen costs, own or with what was inlined. */
function costOf(item: Exclude<Item, { kind: "more" }>): SourceCost {
  if (item.kind === "folder") return item.own;
  return (item.kind === "line" ? item.line : item.file)[attribution.value];
}

const indented = (item: Item) => ({ paddingLeft: `${Math.min(item.depth, 12) * 10}px` });

function Name({ item, isOpen }: { item: Exclude<Item, { kind: "more" }>; isOpen: boolean }) {
  if (item.kind === "line") {
    const { line, text, file, stallClass } = item.line;
    return (
      <span class="name" style={indented(item)} title={`${file.file}:${line || "?"}\n${text}`}>
        <b>{line || "?"}</b>
        {line ? text || (file.hasText ? "" : stallClass) : "no line given by the compiler"}
      </span>
    );
  }
  // Instructions without a debug line are listed as a file without a path.
  const isPlaceless = item.kind === "file" && !item.file.file;
  const name = item.kind === "folder" ? `${item.node.name}/` : baseName(item.node.name);
  return (
    <span
      class="name"
      style={indented(item)}
      title={isPlaceless ? "Instructions without a debug line" : item.node.path}
    >
      <span class="twist">{isPlaceless ? "" : isOpen ? "▾" : "▸"}</span>
      {isPlaceless ? NO_LINE : name}
    </span>
  );
}
