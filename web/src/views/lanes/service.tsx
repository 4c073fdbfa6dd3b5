// One memory instruction: what its lanes cost, how far that is known, and how they are served.
import { useSignal } from "@preact/signals";
import { exact, percent } from "../../base/format";
import type { LaneServiceAnswer, LaneServicePatternsRow, LanesAnswer, LanesRow } from "../../data/answers.gen";
import { json } from "../../data/ask";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { Answered, Nothing } from "../../widgets/answered";
import { LineLink, RowLink } from "../../widgets/links";
import { PatternGrid } from "./grids";
import { costSentence, knownWords, reasonWords } from "./words";

export function Service({ row, lanes }: { row: LanesRow; lanes: LanesAnswer }) {
  const answer = useAnswer(
    row.known_count ? json<LaneServiceAnswer>(current.value, "lane_service", { row: row.row }) : null,
  );
  const reasons = lanes.reasons.rows.filter((reason) => reason.row === row.row);
  const loaded = answer.value;
  return (
    <section class="lane-service" aria-label={`Lanes of row ${row.row}`} data-lanes-of={row.row}>
      <h3>
        <span class="faint">{row.row}</span> <RowLink row={row.row} text={row.text} />{" "}
        <LineLink file={row.file} line={row.line} row={row.row} />
      </h3>
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
  const facts: [id: string, name: string, words: string][] = [
    ["executions", "Executions", exact(row.execution_count)],
    ["active", "Active lanes", share === null ? "not known" : `${percent(share)} of ${lanes.lane_count}`],
    ["known", "Known", knownWords(row)],
    ["rule", "Rule", row.confidence ?? "none"],
    ["assumes", "Assumes", row.assumes || (row.known_count ? "nothing" : "–")],
  ];
  return (
    <dl class="lane-facts">
      {facts.map(([id, name, words]) => (
        <div key={id}>
          <dt>{name}</dt>
          <dd data-fact={id} title={id === "rule" ? evidence : words}>
            {words}
          </dd>
        </div>
      ))}
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
      <PatternGrid answer={answer} pattern={pattern.pattern} label={`${name}: ${patternWords(pattern)}`} />
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
