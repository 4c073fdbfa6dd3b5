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

/** Facts that the capture may lack: the name of the parameter, and how it is written. */
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
/** With whom a workgroup shares most of its lines, and the meaning in the palette. */
const REUSE = {
  away: { words: "most lines are read by other XCDs only", meaning: "worse" },
  shared: { words: "most are shared on the XCD", meaning: "better" },
  own: { words: "most are its own", meaning: "quiet" },
};
/** Pixels of a workgroup, and the most of them in a line. */
const CELL = 12;
const MOST_COLUMNS = 64;
const size = (bytes: number) => (bytes < 1000 ? `${short(bytes)} B` : `${short(bytes)}B`);

/** Facts that were entered, by document. */
const enteredFacts = signal<Record<number, Record<string, string>>>({});

function Traffic() {
  const facts = enteredFacts.value[current.value] ?? {};
  const answer = useAnswer(json<TrafficAnswer>(current.value, "traffic", facts));
  const enter = (name: string, value: string) => {
    const { [name]: _before, ...others } = facts;
    const next = value.trim() ? { ...others, [name]: value.trim() } : others;
    enteredFacts.value = { ...enteredFacts.value, [current.value]: next };
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
                onChange={(event) => enter(name, event.currentTarget.value)}
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
  const isKnown = answer.mappings.rows.length > 0;
  return (
    <>
      {answer.problem ? <Nothing>Not known: {answer.problem}.</Nothing> : null}
      {isKnown ? (
        <>
          <Figures answer={answer} />
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

function Figures({ answer }: { answer: TrafficAnswer }) {
  const best = answer.mappings.rows.find(({ mapping }) => mapping === answer.best_mapping);
  const isLowerBound = answer.known_share < 1;
  return (
    <div class="figures">
      <Figure
        id="fabric_reads"
        value={`${isLowerBound ? "≥ " : ""}${size(answer.read_bytes)}`}
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
        value={answer.hit_rate ? answer.hit_rate.map((rate) => percent(rate)).join(" to ") : "–"}
        name="of L2 requests hit"
        hint="Over the orders of waves that were simulated, and the traced one"
      />
    </div>
  );
}

/** Two pictures of the workgroups in the order in which they are launched: by XCD, and by whom they share lines with. */
function Workgroups({ answer }: { answer: TrafficAnswer }) {
  const cells = answer.workgroups.rows;
  if (!cells.length) return <p class="faint-text">There are too many workgroups, or lines, for a picture.</p>;
  const columns = columnCount(cells.length, answer.counts[0] ?? 1);
  const xcds = [...new Set(cells.map((workgroup) => workgroup.xcd))].sort((a, b) => a - b);
  const pictures = [
    {
      title: "by XCD",
      colour: ({ xcd }: TrafficWorkgroupsRow) => seriesColour(xcd),
      legend: xcds.map((xcd) => ({ words: `XCD ${xcd}`, colour: seriesColour(xcd) })),
    },
    {
      title: "by reuse",
      colour: reuseColour,
      legend: Object.values(REUSE).map(({ words, meaning }) => ({ words, colour: colourOf(meaning) })),
    },
  ];
  return (
    <div class="traffic-panels">
      {pictures.map(({ title, colour, legend }) => (
        <Section key={title} title={`${exact(cells.length)} workgroups ${title}`}>
          <PartLegend parts={legend} />
          <Cells cells={cells} columns={columns} label={title} colour={colour} />
        </Section>
      ))}
    </div>
  );
}

/** Columns of a picture that is about square: whole rows of the grid, of which each has `x` workgroups, as far as they fit. */
function columnCount(workgroups: number, x: number): number {
  let columns = x;
  while (columns < MOST_COLUMNS && columns * columns < workgroups) columns += x;
  return Math.min(columns, MOST_COLUMNS);
}

/** The colour of the largest of three shares; of equal ones the first counts. */
function reuseColour({ shared_share: shared, away_share: away }: TrafficWorkgroupsRow): string {
  const own = 1 - shared - away;
  const largest = Math.max(away, shared, own);
  if (away === largest) return colourOf(REUSE.away.meaning);
  return colourOf(shared === largest ? REUSE.shared.meaning : REUSE.own.meaning);
}

interface CellsProps {
  cells: TrafficWorkgroupsRow[];
  columns: number;
  label: string;
  colour: (workgroup: TrafficWorkgroupsRow) => string;
}

function Cells({ cells, columns, label, colour }: CellsProps) {
  const lines = Math.ceil(cells.length / columns);
  return (
    <svg
      role="img"
      aria-label={`Workgroups ${label}`}
      viewBox={`0 0 ${columns * CELL} ${lines * CELL}`}
      width={columns * CELL}
    >
      {cells.map((workgroup, n) => (
        <rect
          key={workgroup.number}
          x={(n % columns) * CELL}
          y={Math.floor(n / columns) * CELL}
          width={CELL - 1}
          height={CELL - 1}
          fill={colour(workgroup)}
          data-xcd={workgroup.xcd}
        >
          <title>{workgroupFacts(workgroup)}</title>
        </rect>
      ))}
    </svg>
  );
}

function workgroupFacts({ x, y, z, xcd, lines_count, shared_share, away_share }: TrafficWorkgroupsRow): string {
  return (
    `workgroup ${x}, ${y}, ${z} on XCD ${xcd}: reads ${exact(lines_count)} lines, ` +
    `${percent(shared_share)} shared on its XCD, ${percent(away_share)} with other XCDs only`
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
