// The chart on screen, as SVG: every number has its definition as a tooltip, and leads to its metric.
import { colourOf, mixed, paper } from "../../draw/palette";
import { select, selection } from "../../model/selection";
import { frontView } from "../../model/view";
import {
  arrowHead,
  type ChartLayout,
  filledPart,
  HEAD,
  LINE,
  type PlacedBlock,
  type PlacedValue,
  type PlacedWire,
} from "./layout";
import { COLOURS, flowHint, flowText, valueHint, valueText } from "./words";

/** Around the picture, so that the frames of blocks at its edge are whole. */
const BORDER = 1;

/** Ids of the metrics that a number is the sum of: "17.1.2 + 17.1.3". */
const metricsOf = (metricId: string) => metricId.split(" + ");

/** Selects the first metric of a number, and shows it among the panels. */
function go(metricId: string): void {
  select({ metric: metricsOf(metricId)[0] });
  frontView("panels");
}

const isSelected = (metricId: string) => metricsOf(metricId).includes(selection.value.metric ?? "");

export function Picture({ layout, busiest, scale }: { layout: ChartLayout; busiest: string; scale: number }) {
  const titles = new Map(layout.blocks.map((placed) => [placed.block.block, placed.block.title]));
  const [width, height] = [layout.width + 2 * BORDER, layout.height + 2 * BORDER];
  return (
    <svg
      class="memory-chart"
      width={width * scale}
      height={height * scale}
      viewBox={`${-BORDER} ${-BORDER} ${width} ${height}`}
      role="img"
      aria-label="Memory chart: blocks of the GPU and what flows between them"
    >
      {layout.wires.map((wire) => (
        <WireLine key={`${wire.source} ${wire.target}`} wire={wire} titles={titles} />
      ))}
      {layout.blocks.map((placed) => (
        <Box key={placed.block.block} placed={placed} isBusiest={placed.block.block === busiest} />
      ))}
    </svg>
  );
}

function Box({ placed, isBusiest }: { placed: PlacedBlock; isBusiest: boolean }) {
  const { block, x, y, width, height, values } = placed;
  return (
    <g data-block={block.block}>
      {isBusiest ? <title>The block whose traffic is nearest to its peak</title> : null}
      <rect
        {...{ x, y, width, height }}
        rx="5"
        fill={paper("raised")}
        stroke={isBusiest ? paper("accent") : paper("line")}
        stroke-width={isBusiest ? 2 : 1}
      />
      <text x={x + 9} y={y + HEAD / 2 + 4} class="memory-chart-title">
        {block.title}
      </text>
      {values.map((placedValue) => (
        <Value key={placedValue.value.label} title={block.title} {...placedValue} />
      ))}
    </g>
  );
}

/** A number with its name: under a rate a bar of its share of the peak, beside other numbers a strip of their colour. */
function Value({ title, value, x, y, width }: PlacedValue & { title: string }) {
  const meaning = COLOURS[value.heat];
  const share = value.is_rate ? value.peak_share : null;
  const [left, back] = [x - 4, width + 8]; // the ground under it is wider than its text
  return (
    <g
      class="memory-chart-value"
      role="button"
      tabIndex={0}
      data-value={value.label}
      onClick={() => go(value.metric_id)}
      onKeyDown={(event) => {
        if (event.key === "Enter") go(value.metric_id);
      }}
    >
      <title>{valueHint(title, value)}</title>
      <rect
        x={left}
        y={y - LINE / 2}
        width={back}
        height={LINE}
        rx="3"
        class={isSelected(value.metric_id) ? "back selected" : "back"}
      />
      {share === null ? null : (
        <rect
          x={left}
          y={y + LINE / 2 - 3}
          width={filledPart(back, share)}
          height="3"
          fill={colourOf(meaning || "hidden")}
        />
      )}
      <text x={x} y={y + 4} fill={paper("faint")}>
        {value.label}
      </text>
      <text x={x + width} y={y + 4} text-anchor="end" fill={value.value === null ? paper("faint") : paper("text")}>
        {valueText(value)}
      </text>
      {meaning && !value.is_rate ? (
        <rect x={left} y={y - LINE / 2 + 2} width="3" height={LINE - 4} fill={colourOf(meaning)} />
      ) : null}
    </g>
  );
}

function WireLine({ wire, titles }: { wire: PlacedWire; titles: Map<string, string> }) {
  const [from, to] = [titles.get(wire.source) ?? wire.source, titles.get(wire.target) ?? wire.target];
  const hottest = wire.flows.find((flow) => flow.heat === "hot") ?? wire.flows.find((flow) => flow.heat === "warm");
  const colour = hottest ? colourOf(COLOURS[hottest.heat] ?? "") : mixed(paper("faint"), paper("background"), 0.3);
  const [x, y] = [wire.points.at(-2) ?? 0, wire.points.at(-1) ?? 0];
  return (
    <g data-wire={`${wire.source}>${wire.target}`}>
      <polyline
        points={[...wire.points.slice(0, -2), x - 6, y].join(" ")}
        fill="none"
        stroke={colour}
        stroke-width={wire.thickness ?? 1}
        stroke-dasharray={wire.thickness === null ? "3 3" : undefined}
      />
      <polygon points={arrowHead(wire).join(" ")} fill={colour} />
      {wire.flows.map((flow, n) => (
        <text
          key={flow.kind}
          x={wire.x}
          y={wire.y + n * LINE + 4}
          data-flow={flow.kind}
          fill={flow.value ? paper("text") : paper("faint")}
        >
          <title>{flowHint(from, to, flow)}</title>
          {flowText(flow)}
        </text>
      ))}
    </g>
  );
}
