// Which bytes leave the XCDs, which workgroups share them, and which order of workgroups saves some.
import { signal } from "@preact/signals";
import { exact, percent, short } from "../base/format";
import {
  ASKED,
  TRAFFIC,
  TRAFFIC_ARRAYS,
  TRAFFIC_FITS,
  TRAFFIC_MAPPINGS,
  type TrafficAnswer,
  type TrafficArraysRow,
  type TrafficFitsRow,
  type TrafficMappingsRow,
  type TrafficRow,
  type TrafficWorkgroupsRow,
} from "../data/answers.gen";
import { json } from "../data/ask";
import { source } from "../data/source";
import { colourOf, seriesColour } from "../draw/palette";
import { selectRow } from "../model/code";
import { current } from "../model/document";
import { useAnswer } from "../model/loaded";
import type { View } from "../model/view";
import { Answered, Nothing } from "../widgets/answered";
import { Definition, Figure, Section } from "../widgets/cards";
import { tableOffer } from "../widgets/data_table";
import { figureColumns } from "../widgets/figure_columns";
import { PartLegend } from "../widgets/part_legend";
import { SaveMenu } from "../widgets/saving";
import { SmallTable } from "../widgets/small_table";
import "./traffic.css";

const FACTS = [
  ["grid", "work-items of the dispatch: 1024,1,128"],
  ["workgroup", "work-items of a workgroup: 256"],
  ["arg", "arguments, apart by ;  n=4096; 0x28=128,1 or of alternatives 0x4=256|512"],
  ["target", "another GPU of the target: MI300A"],
  ["partition", "SPX, DPX, CPX, ..."],
] as const;
const MAPPINGS = figureColumns<TrafficMappingsRow>(TRAFFIC_MAPPINGS, [
  ["mapping", "Order of workgroups", "text"],
  ["read_bytes", "Fabric reads"],
  ["most_bytes", "at most"],
  ["replicated_bytes", "read by several"],
  ["saved_share", "saved"],
  ["formula", "Index", "text"],
]);
const ARRAYS = figureColumns<TrafficArraysRow>(TRAFFIC_ARRAYS, [
  ["array", "Array", "text"],
  ["read_bytes", "Read"],
  ["unavoidable_bytes", "distinct"],
  ["xcd_mean", "XCDs that read a line"],
  ["written_bytes", "Written"],
]);
const ROWS = figureColumns<TrafficRow>(TRAFFIC, [
  ["row", "Row", "id"],
  ["array", "Array", "text"],
  ["requested_bytes", "Asked"],
  ["fabric_bytes", "Fabric"],
  ["distinct_bytes", "distinct"],
  ["text", "Instruction", "text"],
]);
const FITS = figureColumns<TrafficFitsRow>(TRAFFIC_FITS, [
  ["arguments", "Arguments", "text"],
  ["verdict", "Verdict", "text"],
]);
const REUSE = [
  { words: "most lines are read by other XCDs only", colour: "worse" },
  { words: "most are shared on the XCD", colour: "better" },
  { words: "most are its own", colour: "quiet" },
];
const CELL = 12;
const size = (bytes: number) => (bytes < 1000 ? `${short(bytes)} B` : `${short(bytes)}B`);

/** What is known beside the capture, by document. */
const given = signal<Record<number, Record<string, string>>>({});

function Traffic() {
  const facts = given.value[current.value] ?? {};
  const answer = useAnswer(json<TrafficAnswer>(current.value, "traffic", facts));
  const give = (name: string, value: string) => {
    const { [name]: _before, ...others } = facts;
    const own = value.trim() ? { ...others, [name]: value.trim() } : others;
    given.value = { ...given.value, [current.value]: own };
  };
  return (
    <div class="view">
      {source.isExport ? null : (
        <div class="toolbar">
          {FACTS.map(([name, hint]) => (
            <label key={name} title={hint}>
              {name}{" "}
              <input
                type="text"
                name={name}
                size={name === "arg" ? 30 : 10}
                value={facts[name] ?? ""}
                onChange={(event) => give(name, event.currentTarget.value)}
              />
            </label>
          ))}
        </div>
      )}
      <div class="scroll">
        <Answered answer={answer}>{(value) => <Page answer={value} />}</Answered>
      </div>
    </div>
  );
}

function Page({ answer }: { answer: TrafficAnswer }) {
  const rows = answer.rows.rows;
  const today = answer.mappings.rows[0];
  const best = answer.mappings.rows.find((each) => each.mapping === answer.best_mapping);
  return (
    <>
      {answer.problem ? <Nothing>Not known: {answer.problem}.</Nothing> : null}
      {today ? (
        <>
          <div class="figures">
            <Figure
              id="fabric_reads"
              value={`${answer.known_share < 1 ? "≥ " : ""}${size(answer.read_bytes)}`}
              name="read from the fabric"
              hint="Lines that each XCD reads, added up, with caches that lose nothing"
            />
            <Figure
              id="unavoidable"
              value={size(answer.unavoidable_bytes)}
              name="of it unavoidable"
              hint="Lines that any workgroup reads, once each: no order of workgroups reads less"
            />
            <Figure
              id="best"
              value={best ? size(best.read_bytes) : "nothing to win"}
              name={best ? best.mapping : "by another order"}
              hint="The order of workgroups that reads least. Bytes, not time"
            />
            <Figure
              id="hit_rate"
              value={answer.hit_rate ? answer.hit_rate.map((each) => percent(each)).join(" to ") : "–"}
              name="of L2 requests hit"
              hint="Over the orders of waves that were simulated, and the traced one"
            />
          </div>
          <Workgroups answer={answer} />
          <Section title="Orders of workgroups">
            <SmallTable label="Orders of workgroups" columns={MAPPINGS} rows={answer.mappings.rows} />
          </Section>
          <Section title="Arrays">
            <SmallTable label="Arrays" columns={ARRAYS} rows={answer.arrays.rows} />
          </Section>
          <Section title="Instructions, each for itself">
            <SmallTable
              label="Memory instructions"
              columns={ROWS}
              rows={rows}
              total={answer.rows.row_count}
              onSelect={(row) => selectRow(row.row)}
            />
            <SaveMenu name="traffic" offers={[tableOffer(ROWS, () => rows)]} />
          </Section>
        </>
      ) : null}
      {answer.fits.row_count ? (
        <Section title="Arguments that were tried">
          <SmallTable label="Arguments" columns={FITS} rows={answer.fits.rows} />
        </Section>
      ) : null}
      {[...answer.reasons.rows.map(({ row, reason }) => `row ${row}: ${reason}`), ...answer.notes].map((note) => (
        <p class="faint-text" key={note}>
          {note}
        </p>
      ))}
      <Definition text={answer.definition} />
    </>
  );
}

/** Two pictures of the workgroups in the order in which they are launched: by XCD, and by whom they share lines with. */
function Workgroups({ answer }: { answer: TrafficAnswer }) {
  const cells = answer.workgroups.rows;
  if (!cells.length) return <p class="faint-text">There are too many workgroups, or lines, for a picture.</p>;
  const [x = 1] = answer.counts;
  let wide = x;
  while (wide < 64 && wide * wide < cells.length) wide += x;
  const xcds = [...new Set(cells.map((each) => each.xcd))].sort((a, b) => a - b);
  const panels: [string, (each: TrafficWorkgroupsRow) => string, { words: string; colour: string }[]][] = [
    ["by XCD", (each) => seriesColour(each.xcd), xcds.map((n) => ({ words: `XCD ${n}`, colour: seriesColour(n) }))],
    ["by reuse", reuseColour, REUSE.map(({ words, colour }) => ({ words, colour: colourOf(colour) }))],
  ];
  return (
    <div class="traffic-panels">
      {panels.map(([title, colour, parts]) => (
        <Section key={title} title={`${exact(cells.length)} workgroups ${title}`}>
          <PartLegend parts={parts} />
          <Cells cells={cells} wide={Math.min(wide, 64)} label={title} colour={colour} />
        </Section>
      ))}
    </div>
  );
}

function reuseColour({ shared_share, away_share }: TrafficWorkgroupsRow) {
  const shares = [away_share, shared_share, 1 - shared_share - away_share];
  return colourOf(REUSE[shares.indexOf(Math.max(...shares))]?.colour ?? "quiet");
}

interface CellsProps {
  cells: TrafficWorkgroupsRow[];
  wide: number;
  label: string;
  colour: (each: TrafficWorkgroupsRow) => string;
}

function Cells({ cells, wide, label, colour }: CellsProps) {
  const high = Math.ceil(cells.length / wide);
  return (
    <svg
      role="img"
      aria-label={`Workgroups ${label}`}
      viewBox={`0 0 ${wide * CELL} ${high * CELL}`}
      width={wide * CELL}
    >
      {cells.map((each, at) => (
        <rect
          key={each.number}
          x={(at % wide) * CELL}
          y={Math.floor(at / wide) * CELL}
          width={CELL - 1}
          height={CELL - 1}
          fill={colour(each)}
          data-xcd={each.xcd}
        >
          <title>
            {`workgroup ${each.x}, ${each.y}, ${each.z} on XCD ${each.xcd}: reads ${exact(each.lines_count)} lines, ` +
              `${percent(each.shared_share)} shared on its XCD, ${percent(each.away_share)} with other XCDs only`}
          </title>
        </rect>
      ))}
    </svg>
  );
}

export const traffic: View = {
  id: "traffic",
  title: "Traffic of L2",
  hint: ASKED.traffic,
  about: "trace",
  missing: () => "",
  component: Traffic,
};
