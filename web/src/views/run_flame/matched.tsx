// The line above a graph: how much there is, and how much of it the search finds.
import type { ComponentChildren } from "preact";
import { exact, nanoseconds, percent } from "../../base/format";
import type { Matcher } from "../../base/matcher";

interface Props {
  query: Matcher;
  text: string;
  matches: { weight: number; count: number };
  total: number;
  children: ComponentChildren;
}

export function Matched({ query, text, matches, total, children }: Props) {
  return (
    <div class="run-flame-facts">
      {children}
      {text ? (
        <span role="status" data-column="matched">
          {query.problem ||
            `${exact(matches.count)} frames match, ${nanoseconds(matches.weight)}, ${percent(matches.weight / total)}`}
        </span>
      ) : null}
    </div>
  );
}
