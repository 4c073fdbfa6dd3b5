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

/**
 * Selects what a span stands for, and returns its execution: that of an instruction, or that with which a state starts.
 * Of other spans the wave is selected, and there is no execution.
 */
export async function selectSpan(span: Span): Promise<Execution | null> {
  const wave = waveUnder(span);
  try {
    const item = await itemOf(span, wave);
    if (item !== null) {
      const execution = await executionOf(item);
      if (execution) selectRow(execution.row, { wave: execution.wave.wave, iteration: execution.iteration });
      return execution;
    }
  } catch {
    // the wave cannot be read: it is selected without its execution
  }
  if (wave) selectWave(wave.wave);
  return null;
}

/** The item of the instruction that a span stands for; null = it stands for none. */
async function itemOf(span: Span, wave: Wave | undefined): Promise<number | null> {
  if (span.layer.name === "states" && wave) {
    return wave.firstInstruction + positionAt(await loadWave(wave.wave), span.begin);
  }
  return span.layer.name === "instructions" && span.item >= 0 ? span.item : null;
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
  const step = stepAt(await loadWave(wave.wave), position);
  const links = await linksOf(wave.wave, position).catch(() => []);
  return [
    textOf(row),
    `row ${row} · execution ${exact(iteration + 1)} · wave ${wave.wave}`,
    `stall ${exact(stall)} · duration ${exact(duration)} cycles`,
    ...linkLines(links, step),
  ];
}

export function labelOf(span: Span): string {
  if (span.layer.name !== "instructions" || span.item < 0) return kindName(span.layer, span.kind);
  const row = rowNow(span.item);
  return (row === undefined ? undefined : codeNow()?.mnemonic[row]) ?? kindName(span.layer, span.kind);
}

/** The position of the last instruction of a wave that started at a time or before; 0 = none did. */
function positionAt(data: WaveData, time: number): number {
  let position = 0;
  while (position + 1 < data.count && (data.time[position + 1] as number) <= time) position++;
  return position;
}
