// All documents of the page as cards: picture, figures, first finding. A click opens one, two marked ones are compared.
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { exact } from "../../base/format";
import type { DocumentLine } from "../../data/ask";
import { documents, type Overview } from "../../model/document";
import { cardOf, cardTurn, fillCards } from "../../model/gallery";
import type { View } from "../../model/view";
import { Nothing } from "../../widgets/answered";
import { type Column, tableOffer } from "../../widgets/data_table";
import { SaveMenu } from "../../widgets/saving";
import { DocumentCard, FIGURES, marked, type Notice } from "./card";
import "./gallery.css";

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
            <DocumentCard key={line.number} line={line} notice={notice} />
          ))}
        </ul>
        {lines.length ? null : <Nothing>No document matches.</Nothing>}
      </div>
    </div>
  );
}

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
