// SQL over the stable views of a run: what there is, a query, its rows as a table or drawn.
import { type Signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { exact } from "../../base/format";
import { askJson, json } from "../../data/ask";
import { source } from "../../data/source";
import { current } from "../../model/document";
import { useAnswer } from "../../model/loaded";
import type { View } from "../../model/view";
import { Answered } from "../../widgets/answered";
import { NumberedText, showLine } from "../../widgets/numbered_text";
import { Split } from "../../widgets/split";
import { deleteQuery, history, remember, savedQueries, saveQuery } from "./queries";
import { Results, type SqlAnswer } from "./results";
import { type Example, Schema, type SchemaAnswer } from "./schema";
import "./sql.css";

/** Characters of a query that the server takes. */
const LONGEST = 4096;

function Sql() {
  const answer = useAnswer(json<SchemaAnswer>(current.value, "run_sql_schema"));
  return <Answered answer={answer}>{(schema) => <Panel key={current.value} schema={schema} />}</Answered>;
}

interface Asked {
  sql: string;
  /** Grows with every request: the same query can be asked again. */
  turn: number;
}

function Panel({ schema }: { schema: SchemaAnswer }) {
  const draft = useSignal(history.peek()[0] ?? schema.examples[0]?.[1] ?? "");
  const asked = useSignal<Asked | null>(null);
  const wrong = useSignal<Place | null>(null);
  const isRunning = useSignal(false);
  const area = useRef<HTMLTextAreaElement | null>(null);
  const isTooLong = draft.value.length > LONGEST;
  const run = () => {
    if (!draft.value.trim() || isTooLong) return;
    remember(draft.value);
    wrong.value = null;
    asked.value = { sql: draft.value, turn: (asked.peek()?.turn ?? 0) + 1 };
  };
  const stop = () => void askJson(current.value, "run_sql_stop", { turn: asked.peek()?.turn ?? 0 }).catch(() => {});
  return (
    <div class="view sql">
      <Split name="sql.schema" label="Between schema and query" direction="row" first={0.22}>
        <Schema relations={schema.relations} insert={(text) => insertAtCursor(area.current, draft, text)} />
        <Split name="sql.query" label="Between query and rows" direction="column" first={0.32}>
          <div class="sql-editor">
            <div class="toolbar">
              <button type="button" data-action="run" disabled={isTooLong} title="Ctrl+Enter" onClick={run}>
                Run
              </button>
              <button type="button" class="quiet" data-action="stop" disabled={!isRunning.value} onClick={stop}>
                Stop
              </button>
              <QueryChoice draft={draft} examples={schema.examples} />
              <Limits limits={schema.limits} length={draft.value.length} />
            </div>
            <NumberedText text={draft} label="SQL" apply={run} beside={markLine(wrong.value?.line)} area={area} />
          </div>
          {asked.value ? (
            <Rows
              key={asked.value.turn}
              sql={asked.value.sql}
              onState={(state, place) => {
                isRunning.value = state === "waiting";
                if (place) wrong.value = place;
              }}
              goTo={({ line, column }) => showLine(area.current, line - 1, column - 1)}
            />
          ) : (
            <p class="note">
              One SELECT over the views at the left: the same as <code>wavewright query</code>. Nothing can be changed.
              A row that has <code>start</code> and <code>duration</code> leads to its time.
            </p>
          )}
        </Split>
      </Split>
    </div>
  );
}

/** Writes a text in place of what is selected in the query, and puts the cursor behind it. */
function insertAtCursor(area: HTMLTextAreaElement | null, draft: Signal<string>, text: string): void {
  const end = draft.value.length;
  const [from, to] = area ? [area.selectionStart, area.selectionEnd] : [end, end];
  draft.value = draft.value.slice(0, from) + text + draft.value.slice(to);
  // The text area has its new text after the next rendering only.
  queueMicrotask(() => {
    area?.focus();
    area?.setSelectionRange(from + text.length, from + text.length);
  });
}

/** What stands beside each line of the query: "here" beside the one that is wrong. Lines count from 1. */
function markLine(wrongLine: number | undefined): string[] {
  return Array.from({ length: wrongLine ?? 0 }, (_, n) => (n + 1 === wrongLine ? "here" : ""));
}

function Limits({ limits, length }: { limits: SchemaAnswer["limits"]; length: number }) {
  return (
    <span
      class="faint-text"
      title={`Read only. At most ${exact(limits.rows)} rows, ${exact(limits.mib)} MiB and ${exact(limits.seconds)} seconds, as wavewright query; the first ${exact(limits.sent_rows)} rows are shown`}
    >
      {length > LONGEST ? `${exact(length)} of at most ${exact(LONGEST)} characters` : "Ctrl+Enter runs it"}
    </span>
  );
}

/** A place in the query, both from 1. */
interface Place {
  line: number;
  column: number;
}

interface RowsProps {
  sql: string;
  /** Called whenever the state of the answer changes, with the place of an error where one is stated. */
  onState: (state: string, place: Place | null) => void;
  goTo: (place: Place) => void;
}

/** The place of an error as the server states it. */
const PLACE = /^line (\d+), column (\d+)$/;

function placeIn(where: string): Place | null {
  const parts = PLACE.exec(where);
  return parts ? { line: Number(parts[1]), column: Number(parts[2]) } : null;
}

/** The rows of one query. It is drawn anew for each request, which asks the same query again. */
function Rows({ sql, onState, goTo }: RowsProps) {
  const answer = useAnswer(json<SqlAnswer>(current.value, "run_sql", { sql }));
  const loaded = answer.value;
  const place = loaded.state === "failed" ? placeIn(loaded.error.where) : null;
  const toldState = useRef("");
  if (toldState.current !== loaded.state) {
    toldState.current = loaded.state;
    // not while this is drawn: it changes signals of the component around it
    queueMicrotask(() => onState(loaded.state, place));
  }
  return (
    <div class="sql-rows">
      {place ? (
        <button type="button" class="quiet" data-action="go" onClick={() => goTo(place)}>
          go to line {place.line}, column {place.column}
        </button>
      ) : null}
      <Answered answer={answer}>{(rows) => <Results answer={rows} />}</Answered>
    </div>
  );
}

/** A choice of queries: examples, queries that ran, and those that have a name; new names are given here as well. */
function QueryChoice({ draft, examples }: { draft: Signal<string>; examples: Example[] }) {
  const name = useSignal("");
  const saved = savedQueries.value;
  const groups: QueryGroup[] = [
    { label: "Examples", queries: examples.map(([title, text]) => ({ title, text })) },
    { label: "Saved", queries: Object.entries(saved).map(([title, text]) => ({ title, text, savedAs: title })) },
    { label: "History", queries: history.value.map((text) => ({ title: oneLine(text), text })) },
  ];
  const choose = (query: Query | undefined) => {
    if (!query) return;
    draft.value = query.text;
    if (query.savedAs !== undefined) name.value = query.savedAs;
  };
  const title = name.value.trim();
  return (
    <>
      <QuerySelect groups={groups} choose={choose} />
      <input
        placeholder="name"
        aria-label="Name to save the query under"
        maxLength={60}
        size={10}
        value={name.value}
        onInput={(event) => {
          name.value = event.currentTarget.value;
        }}
      />
      <button
        type="button"
        class="quiet"
        data-action="save"
        disabled={!title}
        onClick={() => saveQuery(title, draft.value)}
      >
        Save
      </button>
      <button
        type="button"
        class="quiet"
        data-action="delete"
        disabled={!Object.hasOwn(saved, title)}
        onClick={() => deleteQuery(title)}
      >
        Delete
      </button>
    </>
  );
}

interface Query {
  title: string;
  text: string;
  /** Its name, where it was saved under one. */
  savedAs?: string;
}

interface QueryGroup {
  label: string;
  queries: Query[];
}

/** The start of a query, on one line. */
const oneLine = (text: string) => text.replace(/\s+/g, " ").slice(0, 80);

/** Options are numbered through all groups; none stays chosen, so that each can be chosen again. */
function QuerySelect({ groups, choose }: { groups: QueryGroup[]; choose: (query: Query | undefined) => void }) {
  const queries = groups.flatMap((group) => group.queries);
  return (
    <select
      aria-label="Queries: examples, saved ones, history"
      data-choose="query"
      value=""
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        choose(chosen === "" ? undefined : queries[Number(chosen)]);
        event.currentTarget.value = "";
      }}
    >
      <option value="">Queries…</option>
      {groups
        .filter((group) => group.queries.length)
        .map((group) => (
          <optgroup key={group.label} label={group.label}>
            {group.queries.map((query) => (
              <option key={queries.indexOf(query)} value={queries.indexOf(query)}>
                {query.title}
              </option>
            ))}
          </optgroup>
        ))}
    </select>
  );
}

export const sql: View = {
  id: "sql",
  title: "SQL",
  hint: "Any question in SQL over the stable views of the run (wavewright query), with plots of the rows",
  about: "run",
  time: "selected",
  missing: () => (source.isExport ? "an exported page has no SQL engine: open the run with wavewright open" : ""),
  component: Sql,
};
