// All documents of the page as cards: picture, figures, first finding. A click opens one, two marked ones are compared.
import { type Signal, signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { exact, nanoseconds, percent, short } from "../../base/format";
import type { DocumentLine } from "../../data/ask";
import { colourOf, paper, seriesColour } from "../../draw/palette";
import { current, documents, type Overview } from "../../model/document";
import { type CardFacts, cardOf, cardTurn, fillCards } from "../../model/gallery";
import type { View } from "../../model/view";
import { Nothing } from "../../widgets/answered";
import { type Column, tableOffer } from "../../widgets/data_table";
import { SaveMenu } from "../../widgets/saving";
import "./gallery.css";

/** Name of a figure of a card -> how it is written. */
const FIGURES: Record<string, { title: string; show: (value: number) => string; hint: string }> = {
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
/** Orders of the cards, and what they are called: as opened, by kernel, or by a figure. */
const SORT_NAMES = {
  order: "as opened",
  name: "kernel",
  cycles: "cycles",
  waves: "waves",
  instructions: "instructions",
  duration_ns: "duration",
  dispatches: "dispatches",
};
type Sort = keyof typeof SORT_NAMES;
/** Kind of documents -> the view that compares two of them. */
const COMPARE: Record<Overview["kind"], string> = {
  trace: "compare",
  run: "run_compare",
  counters: "counter_compare",
  store: "trends",
};

/** Up to two documents to compare, the first is the baseline; they stay marked while the view is closed. */
const marked = signal<number[]>([]);

const factsOf = (line: DocumentLine) => cardOf(line.number).value.facts;

function Gallery() {
  const filter = useSignal("");
  const sort = useSignal<Sort>("order");
  const notice = useSeenCards();
  void cardTurn.value; // drawn again when facts of a card arrive
  const lines = sorted(documents.value.filter(matching(filter.value)), sort.value);
  return (
    <div class="view">
      <div class="toolbar gallery-bar">
        <span>{exact(documents.value.length)} documents</span>
        <input
          type="search"
          aria-label="Filter"
          placeholder="kernel, label or finding"
          value={filter.value}
          onInput={(event) => (filter.value = event.currentTarget.value)}
        />
        <SortSelect sort={sort} />
        <CompareMarked />
        <SaveMenu name="gallery" offers={[tableOffer(COLUMNS, () => lines)]} />
      </div>
      <div class="scroll">
        <ul class="gallery" aria-label="Documents">
          {lines.map((line) => (
            <OneCard key={line.number} line={line} notice={notice} />
          ))}
        </ul>
        {lines.length ? null : <Nothing>No document matches.</Nothing>}
      </div>
    </div>
  );
}

/** Tells whether the card of a document is on screen. */
type Notice = (number: number, isSeen: boolean) => void;

/** Fills the cards that are on screen, which call what this returns; none is filled after the view was closed. */
function useSeenCards(): Notice {
  const seen = useRef(new Set<number>());
  useEffect(() => {
    const { current: numbers } = seen;
    return () => numbers.clear();
  }, []);
  return (number, isSeen) => {
    if (isSeen) seen.current.add(number);
    else seen.current.delete(number);
    void fillCards(() => seen.current);
  };
}

/** Orders by a figure are offered where a document has it. */
function SortSelect({ sort }: { sort: Signal<Sort> }) {
  const present = new Set(documents.value.flatMap((line) => Object.keys(factsOf(line)?.figures ?? {})));
  const names = Object.keys(SORT_NAMES) as Sort[];
  return (
    <label>
      sort by{" "}
      <select value={sort.value} onChange={(event) => (sort.value = event.currentTarget.value as Sort)}>
        {names
          .filter((name) => name === "order" || name === "name" || present.has(name))
          .map((name) => (
            <option key={name} value={name}>
              {SORT_NAMES[name]}
            </option>
          ))}
      </select>
    </label>
  );
}

function CompareMarked() {
  const [base, other] = marked.value.map((number) => documents.value[number]);
  const kinds = [base, other].map((line) => line && (factsOf(line)?.kind ?? line.kind));
  const isPair = base && other && kinds[0] && kinds[0] === kinds[1];
  const hint = "Mark two documents of one kind: the first is the baseline";
  if (!isPair) {
    return (
      <button type="button" disabled title={hint} data-action="compare">
        Compare
      </button>
    );
  }
  const address = `#document=${other.number}&baseline=${base.number}&view=${COMPARE[kinds[0] as Overview["kind"]]}`;
  return (
    <a class="link" href={address} title={`${other.label} against ${base.label}`} data-action="compare">
      Compare
    </a>
  );
}

/** Whether a document matches what is typed; everything matches an empty filter. */
function matching(filter: string): (line: DocumentLine) => boolean {
  const search = filter.trim().toLowerCase();
  return (line) => {
    const { facts, finding } = cardOf(line.number).value;
    const words = [line.label, line.path, facts?.title, facts?.target, finding?.verdict];
    return !search || words.some((word) => word?.toLowerCase().includes(search));
  };
}

/** Figures: the largest first; cards without the figure come last. */
function sorted(lines: DocumentLine[], by: Sort): DocumentLine[] {
  if (by === "order") return lines;
  if (by === "name") return [...lines].sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
  const value = (line: DocumentLine) => factsOf(line)?.figures[by] ?? Number.NEGATIVE_INFINITY;
  return [...lines].sort((a, b) => value(b) - value(a));
}

const nameOf = (line: DocumentLine) => factsOf(line)?.title || line.label;

const COLUMNS: Column<DocumentLine>[] = [
  { name: "label", title: "Document", value: (line) => line.label, width: "" },
  { name: "path", title: "Path", value: (line) => line.path, width: "" },
  { name: "title", title: "Kernel", value: (line) => factsOf(line)?.title, width: "" },
  ...Object.keys(FIGURES).map((name) => ({
    name,
    title: name,
    value: (line: DocumentLine) => factsOf(line)?.figures[name],
    width: "",
  })),
  { name: "finding", title: "First finding", value: (line) => cardOf(line.number).value.finding?.verdict, width: "" },
];

function OneCard({ line, notice }: { line: DocumentLine; notice: Notice }) {
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

const galleryOf = (about: Overview["kind"], id: string): View => ({
  id,
  title: "Gallery",
  hint: "All documents of this page: picture, figures and first finding of each; mark two to compare them",
  about,
  missing: () => (documents.value.length > 1 ? "" : "only one document is open"),
  component: Gallery,
});

export const gallery = galleryOf("trace", "gallery");
export const runGallery = galleryOf("run", "run_gallery");
export const counterGallery = galleryOf("counters", "counter_gallery");
