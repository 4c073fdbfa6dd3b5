// What was recorded of the thing behind a span of a trace's timeline: a wave, an event, a marker, a value.
import { exact } from "../base/format";
import { askJson } from "../data/ask";
import { current } from "../model/document";
import type { Span } from "../model/layers";

/** The question about the items of a layer. */
const QUESTIONS: Record<string, string> = {
  waves: "resident_wave",
  events: "event",
  markers: "marker",
  shader_data: "shader_value",
};

const plain = (name: string) => (value: unknown) => `${name} ${value}`;

/** In the order of display; what an answer does not have is left out. */
const FACTS: [field: string, text: (value: unknown) => string][] = [
  ["value", plain("value")],
  ["location", plain("at")],
  ["me", plain("ME")],
  ["pipe", plain("pipe")],
  ["workgroup", plain("workgroup")],
  ["cluster", plain("cluster")],
  ["vgprs", (value) => `${value} VGPRs`],
  ["agprs", (value) => `${value} AGPRs`],
  ["sgprs", (value) => `${value} SGPRs`],
  ["lds_bytes", (value) => `LDS ${exact(Number(value))} bytes`],
  ["code_object", plain("code object")],
  ["address", plain("entry")],
];

/** Lines for a tooltip. */
export async function factsOf(span: Span): Promise<string[]> {
  const question = QUESTIONS[span.layer.tracks_of ?? span.layer.name];
  if (!question || span.item < 0) return [];
  const item = await askJson<Record<string, unknown>>(current.value, question, { item: span.item });
  const isKnown = (field: string) => item[field] !== null && item[field] !== undefined;
  const facts = FACTS.filter(([field]) => isKnown(field)).map(([field, text]) => text(item[field]));
  if (isKnown("workgroup_size_x")) {
    const sizes = ["x", "y", "z"].map((axis) => item[`workgroup_size_${axis}`] ?? 1);
    facts.push(`workgroups of ${sizes.join(" × ")}`);
  }
  const name = span.layer.name === "events" && item.kernel_name ? [String(item.kernel_name).slice(0, 256)] : [];
  return [...name, ...(facts.length ? [facts.join(" · ")] : [])];
}
