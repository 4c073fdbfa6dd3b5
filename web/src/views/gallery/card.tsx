// One document of the gallery as a card: its picture, its figures and its first finding, which arrive one after the other.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { exact, nanoseconds, percent, short } from "../../base/format";
import type { DocumentLine } from "../../data/ask";
import { colourOf, paper, seriesColour } from "../../draw/palette";
import { current } from "../../model/document";
import { type CardFacts, cardOf } from "../../model/gallery";

/** Name of a figure of a card -> how it is written. */
export const FIGURES: Record<string, { title: string; show: (value: number) => string; hint: string }> = {
  cycles: { title: "cycles", show: exact, hint: "From the first start to the last end of a traced wave" },
  waves: { title: "waves", show: exact, hint: "Traced waves" },
  instructions: { title: "instructions", show: exact, hint: "Traced instructions" },
  duration_ns: { title: "", show: nanoseconds, hint: "Duration of the run; of counters: of all kernels" },
  processes: { title: "processes", show: exact, hint: "Processes of the run" },
  gpus: { title: "GPUs", show: exact, hint: "GPUs of the run" },
  kernels: { title: "kernels", show: exact, hint: "Kernels with counters" },
  dispatches: { title: "dispatches", show: exact, hint: "Dispatches" },
  counters: { title: "counters", show: exact, hint: "Hardware counters" },
};
/** Up to two documents to compare, the first is the baseline; they stay marked while the view is closed. */
export const marked = signal<number[]>([]);

/** Tells whether the card of a document is on screen. */
export type Notice = (number: number, isSeen: boolean) => void;

export function DocumentCard({ line, notice }: { line: DocumentLine; notice: Notice }) {
  const place = useRef<HTMLLIElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      notice(line.number, entries.at(-1)?.isIntersecting ?? false);
    });
    if (place.current) observer.observe(place.current);
    return () => {
      observer.disconnect();
      notice(line.number, false);
    };
  }, [line.number]);
  const { facts, problem } = cardOf(line.number).value;
  const isMarked = marked.value.includes(line.number);
  // A third one takes the place of the first.
  const mark = () => {
    marked.value = isMarked ? marked.value.filter((n) => n !== line.number) : [...marked.value, line.number].slice(-2);
  };
  const isCurrent = line.number === current.value;
  return (
    <li ref={place} class={`gallery-card${isCurrent ? " is-current" : ""}`} data-card={line.number}>
      <div class="gallery-head">
        <a href={`#document=${line.number}`} title={line.path} aria-current={isCurrent ? "true" : undefined}>
          {line.label}
        </a>
        <label title="Mark two to compare them">
          <input type="checkbox" checked={isMarked} onChange={mark} aria-label={`Compare ${line.label}`} />
          {isMarked ? (marked.value[0] === line.number && marked.value.length > 1 ? "baseline" : "compare") : ""}
        </label>
      </div>
      {facts ? <Facts facts={facts} /> : <div class="gallery-picture" aria-busy={!problem} />}
      {problem ? <p class="gallery-problem">cannot be read: {problem.what}</p> : null}
      <Finding line={line} />
    </li>
  );
}

function Facts({ facts }: { facts: CardFacts }) {
  const figures = Object.entries(facts.figures).filter(([name, value]) => FIGURES[name] && value !== null);
  return (
    <>
      <Picture {...facts.picture} />
      <p class="gallery-title" title={facts.title}>
        {facts.title || "unknown kernel"}
      </p>
      <p class="gallery-figures">
        {figures.map(([name, value]) => (
          <span key={name} data-figure={name} title={FIGURES[name]?.hint}>
            {FIGURES[name]?.show(value as number)} {FIGURES[name]?.title}
          </span>
        ))}
        {facts.target ? <span>{facts.target}</span> : null}
        {facts.loss_count ? (
          <span class="gallery-loss" title={facts.loss} data-figure="losses">
            ⚠ {exact(facts.loss_count)} {facts.loss_count === 1 ? "loss" : "losses"}
          </span>
        ) : null}
      </p>
    </>
  );
}

function Finding({ line }: { line: DocumentLine }) {
  const { facts, finding, problem } = cardOf(line.number).value;
  if (problem) return null;
  if (!finding) return <p class="faint-text">{facts ? "diagnosis follows…" : "reading…"}</p>;
  const gain = finding.gain_share_max ? ` (gain at most ${percent(finding.gain_share_max)})` : "";
  return (
    <p class="gallery-finding" title={finding.reason} data-figure="finding">
      {finding.verdict ? finding.verdict + gain : "the diagnosis found nothing"}
    </p>
  );
}

/** Units of the picture; on screen it is as wide as the card. */
const WIDTH = 240;
const HEIGHT = 48;

/** A curve of values over time, or a bar for each of the longest kernels, of which the first stands out. */
function Picture({ what, form, values }: CardFacts["picture"]) {
  const most = Math.max(...values, 0);
  const y = (value: number) => (most ? HEIGHT - 2 - (value / most) * (HEIGHT - 4) : HEIGHT);
  const step = WIDTH / Math.max(values.length, 1);
  const outline = values.map((value, at) => `L${(at * step).toFixed(1)},${y(value).toFixed(1)}h${step.toFixed(1)}`);
  const fill = seriesColour(0);
  const label = `${what}: most ${most <= 1 ? percent(most) : short(most)}`;
  return (
    <svg
      class="gallery-picture"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {form === "curve" ? (
        <path d={`M0,${HEIGHT}${outline.join("")}L${WIDTH},${HEIGHT}Z`} fill={fill} fill-opacity="0.75" />
      ) : (
        values.map((value, at) => (
          <rect
            key={`${at} ${value}`}
            x={at * step + 1}
            y={y(value)}
            width={Math.max(step - 2, 1)}
            height={HEIGHT - y(value)}
            fill={at ? colourOf("hidden") : fill}
          />
        ))
      )}
      <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} stroke={paper("line")} />
    </svg>
  );
}
