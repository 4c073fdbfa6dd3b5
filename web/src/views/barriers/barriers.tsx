// Barriers: how long the waves of a workgroup waited for their last one, which one that was, and what it did before.
import { exact, percent, short } from "../../base/format";
import { ASKED, type BarriersAnswer, type BarriersLastWavesRow, type BarriersRow } from "../../data/answers.gen";
import { json } from "../../data/ask";
import { colourOf } from "../../draw/palette";
import { truncation } from "../../model/answers";
import { selectRow } from "../../model/code";
import { current, unlessUnknown } from "../../model/document";
import { ofKernel } from "../../model/kernels";
import { useAnswer } from "../../model/loaded";
import { selection } from "../../model/selection";
import type { View } from "../../model/view";
import { Answered, Nothing } from "../../widgets/answered";
import { Definition, Figure, Section } from "../../widgets/cards";
import { tableOffer } from "../../widgets/data_table";
import { KernelChooser } from "../../widgets/kernel_chooser";
import { SaveMenu } from "../../widgets/saving";
import { SmallTable } from "../../widgets/small_table";
import { CAUSES, ROWS } from "./columns";
import "./barriers.css";

function Barriers() {
  const answer = useAnswer(json<BarriersAnswer>(current.value, "barriers", ofKernel()));
  return (
    <Answered answer={answer} choose={<KernelChooser />}>
      {(value) => <Page answer={value} />}
    </Answered>
  );
}

function Page({ answer }: { answer: BarriersAnswer }) {
  const rows = answer.rows.rows;
  const chosen = rows.find((barrier) => barrier.row === selection.value.row) ?? rows[0];
  return (
    <div class="view">
      <div class="toolbar">
        <span>{exact(answer.rows.row_count)} barriers executed</span>
        <KernelChooser />
        <SaveMenu name="barriers" offers={[tableOffer(ROWS, () => rows)]} />
      </div>
      <div class="scroll">
        {chosen ? null : <Nothing>{unlessUnknown("No barrier was executed by the traced waves")}.</Nothing>}
        {chosen ? (
          <>
            <div class="figures">
              <Figure
                id="lost_share"
                value={percent(answer.lost_cycles_total / (answer.wave_cycles_total || 1))}
                name="of the waves' cycles lost"
                hint="Cycles that waves waited for the last one of their workgroup / cycles of all waves"
              />
              <Figure
                id="lost"
                value={short(answer.lost_cycles_total)}
                name="cycles lost"
                hint="Sum over all meetings"
              />
              <Figure
                id="workgroups"
                value={exact(answer.workgroup_count)}
                name="workgroups"
                hint="Waves of a CU that leave the same barriers together"
              />
              <Figure
                id="waves"
                value={answer.waves_per_workgroup.toFixed(1)}
                name="traced waves each"
                hint="Only traced waves count: on RDNA those of one SIMD"
              />
            </div>
            <SmallTable
              label="Barriers"
              columns={ROWS}
              rows={rows}
              total={answer.rows.row_count}
              isSelected={(barrier) => barrier.row === chosen.row}
              onSelect={(barrier) => selectRow(barrier.row)}
            />
            <Chosen barrier={chosen} answer={answer} />
          </>
        ) : null}
        <Definition text={answer.definition} />
      </div>
    </div>
  );
}

function Chosen({ barrier, answer }: { barrier: BarriersRow; answer: BarriersAnswer }) {
  const last = answer.last_waves.rows.filter((wave) => wave.row === barrier.row);
  const causes = answer.causes.rows.filter((cause) => cause.row === barrier.row);
  const cutNote = truncation(answer.last_waves.rows.length, answer.last_waves.row_count);
  return (
    <div class="barrier-more">
      <Section
        title={`Who comes last at row ${barrier.row}`}
        hint="Share of the meetings in which the wave of this slot was last"
      >
        {last.length ? <Places last={last} /> : <p class="faint-text">No meeting of two or more traced waves.</p>}
        {cutNote ? <p class="truncated">{cutNote} slots</p> : null}
      </Section>
      <Section title="Where the last waves spent more time than the others">
        {causes.length ? (
          <SmallTable label="Causes" columns={CAUSES} rows={causes} />
        ) : (
          <p class="faint-text">No instruction before this barrier took the last waves longer.</p>
        )}
      </Section>
    </div>
  );
}

/** Opacity of the shade of the most frequent place. */
const STRONGEST_SHADE = 0.55;

/** A table of SIMDs by slots, shaded by how often the wave of the place was last. */
function Places({ last }: { last: BarriersLastWavesRow[] }) {
  const simds = [...new Set(last.map((wave) => wave.simd))].sort((a, b) => a - b);
  const slots = [...new Set(last.map((wave) => wave.slot))].sort((a, b) => a - b);
  const largestShare = Math.max(...last.map((wave) => wave.last_share));
  const waveOf = (simd: number, slot: number) => last.find((wave) => wave.simd === simd && wave.slot === slot);
  return (
    <table class="places" aria-label="Who comes last">
      <thead>
        <tr>
          <th />
          {slots.map((slot) => (
            <th key={slot}>slot {slot}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {simds.map((simd) => (
          <tr key={simd}>
            <th>SIMD {simd}</th>
            {slots.map((slot) => {
              const wave = waveOf(simd, slot);
              const share = wave ? wave.last_share / largestShare : 0;
              return (
                <td
                  key={slot}
                  title={
                    wave
                      ? `last in ${exact(wave.last_count)} meetings, ${exact(wave.late_cycles_total)} cycles late`
                      : "never last"
                  }
                >
                  <div class="shade" style={{ background: colourOf("stall"), opacity: share * STRONGEST_SHADE }} />
                  <span>{wave ? percent(wave.last_share) : "–"}</span>
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export const barriers: View = {
  id: "barriers",
  title: "Barriers",
  hint: ASKED.barriers,
  about: "trace",
  time: "selected",
  missing: (overview) =>
    overview.kind === "trace" && overview.instruction_count ? "" : "no instruction was traced, so no barrier was seen",
  component: Barriers,
};
