// One line of source: number, bar, figures, coloured text over its heat.
import type { ComponentChildren } from "preact";
import { amount, counted, exact, percent } from "../../base/format";
import { type Language, type LineState, tokenized } from "../../base/syntax";
import { colourOf } from "../../draw/palette";
import type { Annotation } from "../../model/annotations";
import { changesAgainst } from "../../model/baseline";
import type { Change } from "../../model/changes";
import { attribution, type CostPart, isSampled, partsOf, type SourceCost, weightOf } from "../../model/source";
import { Badges } from "../../widgets/annotations";
import { ChangeText, wasText } from "../../widgets/changes";
import { CostBar } from "../../widgets/cost_bar";
import type { Listed } from "./lines";

interface Props {
  entry: Listed;
  language: Language;
  /** In which its text starts. */
  state: LineState;
  /** The weight that a full bar stands for. */
  scale: number;
  /** The weight that shares are of. */
  total: number;
  /** Of samples: why they were not issued, in words. */
  reason: string;
  /** What its bar is stacked of; null = stall, issue, idle and hidden. */
  categories: CostPart[] | null;
  look: { isSelected: boolean; isPreviewed: boolean; isFound: boolean };
  height: number;
  /** Cycles per wave against the baseline. */
  change: Change | null;
  annotations: Annotation[];
  /** Whether its instructions stand below it. */
  isOpen: boolean;
  onToggle: () => void;
  onSelect: () => void;
  onHover: (isOver: boolean) => void;
}

export function LineRow(props: Props) {
  const { entry, language, state, scale, look, height, annotations, isOpen, onToggle, onSelect, onHover } = props;
  const cost = entry.cost?.[attribution.value];
  const weight = cost ? weightOf(cost) : 0;
  const classes = [
    "row can-click",
    look.isSelected ? "selected" : "",
    look.isPreviewed ? "preview" : "",
    look.isFound ? "found" : "",
  ];
  const heat = weight && scale ? Math.round(LEAST_HEAT + HEAT_RANGE * Math.sqrt(weight / scale)) : 0;
  const background = heat ? `color-mix(in srgb, ${colourOf("stall")} ${heat}%, transparent)` : undefined;
  return (
    <div
      class={classes.filter(Boolean).join(" ")}
      role="row"
      tabIndex={-1}
      data-line={entry.line}
      style={{ height: `${height}px` }}
      onClick={onSelect}
      onPointerEnter={() => onHover(true)}
      onPointerLeave={() => onHover(false)}
    >
      <LineNumber line={entry.line} rowCount={cost?.rows ?? 0} isOpen={isOpen} onToggle={onToggle} />
      <CostCells {...props} cost={cost} weight={weight} />
      <pre class={heat > WARM ? "warm" : undefined} style={{ background }}>
        {entry.text ? coloured(entry.text, language, state) : substitute(entry)}
        <Badges of={annotations} />
      </pre>
    </div>
  );
}

interface CostProps extends Pick<Props, "entry" | "scale" | "total" | "reason" | "categories" | "change"> {
  /** Of the line, as costs are attributed; undefined = it cost nothing. */
  cost: SourceCost | undefined;
  weight: number;
}

/** The bar and the figures; of samples the reasons stand in place of the executions. */
function CostCells({ entry, scale, total, reason, categories, change, cost, weight }: CostProps) {
  const stallShare = cost ? shareOfStall(cost, weight) : null;
  const stallClass = entry.cost?.stallClass;
  return (
    <>
      {cost && weight ? (
        <CostBar parts={categories ? withIdle(categories, weight) : partsOf(cost)} scale={scale} />
      ) : (
        <span />
      )}
      <span class="number" data-column="cycles">
        {weight ? amount(weight) : ""}
      </span>
      <span class="number" data-column="share">
        {weight && total ? percent(weight / total) : ""}
      </span>
      <span class="number" data-column="stall" title={stallClass ? `mostly: ${stallClass}` : undefined}>
        {percent(stallShare)}
      </span>
      {changesAgainst.value === null ? null : (
        <span class="number" data-column="change" title={wasText(change)}>
          {change ? <ChangeText change={change} isCost /> : ""}
        </span>
      )}
      {isSampled.value ? (
        <span class="text" data-column="reason" title={reason}>
          {reason}
        </span>
      ) : (
        <span class="number" data-column="hits">
          {cost?.hits ? amount(cost.hits) : ""}
        </span>
      )}
    </>
  );
}

/** Stall as a share of the latency; samples that were not issued as a share of all of the line. null = of nothing. */
function shareOfStall(cost: SourceCost, weight: number): number | null {
  const [stall, whole] = isSampled.value ? [cost.stalled, weight] : [cost.stall, cost.latency];
  return whole ? stall / whole : null;
}

interface NumberProps {
  line: number;
  /** How many instructions the line has; 0 = there is nothing to open. */
  rowCount: number;
  isOpen: boolean;
  onToggle: () => void;
}

function LineNumber({ line, rowCount, isOpen, onToggle }: NumberProps) {
  return (
    <span class="line-number">
      {rowCount ? (
        <button
          type="button"
          class="twist"
          tabIndex={-1}
          aria-expanded={isOpen}
          aria-label={`Instructions of line ${line || "?"}`}
          title={`${counted(rowCount, "instructions")}: → opens, ← closes`}
          onClick={(event) => {
            event.stopPropagation();
            onToggle();
          }}
        >
          {isOpen ? "▾" : "▸"}
        </button>
      ) : null}
      {line || "?"}
    </span>
  );
}

function coloured(text: string, language: Language, state: LineState): ComponentChildren {
  return tokenized(text, language, state).tokens.map((token, at) => (
    <span key={at} class={token.kind === "plain" ? undefined : `t-${token.kind}`}>
      {token.text}
    </span>
  ));
}

/** Percent of the colour of stall behind the text of a line that costs anything, and how much more behind the costliest. */
const LEAST_HEAT = 6;
const HEAT_RANGE = 38;
/** From this heat on, faint text would not be read on it. */
const WARM = 12;

/** What stands where there is no text: what is known about the line. */
function substitute({ line, cost }: Listed): ComponentChildren {
  if (!cost) return "";
  const { rows } = cost[attribution.value];
  const words = [line ? "" : "no line given by the compiler", `${exact(rows)} instruction${rows === 1 ? "" : "s"}`];
  if (cost.stallClass) words.push(cost.stallClass);
  return <span class="t-comment">{words.filter(Boolean).join(" · ")}</span>;
}

/** Categories have latency only: what the line weighs beyond that is idle. */
function withIdle(categories: CostPart[], weight: number): CostPart[] {
  const idle = weight - categories.reduce((sum, part) => sum + part.value, 0);
  return [...categories, { meaning: "idle", label: "idle", value: Math.max(idle, 0) }];
}
