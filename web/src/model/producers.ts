// What the executions of a wave waited for: links between an operation and the wait that it ended.
import { arrow } from "../data/ask";
import type { Columns } from "../data/columns";
import { current } from "./document";
import { iterationOf, loadWave, type WaveData } from "./wave_data";

/** An execution in its wave. */
export interface Step {
  /** Among the instructions of the wave. */
  position: number;
  row: number;
  /** Which execution of the row in the wave, from 0. */
  iteration: number;
  time: number;
  /** When it was issued: after its stall. */
  issue: number;
  end: number;
}

export interface Link {
  producer: Step;
  wait: Step;
  /** The wait counter that tells when the producer is complete. */
  counter: string;
}

/** From the issue of what was awaited to the first attempt of the wait, as `waits` counts it. */
export const distanceOf = ({ producer, wait }: Link) => wait.time - producer.issue;

/** The links of an execution: to what it waited for if it is a wait, else to what waited for it; nearest first. */
export async function linksOf(wave: number, position: number): Promise<Link[]> {
  const document = current.peek();
  const [data, waits] = await Promise.all([loadWave(wave, document), arrow(document, "wave_waits", { wave }).answer()]);
  return linksAt(data, waits, position);
}

/** The same from the instructions of the wave and its answer to `wave_waits`; waits without a known producer have no link. */
export function linksAt(data: WaveData, waits: Columns, position: number): Link[] {
  const [waitPositions, producerPositions] = [waits.numbers("instruction"), waits.numbers("producer")];
  const counters = waits.texts("counter");
  const links: Link[] = [];
  for (let i = 0; i < waits.length; i++) {
    const [wait, producer] = [waitPositions[i] as number, producerPositions[i] as number];
    const isKnown = producer >= 0 && producer < data.count;
    if (!isKnown || (wait !== position && producer !== position)) continue;
    links.push({ producer: stepAt(data, producer), wait: stepAt(data, wait), counter: counters[i] as string });
  }
  return links.sort((a, b) => Math.abs(distanceOf(a)) - Math.abs(distanceOf(b)));
}

/** The execution that a record of the wave belongs to. */
export function stepAt(data: WaveData, position: number): Step {
  const time = data.time[position] as number;
  const stall = data.stall[position] as number;
  const duration = data.duration[position] as number;
  return {
    position,
    row: data.row[position] as number,
    iteration: iterationOf(data, position),
    time,
    issue: time + stall,
    end: time + Math.max(stall, duration),
  };
}
