// What a span of the compute unit stands for: an execution, a state of a wave, or a wave.
import { exact } from "../../base/format";
import { kindName } from "../../draw/timeline_spans";
import { codeNow, selectRow, textOf } from "../../model/code";
import { type Execution, executionOf, rowNow } from "../../model/executions";
import type { Span, Track } from "../../model/layers";
import { linksOf, stepAt } from "../../model/producers";
import { preview } from "../../model/selection";
import { slotOf, waveAt } from "../../model/slots";
import { loadWave, type WaveData } from "../../model/wave_data";
import { selectWave, type Wave } from "../../model/waves";
import { factsOf } from "../../widgets/span_facts";
import { linkLines } from "./linked";

function trackAt(span: Span): Track {
  return span.layer.tracks[span.track] ?? { track: span.track, label: "" };
}

const waveUnder = (span: Span): Wave | undefined => waveAt(slotOf(trackAt(span)), span.begin);

/** Selects what is under the pointer; gives the execution, if it is one. */
export async function selectSpan(span: Span): Promise<Execution | null> {
  const wave = waveUnder(span);
  const isState = span.layer.name === "states" && wave !== undefined;
  // A state stands for the instruction with which it starts.
  const itemOf = async () =>
    isState ? wave.firstInstruction + positionAt(await loadWave(wave.wave), span.begin) : span.item;
  if (isState || (span.layer.name === "instructions" && span.item >= 0)) {
    try {
      const execution = await executionOf(await itemOf());
      if (execution) selectRow(execution.row, { wave: execution.wave.wave, iteration: execution.iteration });
      return execution;
    } catch {
      // the wave cannot be read: it is selected without its execution
    }
  }
  if (wave) selectWave(wave.wave);
  return null;
}

export function previewSpan(span: Span | null): void {
  const wave = span ? waveUnder(span) : undefined;
  preview.value = wave ? { wave: wave.wave } : {};
}

export async function tooltipOf(span: Span): Promise<string[]> {
  if (span.layer.name !== "instructions") return factsOf(span);
  const execution = await executionOf(span.item);
  if (!execution) return [];
  const { wave, row, iteration, stall, duration, position } = execution;
  // The pointer may have gone on while the wave came.
  if (preview.peek().wave === wave.wave) preview.value = { wave: wave.wave, row, iteration };
  const at = stepAt(await loadWave(wave.wave), position);
  const links = await linksOf(wave.wave, position).catch(() => []);
  return [
    textOf(row),
    `row ${row} · execution ${exact(iteration + 1)} · wave ${wave.wave}`,
    `stall ${exact(stall)} · duration ${exact(duration)} cycles`,
    ...linkLines(links, at),
  ];
}

export function labelOf(span: Span): string {
  if (span.layer.name !== "instructions" || span.item < 0) return kindName(span.layer, span.kind);
  const row = rowNow(span.item);
  return (row === undefined ? undefined : codeNow()?.mnemonic[row]) ?? kindName(span.layer, span.kind);
}

/** The last instruction of a wave that was there at a time. */
function positionAt(data: WaveData, time: number): number {
  let position = 0;
  while (position + 1 < data.count && (data.time[position + 1] as number) <= time) position++;
  return position;
}
