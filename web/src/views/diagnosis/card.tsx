// One finding: what it costs, why, what to do, where to look.
import { counted, exact, percent, short } from "../../base/format";
import type {
  CodeEvidence as EvidenceRow,
  Remedy as RemedyRow,
  StallFinding,
  WaitsProducersRow,
} from "../../data/answers.gen";
import { costsNow, textOf } from "../../model/code";
import { PartsBar } from "../../widgets/bars";
import { Chip } from "../../widgets/cards";
import { LineLink, RowLink, ViewLink } from "../../widgets/links";
import { MORE } from "./more";

interface Props {
  finding: StallFinding;
  /** What it would do to the run beside the trace; empty = not known. */
  inRun?: string;
  number: number;
  colour: string;
  /** Producers of a wait row, those that ended it most often first; empty = not known or not a wait. */
  producersOf: (row: number) => WaitsProducersRow[];
}

/** Confidence -> tone of its chip. */
const TONES: Record<string, string> = { high: "good", medium: "care", low: "bad" };
/** `gain_basis` -> what the gain is a share of. */
const BASIS: Record<string, string> = { "traced SIMDs": "time", dispatch: "dispatch" };
/** Producers of a wait, and instructions of a remedy, that are listed. */
const SHOWN_PRODUCERS = 3;
const SHOWN_ROWS = 40;

export function Card({ finding, inRun, number, colour, producersOf }: Props) {
  const { gain_share_max: gain, stall_cycles_total: stall } = finding;
  const whole = BASIS[finding.gain_basis] ?? finding.gain_basis;
  return (
    <article class="finding" data-finding={finding.name} style={{ borderLeftColor: colour }}>
      <header>
        <span class="finding-number">{number}</span>
        <h3>{finding.verdict}</h3>
        {gain > 0 ? (
          <span
            class="gain"
            title={`${percent(finding.gain_share_min)} to ${percent(gain)} of the ${whole}: what a replay without it saves`}
          >
            <span>gain at most</span>
            <strong data-field="gain">{percent(gain)}</strong>
          </span>
        ) : null}
      </header>
      {gain > 0 ? <PartsBar parts={[{ share: gain, colour }]} label={`${percent(gain)} of the ${whole}`} /> : null}
      <p class="finding-facts">
        {stall > 0 ? (
          <span title="Stalls and gaps of all waves, hidden or not">
            <b data-field="stall">{short(stall)}</b> cycles ({percent(finding.stall_share)} of those of all waves)
          </span>
        ) : null}
        {finding.row_count ? <span>{counted(finding.row_count, "instructions")}</span> : null}
        <Chip tone={TONES[finding.confidence] ?? ""} title={finding.confidence_reason}>
          confidence: {finding.confidence}
        </Chip>
      </p>
      {inRun ? <p data-field="in-run">{sentence(inRun)}</p> : null}
      <h4>Why</h4>
      <p>{sentence(finding.reason)}</p>
      {finding.remedies.length ? (
        <>
          <h4>What to do</h4>
          <ul class="remedies">
            {finding.remedies.map((remedy) => (
              <Remedy key={remedy.name + remedy.text} remedy={remedy} finding={finding} />
            ))}
          </ul>
        </>
      ) : null}
      {finding.evidence.length ? <Evidence finding={finding} colour={colour} producersOf={producersOf} /> : null}
      <footer>
        {(MORE[finding.kind] ?? []).map((more) => (
          <ViewLink key={more.id} id={more.id}>
            {more.words} →
          </ViewLink>
        ))}
      </footer>
    </article>
  );
}

/** The costliest instructions of a finding; their bars are of the first one. */
function Evidence({ finding, colour, producersOf }: Pick<Props, "finding" | "colour" | "producersOf">) {
  const { evidence, row_count: rowCount } = finding;
  return (
    <>
      <h4>
        Look at{" "}
        {evidence.length < rowCount ? (
          <span class="faint-text">
            the costliest {exact(evidence.length)} of {exact(rowCount)}
          </span>
        ) : null}
      </h4>
      <ul class="evidence">
        {evidence.map((item) => (
          <CodeEvidence
            key={`${item.row} ${item.line}`}
            item={item}
            most={evidence[0]?.stall_cycles_total ?? 0}
            colour={colour}
            producers={producersOf(item.row)}
          />
        ))}
      </ul>
    </>
  );
}

function Remedy({ remedy, finding }: { remedy: RemedyRow; finding: StallFinding }) {
  const name = remedy.name && remedy.name !== finding.name ? remedy.name : "";
  return (
    <li>
      {name ? <b>{sentence(name)}: </b> : null}
      {remedy.text}
      {remedy.rows.length ? <RemedyRows rows={remedy.rows} evidence={finding.evidence} /> : null}
    </li>
  );
}

/** The instructions that a remedy is about, open on demand; where the evidence below shows all of them, only their number. */
function RemedyRows({ rows, evidence }: { rows: number[]; evidence: EvidenceRow[] }) {
  const evidenceRows = new Set(evidence.map((item) => item.row));
  const count = `${exact(rows.length)} ${rows.length === 1 ? "instruction" : "instructions"}`;
  if (rows.every((row) => evidenceRows.has(row))) return <div class="faint-text">{count}</div>;
  return (
    <details class="remedy-rows">
      <summary>{count}</summary>
      {rows.slice(0, SHOWN_ROWS).map((row) => (
        <RowLink key={row} row={row} text={textOf(row) || `row ${row}`} />
      ))}
      {rows.length > SHOWN_ROWS ? (
        <span class="faint-text">
          showing {exact(SHOWN_ROWS)} of {exact(rows.length)}
        </span>
      ) : null}
    </details>
  );
}

interface EvidenceProps {
  item: EvidenceRow;
  /** Stall cycles that fill the bar. */
  most: number;
  colour: string;
  producers: WaitsProducersRow[];
}

function CodeEvidence({ item, most, colour, producers }: EvidenceProps) {
  const share = most ? item.stall_cycles_total / most : 0;
  const shown = producers.slice(0, SHOWN_PRODUCERS);
  return (
    <li>
      <div class="evidence-line">
        {item.text ? <RowLink row={item.row} text={item.text} /> : null}
        <LineLink file={item.file} line={item.line} row={item.row} />
      </div>
      {item.stall_cycles_total ? (
        <div class="evidence-cost">
          <PartsBar parts={[{ share, colour }]} label={`${exact(item.stall_cycles_total)} cycles`} />
          <span title="Cycles lost at this instruction, over all its executions">
            {short(item.stall_cycles_total)} cycles
            {item.execution_count ? `, ${exact(item.execution_count)} times` : ""}
            {ofAll(item)}
          </span>
        </div>
      ) : null}
      {shown.map((producer) => (
        <div class="producer" key={`${producer.producer_row} ${producer.counter}`}>
          waits for <RowLink row={producer.producer_row} text={producer.producer_text} />{" "}
          <LineLink file={producer.producer_file} line={producer.producer_line} row={producer.producer_row} />{" "}
          <span class="faint-text">{earlier(producer)}</span>
        </div>
      ))}
      {producers.length > shown.length ? (
        <div class="producer faint-text">
          and {exact(producers.length - shown.length)} more: <ViewLink id="waits">dependencies</ViewLink>
        </div>
      ) : null}
      {producers.length === 0 && item.producers.length ? (
        <div class="producer faint-text">waits for {item.producers.join("; ")}</div>
      ) : null}
    </li>
  );
}

/** Where a finding is about a part of the stalls of an instruction, all of them, as other views show; else empty. */
function ofAll({ row, stall_cycles_total: stall, execution_count: executions }: EvidenceRow): string {
  const costs = costsNow();
  const [all, hits] = [costs?.stall[row] ?? 0, costs?.hits[row] ?? 0];
  if (all <= stall && hits <= executions) return "";
  return ` for this cause; in all ${short(all)} stall cycles, ${exact(hits)} times`;
}

/** How far ahead of its wait a producer was issued, and how much was missing; empty = neither is known. */
function earlier(producer: WaitsProducersRow): string {
  const parts: string[] = [];
  if (producer.distance_cycles_mean !== null)
    parts.push(`issued ${exact(producer.distance_cycles_mean)} cycles before`);
  if (producer.last_count && producer.last_stall_cycles_mean) {
    parts.push(`${exact(producer.last_stall_cycles_mean)} cycles too late`);
  }
  return parts.join(", ");
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
