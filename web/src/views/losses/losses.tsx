// Everything that is missing or damaged in this document, where, and what to do about it.
import { exact } from "../../base/format";
import { type LossLine, overview } from "../../model/document";
import { show } from "../../model/timewindow";
import type { View } from "../../model/view";
import { Nothing } from "../../widgets/answered";
import { Chip } from "../../widgets/cards";
import { type Column, tableOffer } from "../../widgets/data_table";
import { SaveMenu } from "../../widgets/saving";
import "./losses.css";

const COLUMNS: Column<LossLine>[] = [
  { name: "kind", title: "Kind", value: (loss) => loss.kind, width: "" },
  { name: "is_damage", title: "Damage", value: (loss) => String(loss.is_damage), width: "" },
  { name: "count", title: "Count", value: (loss) => loss.count, width: "" },
  { name: "se", title: "SE", value: (loss) => loss.se ?? null, width: "" },
  { name: "time_cycles", title: "Time", value: (loss) => loss.time_cycles ?? null, width: "" },
  { name: "byte_offset", title: "Byte", value: (loss) => loss.byte_offset ?? null, width: "" },
  { name: "message", title: "Message", value: (loss) => loss.message, width: "" },
  { name: "advice", title: "Advice", value: (loss) => loss.advice, width: "" },
];

/** Cycles around a loss that are shown when its time is clicked. */
const AROUND = 2000;

function Losses() {
  const losses = [...(overview.value?.losses ?? [])].sort((a, b) => Number(b.is_damage) - Number(a.is_damage));
  const damageCount = losses.filter((loss) => loss.is_damage).length;
  return (
    <div class="view">
      <div class="toolbar">
        <span>
          {exact(losses.length)} {losses.length === 1 ? "loss" : "losses"}, {exact(damageCount)} of them damage
        </span>
        <SaveMenu name="losses" offers={[tableOffer(COLUMNS, () => losses)]} />
      </div>
      <div class="scroll">
        {losses.length === 0 ? <Nothing>Nothing is missing: everything in the files was understood.</Nothing> : null}
        {losses.map((loss, number) => (
          <article key={`${number} ${loss.kind}`} class="loss" data-loss={loss.kind}>
            <header>
              {loss.is_damage ? (
                <Chip tone="bad" title="The data is incomplete or wrong here">
                  damage
                </Chip>
              ) : (
                <Chip tone="" title="Worth knowing; the numbers are not affected">
                  note
                </Chip>
              )}
              <b>{loss.message}</b>
            </header>
            <p class="faint-text">
              <code>{loss.kind}</code> ·{" "}
              {loss.count === 1 ? "once" : `${exact(loss.count)} ${loss.counted_in ?? "times"}`}
              <Where loss={loss} />
            </p>
            {loss.advice ? <p>What to do: {loss.advice}</p> : null}
          </article>
        ))}
      </div>
    </div>
  );
}

/** The shader engine, time and byte of a loss, as far as they are known. */
function Where({ loss }: { loss: LossLine }) {
  const facts = overview.value;
  const { se, time_cycles: time, byte_offset: offset } = loss;
  // Losses have the time of their shader engine, timelines the aligned clock.
  const offsets = facts?.kind === "trace" ? facts.clocks.offsets : {};
  const aligned = typeof time === "number" ? time + (offsets[String(se)] ?? 0) : null;
  return (
    <>
      {se !== null && se !== undefined ? ` · shader engine ${se}` : ""}
      {aligned !== null ? (
        <>
          {" · "}
          <button
            type="button"
            class="link"
            title="Show this time in the timelines"
            onClick={() => show({ begin: aligned - AROUND, end: aligned + AROUND })}
          >
            cycle {exact(aligned)}
          </button>
        </>
      ) : null}
      {typeof offset === "number" ? ` · byte ${exact(offset)} of the file` : ""}
    </>
  );
}

const hint = "Everything that is missing or damaged in the files, where, and what to do about it";

export const losses: View = {
  id: "losses",
  title: "Losses",
  hint,
  about: "trace",
  missing: () => "",
  component: Losses,
};

export const runLosses: View = { ...losses, id: "run_losses", about: "run" };
export const counterLosses: View = { ...losses, id: "counter_losses", about: "counters" };
export const storeLosses: View = { ...losses, id: "store_losses", about: "store" };
