// PC samples: how often waves were found stalled, for which reason, and at which instructions.
import { exact, percent } from "../../base/format";
import { SAMPLE_HOTSPOTS_UNITS, type SampleHotspotsAnswer, type SampleHotspotsUnitsRow } from "../../data/answers.gen";
import { json } from "../../data/ask";
import { colourOf } from "../../draw/palette";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { Answered } from "../../widgets/answered";
import { PartsBar } from "../../widgets/bars";
import { Definition, Figure, Section } from "../../widgets/cards";
import { instructionColumn, lineColumn } from "../../widgets/code_columns";
import { tableOffer } from "../../widgets/data_table";
import { figureColumns } from "../../widgets/figure_columns";
import { SaveMenu } from "../../widgets/saving";
import { SmallTable } from "../../widgets/small_table";

const UNITS = figureColumns<SampleHotspotsUnitsRow>(SAMPLE_HOTSPOTS_UNITS, [
  instructionColumn("Instruction", (unit) => unit.first_row),
  ["sample_count", "Samples"],
  ["sample_share", "Share"],
  ["issued_count", "Issued"],
  ["stalled_count", "Stalled"],
  ["reason", "Main reason"],
  lineColumn((unit) => unit.first_row),
]);

/** Columns that samples of a host trap lack: they do not tell whether the instruction was issued. */
const ISSUE = new Set(["issued_count", "stalled_count", "reason"]);

export function Samples() {
  const answer = useAnswer(json<SampleHotspotsAnswer>(current.value, "sample_hotspots"));
  return <Answered answer={answer}>{(value) => <Page answer={value} />}</Answered>;
}

function Page({ answer }: { answer: SampleHotspotsAnswer }) {
  /** Samples that tell whether the instruction was issued. */
  const toldCount = answer.sample_count - answer.unknown_count;
  const largestCount = Math.max(1, ...answer.reasons.rows.map((line) => line.count));
  return (
    <div class="view">
      <div class="toolbar">
        <span>PC samples: what waves were found doing</span>
        <SaveMenu name="samples" offers={[tableOffer(UNITS, () => answer.units.rows)]} />
      </div>
      <div class="scroll">
        <div class="figures">
          <Figure
            id="samples"
            value={exact(answer.sample_count)}
            name="samples"
            hint="Each sample records what a wave is about to execute"
          />
          {toldCount ? (
            <Figure
              id="stalled"
              value={percent(answer.stalled_count / toldCount)}
              name="stalled"
              hint="Samples in which the instruction was not issued"
            />
          ) : null}
        </div>
        {toldCount ? null : (
          <p class="headline">Host-trap samples tell where waves were, not whether they issued or stalled.</p>
        )}
        {toldCount ? (
          <Section title="Why they were stalled">
            <div class="reasons">
              {answer.reasons.rows.map((line) => (
                <div class="reason" key={line.reason} data-reason={line.reason}>
                  <span>{line.reason}</span>
                  <PartsBar
                    parts={[{ share: line.count / largestCount, colour: colourOf("stall") }]}
                    label={`${exact(line.count)} samples`}
                  />
                  <span class="number">{exact(line.count)}</span>
                  <span class="number">{percent(line.share)}</span>
                </div>
              ))}
            </div>
          </Section>
        ) : null}
        <Section title="Where">
          <SmallTable
            label="Sampled instructions"
            columns={toldCount ? UNITS : UNITS.filter((column) => !ISSUE.has(column.name))}
            rows={answer.units.rows}
            total={answer.units.row_count}
          />
        </Section>
        <Definition text={answer.definition} />
      </div>
    </div>
  );
}
