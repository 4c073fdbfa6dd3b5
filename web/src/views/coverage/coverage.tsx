// Can I trust this trace? What was traced, on which paths the waves went, outliers, and every caveat.
import { exact, percent } from "../../base/format";
import { ASKED, type Caveat, type CoverageAnswer, type Trust } from "../../data/answers.gen";
import { json } from "../../data/ask";
import { colourOf } from "../../draw/palette";
import { CYCLES, LINES } from "../../model/answers";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import { selection } from "../../model/selection";
import type { View } from "../../model/view";
import { selectWave } from "../../model/waves";
import { Answered } from "../../widgets/answered";
import { PartsBar } from "../../widgets/bars";
import { Chip, Definition, Figure, Section } from "../../widgets/cards";
import { tableOffer } from "../../widgets/data_table";
import { SaveMenu } from "../../widgets/saving";
import { TableSection } from "../../widgets/table_section";
import { ENGINES, FUNCTIONS, OUTLIERS, PATHS } from "./columns";
import "./coverage.css";

function Coverage() {
  const caveats = useAnswer(json<Trust>(current.value, "caveats"));
  const covered = useAnswer(json<CoverageAnswer>(current.value, "coverage"));
  return (
    <Answered answer={covered}>
      {(answer) => (
        <div class="view">
          <div class="toolbar">
            <span>Can I trust this trace?</span>
            <SaveMenu name="wave_paths" offers={[tableOffer(PATHS, () => answer.paths.rows)]} />
          </div>
          <div class="scroll">
            <Answered answer={caveats}>{(trust) => <Verdicts trust={trust} />}</Answered>
            <Seen answer={answer} />
            <Definition text={answer.definition} />
          </div>
        </div>
      )}
    </Answered>
  );
}

function Verdicts({ trust }: { trust: Trust }) {
  const [cycles, lines] = [CYCLES[trust.cycles], LINES[trust.lines]];
  return (
    <>
      <Section title="Trace quality">
        <p class="verdict" data-field="cycles">
          <Chip tone={cycles?.tone ?? ""}>{trust.cycles}</Chip> {cycles?.means}
        </p>
        <Caveats caveats={trust.caveats_of_cycles} />
      </Section>
      <Section title="Source lines">
        <p class="verdict" data-field="lines">
          <Chip tone={lines?.tone ?? ""}>{trust.lines}</Chip> {lines?.means}
        </p>
        <Caveats caveats={trust.caveats_of_lines} />
      </Section>
    </>
  );
}

function Caveats({ caveats }: { caveats: Caveat[] }) {
  return (
    <ul class="caveat-list">
      {caveats.map((caveat) => (
        <li key={caveat.name} data-caveat={caveat.name}>
          <Chip tone={caveat.severity} title={SEVERITIES[caveat.severity] ?? ""}>
            {caveat.severity}
          </Chip>
          <div>
            {caveat.sentence}
            <div class="faint-text">{caveat.advice}</div>
          </div>
        </li>
      ))}
    </ul>
  );
}

const SEVERITIES: Record<string, string> = {
  fatal: "Do not draw conclusions",
  care: "Draw conclusions with caution",
  note: "Worth knowing",
};

function Seen({ answer }: { answer: CoverageAnswer }) {
  const seen = answer.wave_count ? "executed" : "sampled";
  return (
    <>
      <Figures answer={answer} />
      <PartsBar
        label={`${exact(answer.executed_row_count)} of ${exact(answer.entered_row_count)} instructions were ${seen}`}
        parts={[{ share: answer.executed_share, colour: colourOf("issue"), title: seen }]}
      />
      <p class="faint-text">
        {exact(answer.executed_row_count)} of {exact(answer.entered_row_count)} instructions of the entered functions
        were {seen}.
      </p>
      <Tables answer={answer} />
    </>
  );
}

function Figures({ answer }: { answer: CoverageAnswer }) {
  return (
    <div class="figures">
      <Figure
        id="executed"
        value={percent(answer.executed_share)}
        name="of the code executed"
        hint="Rows that at least one traced wave ran / rows of the functions that were entered"
      />
      <Figure
        id="waves"
        value={exact(answer.wave_count - answer.untraced_wave_count)}
        name="traced waves"
        hint="Waves whose instructions are known"
      />
      <Figure
        id="all_waves"
        value={exact(answer.all_wave_count)}
        name="waves on all CUs"
        hint="Waves that started on any CU of the traced shader engines (occupancy events)"
      />
      {answer.is_same_short_path ? (
        <Figure
          id="early"
          value={`all ${exact(answer.wave_count)}`}
          name="took the same short path"
          hint="None left earlier than the others, yet none did the work of the kernel"
        />
      ) : (
        <Figure
          id="early"
          value={exact(answer.early_exit_wave_count)}
          name="left early"
          hint="Waves that ended after a small part of the rows, instructions and cycles of the fullest path"
        />
      )}
      <Figure
        id="incomplete"
        value={exact(answer.incomplete_wave_count)}
        name="incomplete"
        hint="Waves whose last part is missing"
      />
    </div>
  );
}

function Tables({ answer }: { answer: CoverageAnswer }) {
  const noOutlier = answer.wave_count
    ? "None: the waves of each path take a similar number of cycles per instruction."
    : "No traced wave, so no outlier.";
  return (
    <>
      <TableSection
        title="Shader engines"
        columns={ENGINES}
        table={answer.engines}
        nothing="No shader engine has traced waves."
      />
      <TableSection
        title="Paths of the waves"
        hint="Waves that ran the same set of instructions took the same path"
        label="Paths"
        columns={PATHS}
        table={answer.paths}
        nothing="No traced wave, so no path."
        isSelected={(path) => path.first_wave === selection.value.wave}
        onSelect={(path) => selectWave(path.first_wave)}
      />
      <TableSection
        title="Outliers"
        hint="Waves that need far more or fewer cycles per instruction than others on their path"
        columns={OUTLIERS}
        table={answer.outliers}
        nothing={noOutlier}
        isSelected={(outlier) => outlier.wave === selection.value.wave}
        onSelect={(outlier) => selectWave(outlier.wave)}
      />
      <TableSection title="Functions" columns={FUNCTIONS} table={answer.functions} nothing="No function was entered." />
    </>
  );
}

export const coverage: View = {
  id: "coverage",
  title: "Coverage",
  hint: ASKED.coverage,
  about: "trace",
  time: "whole",
  missing: () => "",
  component: Coverage,
};
