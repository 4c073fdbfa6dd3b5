// PC samples: how often waves were found stalled, for which reason, and at which instructions.
import { exact, percent } from "../../base/format";
import { json } from "../../data/ask";
import { colourOf } from "../../draw/palette";
import type { Frame } from "../../model/answers";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { Answered } from "../../widgets/answered";
import { PartsBar } from "../../widgets/bars";
import { Definition, Figure, Section } from "../../widgets/cards";
import { type Column, tableOffer } from "../../widgets/data_table";
import { PlaceLink, RowLink } from "../../widgets/links";
import { SaveMenu } from "../../widgets/saving";
import { SmallTable } from "../../widgets/small_table";

interface SampledUnit {
  first_row: number;
  text: string;
  file: string | null;
  line: number | null;
  sample_count: number;
  issued_count: number;
  stalled_count: number;
  sample_share: number;
  reason: string | null;
  reason_count: number | null;
}

interface ReasonLine {
  reason: string;
  count: number;
  share: number;
}

interface SamplesAnswer {
  definition: string;
  sample_count: number;
  issued_count: number;
  stalled_count: number;
  units: Frame<SampledUnit>;
  reasons: Frame<ReasonLine>;
}

const UNITS: Column<SampledUnit>[] = [
  {
    name: "text",
    title: "Instruction",
    value: (u) => u.text,
    show: (u) => <RowLink row={u.first_row} text={u.text} />,
    width: "",
  },
  {
    name: "sample_count",
    title: "Samples",
    hint: "How often waves were found here",
    value: (u) => u.sample_count,
    width: "",
  },
  {
    name: "sample_share",
    title: "Share",
    hint: "Of all samples",
    value: (u) => u.sample_share,
    show: (u) => percent(u.sample_share),
    width: "",
  },
  {
    name: "issued_count",
    title: "Issued",
    hint: "Samples in which it was issued",
    value: (u) => u.issued_count,
    width: "",
  },
  {
    name: "stalled_count",
    title: "Stalled",
    hint: "Samples in which it was not",
    value: (u) => u.stalled_count,
    width: "",
  },
  {
    name: "reason",
    title: "Most for",
    hint: "Most frequent reason of its stalls",
    value: (u) => u.reason ?? "",
    width: "",
  },
  {
    name: "file",
    title: "Line",
    value: (u) => (u.file ? `${u.file}:${u.line}` : ""),
    show: (u) => <PlaceLink file={u.file} line={u.line} row={u.first_row} />,
    width: "",
  },
];

export function Samples() {
  const answer = useAnswer(json<SamplesAnswer>(current.value, "sample_hotspots"));
  return <Answered answer={answer}>{(value) => <Page answer={value} />}</Answered>;
}

function Page({ answer }: { answer: SamplesAnswer }) {
  const most = Math.max(1, ...answer.reasons.rows.map((line) => line.count));
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
            hint="Looks at what a wave is about to execute"
          />
          <Figure
            id="stalled"
            value={percent(answer.stalled_count / (answer.sample_count || 1))}
            name="stalled"
            hint="Samples in which the instruction was not issued"
          />
        </div>
        <Section title="Why they were stalled">
          <div class="reasons">
            {answer.reasons.rows.map((line) => (
              <div class="reason" key={line.reason} data-reason={line.reason}>
                <span>{line.reason}</span>
                <PartsBar
                  parts={[{ share: line.count / most, colour: colourOf("stall") }]}
                  label={`${exact(line.count)} samples`}
                />
                <span class="number">{exact(line.count)}</span>
                <span class="number">{percent(line.share)}</span>
              </div>
            ))}
          </div>
        </Section>
        <Section title="Where">
          <SmallTable
            label="Sampled instructions"
            columns={UNITS}
            rows={answer.units.rows}
            total={answer.units.row_count}
          />
        </Section>
        <Definition text={answer.definition} />
      </div>
    </div>
  );
}
