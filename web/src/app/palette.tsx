// Find anything: type, see what fits by kind, go there. Opened by `/` and Ctrl + K.
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { counted, exact } from "../base/format";
import { reportFailure } from "../model/connection";
import { kind } from "../model/document";
import { asAnswerError } from "../model/loaded";
import { closeDialogOf, Dialog } from "../widgets/dialog";
import type { Hit, Results } from "./hit_groups";
import { find } from "./hits";
import { paletteIsOpen } from "./keys";
import "./palette.css";

const NONE: Results = { hits: [], count: 0, problem: "" };

interface Props {
  go: (document: number) => void;
  resetLayout: () => void;
}

export function Palette({ go: chooseDocument, resetLayout }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const results = useSignal<Results>(NONE);
  const query = useSignal("");
  /** The place of the hit that Enter goes to. */
  const chosen = useSignal(0);
  /** All hits for what was typed last: Enter waits for them. */
  const coming = useRef<Promise<Results>>(Promise.resolve(NONE));

  const look = (text: string) => {
    query.value = text;
    const put = (next: Results) => {
      if (query.value !== text) return;
      results.value = next;
      chosen.value = 0;
    };
    coming.current = find(text, { chooseDocument, resetLayout }, put).catch((error: unknown) => {
      const problem = asAnswerError(error);
      reportFailure(problem);
      return { ...results.value, problem: problem.what };
    });
    coming.current.then(put);
  };
  useLayoutEffect(() => look(""), []); // before the next key arrives: no letter is lost
  const go = (hit: Hit | undefined) => {
    if (!hit) return;
    closeDialogOf(input.current); // the focus goes back first, so that the hit can take it
    hit.go();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const last = results.value.hits.length - 1;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (step) chosen.value = Math.max(0, Math.min(chosen.value + step, last));
    else if (event.key === "Enter") {
      const [text, place] = [query.value, chosen.value];
      // who is faster than the answer means the best of all hits
      coming.current.then(({ hits }) => query.value === text && go(hits[place]));
    } else return;
    event.preventDefault();
  };
  const { hits } = results.value;
  return (
    <Dialog class="palette" label="Find anything" close={() => (paletteIsOpen.value = false)}>
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Search for"
        aria-expanded={hits.length > 0}
        aria-controls="palette-hits"
        aria-activedescendant={hits.length ? `hit-${chosen.value}` : undefined}
        aria-autocomplete="list"
        autocomplete="off"
        spellcheck={false}
        placeholder={EXAMPLES[kind.value ?? "trace"]}
        value={query.value}
        onInput={(event) => look(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <p class="note" role="status">
        {words(query.value, results.value)}
      </p>
      <Hits hits={hits} chosen={chosen.value} go={go} />
    </Dialog>
  );
}

const EXAMPLES = {
  trace: "text, /regex/, 0x2cb8, 972, file.py:258, wave 4, cycle 109704, v12, type:vmem stall>1000",
  run: "kernel, marker, /regex/, rank 3, GPU 1, 1.5 ms",
  counters: "kernel, metric, /regex/",
  store: "views and commands",
};

function words(query: string, { count, hits, problem }: Results): string {
  if (problem) return problem;
  if (!query.trim()) return "Views and commands; > commands only, @ views only, : rows. ↑ ↓ choose, Enter goes there.";
  return hits.length < count ? `showing ${exact(hits.length)} of ${exact(count)} hits` : counted(count, "hits");
}

/** Groups whose texts are code. */
const CODE = new Set(["Instructions", "Source", "Go to", "Functions"]);

function Hits({ hits, chosen, go }: { hits: Hit[]; chosen: number; go: (hit: Hit) => void }) {
  const groups: { name: string; first: number; hits: Hit[] }[] = [];
  hits.forEach((hit, place) => {
    const last = groups.at(-1);
    if (last?.name === hit.group) last.hits.push(hit);
    else groups.push({ name: hit.group, first: place, hits: [hit] });
  });
  return (
    <div class="hits" id="palette-hits" role="listbox" aria-label="Hits">
      {groups.map(({ name, first, hits }) => (
        <div key={name} role="group" aria-label={name}>
          <div class="hit-group" aria-hidden="true">
            {name}
          </div>
          {hits.map((hit, number) => (
            <div
              key={number}
              id={`hit-${first + number}`}
              role="option"
              tabIndex={-1}
              aria-selected={first + number === chosen}
              class="hit"
              ref={(element) => {
                if (first + number === chosen) element?.scrollIntoView({ block: "nearest" });
              }}
              onClick={() => go(hit)}
            >
              <span class={CODE.has(name) ? "hit-text mono" : "hit-text"} title={hit.text}>
                {hit.text}
              </span>
              <span class="hit-note faint" title={hit.note}>
                {hit.note}
              </span>
              {hit.keys?.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}
