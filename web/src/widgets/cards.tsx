// Pages of text and figures: sections, chips, definitions.
import type { ComponentChildren } from "preact";
import "./cards.css";

export function Section({ title, hint, children }: { title: string; hint?: string; children: ComponentChildren }) {
  return (
    <section class="section">
      <h3 title={hint}>{title}</h3>
      {children}
    </section>
  );
}

export function Chip({ tone, title, children }: { tone: string; title?: string; children: ComponentChildren }) {
  return (
    <span class={`chip ${tone}`} title={title}>
      {children}
    </span>
  );
}

interface FigureProps {
  value: string;
  name: string;
  hint: string;
  id: string;
  /** What it was in the baseline: a `Delta`. */
  change?: ComponentChildren;
}

/** One figure with its name below it. */
export function Figure({ value, name, hint, id, change }: FigureProps) {
  return (
    <div class="figure" title={hint} data-figure={id}>
      <strong>{value}</strong>
      <span>{name}</span>
      {change}
    </div>
  );
}

/** How the numbers of a view are made. */
export function Definition({ text }: { text: string }) {
  return (
    <details class="definition">
      <summary>How these numbers are computed</summary>
      <p>{text}</p>
    </details>
  );
}
