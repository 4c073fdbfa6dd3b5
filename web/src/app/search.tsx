// The search: type, see hits of every kind, go there.
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { exact } from "../base/format";
import { reportFailure } from "../model/connection";
import { asAnswerError } from "../model/loaded";
import { type Hit, type Results, search } from "./hits";
import { searchIsOpen } from "./keys";

const NONE: Results = { hits: [], count: 0, problem: "" };

export function Search() {
  const input = useRef<HTMLInputElement>(null);
  const results = useSignal<Results>(NONE);
  const query = useSignal("");
  const chosen = useSignal(0);
  // before the next key arrives: no letter is lost
  useLayoutEffect(() => input.current?.focus(), []);

  const look = (text: string) => {
    query.value = text;
    search(text).then(
      (next) => {
        if (query.value !== text) return;
        results.value = next;
        chosen.value = 0;
      },
      (error: unknown) => {
        if (query.value !== text) return;
        const problem = asAnswerError(error);
        reportFailure(problem);
        results.value = { ...NONE, problem: problem.what };
      },
    );
  };
  const go = (hit: Hit | undefined) => {
    if (!hit) return;
    searchIsOpen.value = false;
    hit.go();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const last = results.value.hits.length - 1;
    if (event.key === "ArrowDown") chosen.value = Math.min(chosen.value + 1, last);
    else if (event.key === "ArrowUp") chosen.value = Math.max(chosen.value - 1, 0);
    else if (event.key === "Enter") go(results.value.hits[chosen.value]);
    else if (event.key === "Escape") searchIsOpen.value = false;
    else return;
    event.preventDefault();
  };
  return (
    <div class="dialog search" role="dialog" aria-label="Search" aria-modal="true">
      <input
        ref={input}
        type="search"
        aria-label="Search for"
        placeholder="text, or /regular expression/"
        value={query.value}
        onInput={(event) => look(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <p class="note">{words(query.value, results.value)}</p>
      <Hits hits={results.value.hits} chosen={chosen.value} go={go} />
    </div>
  );
}

function words(query: string, { count, hits, problem }: Results): string {
  if (problem) return problem;
  if (!query.trim())
    return "Searches instructions, source lines, kernels and metrics. ↑ ↓ choose a hit, Enter goes there.";
  return hits.length < count ? `showing ${exact(hits.length)} of ${exact(count)} hits` : `${exact(count)} hits`;
}

function Hits({ hits, chosen, go }: { hits: Hit[]; chosen: number; go: (hit: Hit) => void }) {
  return (
    <div class="hits" role="listbox" aria-label="Hits">
      {hits.map((hit, i) => (
        <>
          {hit.group === hits[i - 1]?.group ? null : <h3>{hit.group}</h3>}
          <button
            type="button"
            role="option"
            aria-selected={i === chosen}
            class="hit"
            ref={(element) => {
              if (i === chosen) element?.scrollIntoView({ block: "nearest" });
            }}
            onClick={() => go(hit)}
          >
            <span class="mono">{hit.text}</span>
            <span class="faint">{hit.note}</span>
          </button>
        </>
      ))}
    </div>
  );
}
