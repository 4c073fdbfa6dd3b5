// One memory instruction: what its lanes cost, how far that is known, and how they are served.
import { useSignal } from "@preact/signals";
import { exact, percent } from "../../base/format";
import type { LaneServiceAnswer, LaneServicePatternsRow, LanesAnswer, LanesRow } from "../../data/answers.gen";
import { json } from "../../data/ask";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { Answered, Nothing } from "../../widgets/answered";
import { LineLink, RowLink } from "../../widgets/links";
import { csv, SaveMenu } from "../../widgets/saving";
import { BankGrid, SegmentGrid } from "./grids";
import { costSentence, knownWords, reasonWords } from "./words";

export function Service({ row, lanes }: { row: LanesRow; lanes: LanesAnswer }) {
  const answer = useAnswer(
    row.known_count ? json<LaneServiceAnswer>(current.value, "lane_service", { row: row.row }) : null,
  );
  const reasons = lanes.reasons.rows.filter((reason) => reason.row === row.row);
  const loaded = answer.value;
  return (
    <section class="lane-service" aria-label={`Lanes of row ${row.row}`} data-lanes-of={row.row}>
      <div class="lane-service-head">
        <h3>
          <span class="faint">{row.row}</span> <RowLink row={row.row} text={row.text} />{" "}
          <LineLink file={row.file} line={row.line} row={row.row} />
        </h3>
        {row.known_count ? (
          <SaveMenu
            name={`lanes_of_row_${row.row}`}
            offers={[{ format: "csv", make: () => (loaded.state === "ready" ? cellsCsv(loaded.value) : "") }]}
          />
        ) : null}
      </div>
      <p class="lane-cost" data-cost>
        {costSentence(row, lanes.segment_bytes)}
      </p>
      <Facts row={row} lanes={lanes} evidence={loaded.state === "ready" ? loaded.value.evidence : ""} />
      {reasons.length ? (
        <div class="lane-reasons">
          Not known:
          <ul>
            {reasons.map((reason) => (
              <li key={`${reason.reason} ${reason.is_cost}`}>{reasonWords(reason)}</li>
            ))}
          </ul>
        </div>
      ) : null}
      {row.known_count ? <Answered answer={answer}>{(value) => <Accesses answer={value} />}</Answered> : null}
    </section>
  );
}

function Facts({ row, lanes, evidence }: { row: LanesRow; lanes: LanesAnswer; evidence: string }) {
  const share = row.active_lane_share;
  const active = share === null ? "not known" : `${percent(share)} of ${lanes.lane_count}`;
  return (
    <dl class="lane-facts">
      <div>
        <dt>Executions</dt>
        <dd data-fact="executions">{exact(row.execution_count)}</dd>
      </div>
      <div>
        <dt>Active lanes</dt>
        <dd data-fact="active">{active}</dd>
      </div>
      <div>
        <dt>Known</dt>
        <dd data-fact="known">{knownWords(row)}</dd>
      </div>
      <div>
        <dt>Rule</dt>
        <dd data-fact="rule" title={evidence}>
          {row.confidence ?? "none"}
        </dd>
      </div>
      <div>
        <dt>Assumes</dt>
        <dd data-fact="assumes">{row.assumes || (row.known_count ? "nothing" : "–")}</dd>
      </div>
    </dl>
  );
}

/** The accesses of the instruction: one, or two of read2 and write2. */
function Accesses({ answer }: { answer: LaneServiceAnswer }) {
  if (answer.problem) return <Nothing>Not drawn: {answer.problem}.</Nothing>;
  const places = [...new Set(answer.patterns.rows.map((pattern) => pattern.place))];
  return (
    <>
      <Legend isLds={answer.banks !== null} />
      {places.map((place) => (
        <Access key={`${answer.row} ${place}`} answer={answer} place={place} isOnly={places.length === 1} />
      ))}
      <p class="lane-definition">{answer.definition}</p>
    </>
  );
}

function Access({ answer, place, isOnly }: { answer: LaneServiceAnswer; place: number; isOnly: boolean }) {
  const patterns = answer.patterns.rows.filter((pattern) => pattern.place === place);
  const chosen = useSignal(0);
  const pattern = patterns[chosen.value] ?? patterns[0];
  if (!pattern) return null;
  const name = isOnly ? "Lanes" : place === 0 ? "First access" : "Second access";
  const Grid = answer.banks === null ? SegmentGrid : BankGrid;
  return (
    <div class="lane-access" data-access={place}>
      <div class="lane-access-head">
        {isOnly ? null : <h4>{name}</h4>}
        {patterns.length > 1 ? (
          <label>
            Pattern{" "}
            <select
              data-pattern
              value={chosen.value}
              onChange={(event) => {
                chosen.value = Number(event.currentTarget.value);
              }}
            >
              {patterns.map((each, number) => (
                <option key={each.pattern} value={number}>
                  {number + 1} of {patterns.length}: {patternWords(each)}
                </option>
              ))}
            </select>
          </label>
        ) : (
          <span>{patternWords(pattern)}</span>
        )}
      </div>
      <Grid answer={answer} pattern={pattern.pattern} label={`${name}: ${patternWords(pattern)}`} />
    </div>
  );
}

function patternWords(pattern: LaneServicePatternsRow): string {
  const cost =
    pattern.extra_cycles === null
      ? `${pattern.segment_count} segments, least ${pattern.least_segment_count}`
      : `${pattern.ideal_cycles} + ${pattern.extra_cycles} cycles`;
  return `${cost}, ${exact(pattern.active_lane_count)} active lanes, ${percent(pattern.share)} of the executions`;
}

function Legend({ isLds }: { isLds: boolean }) {
  return isLds ? (
    <p class="lane-legend">
      <i class="wanted" /> lanes want one dword of the bank <i class="collides" /> ×n: they want n different dwords{" "}
      <i class="collides most" /> the fullest bank, which decides the cycles of the phase
    </p>
  ) : (
    <p class="lane-legend">
      <i class="segment" style={{ "--heat": "0" }} /> every byte of the segment is used{" "}
      <i class="segment" style={{ "--heat": "1" }} /> hardly any
    </p>
  );
}

function cellsCsv(answer: LaneServiceAnswer): string {
  return answer.banks === null
    ? csv(
        ["pattern", "group", "offset_bytes", "lanes", "used_bytes"],
        answer.segment_cells.rows.map((c) => [c.pattern, c.group, c.offset_bytes, c.lanes.join(" "), c.used_bytes]),
      )
    : csv(
        ["pattern", "phase", "first_bank", "lanes", "dword_count"],
        answer.bank_cells.rows.map((c) => [c.pattern, c.phase, c.first_bank, c.lanes.join(" "), c.dword_count]),
      );
}
