// SQL over the stable views of a run: what there is, a query, its rows as a table or drawn.
import { useSignal } from "@preact/signals";
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
import { Schema, type SchemaAnswer } from "./schema";
import "./sql.css";

/** What the server takes. */
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
  const wrong = useSignal<{ line: number; column: number } | null>(null);
  const isRunning = useSignal(false);
  const area = useRef<HTMLTextAreaElement | null>(null);
  const isTooLong = draft.value.length > LONGEST;
  const run = () => {
    const sql = draft.value.trim();
    if (!sql || isTooLong) return;
    remember(draft.value);
    wrong.value = null;
    asked.value = { sql: draft.value, turn: (asked.peek()?.turn ?? 0) + 1 };
  };
  const stop = () => void askJson(current.value, "run_sql_stop", { turn: asked.peek()?.turn ?? 0 }).catch(() => {});
  const insert = (text: string) => {
    const element = area.current;
    const [from, to] = element
      ? [element.selectionStart, element.selectionEnd]
      : [draft.value.length, draft.value.length];
    draft.value = draft.value.slice(0, from) + text + draft.value.slice(to);
    queueMicrotask(() => {
      element?.focus();
      element?.setSelectionRange(from + text.length, from + text.length);
    });
  };
  const beside = wrong.value
    ? Array.from({ length: wrong.value.line }, (_, n) => (n + 1 === wrong.value?.line ? "here" : ""))
    : [];
  const { limits } = schema;
  return (
    <div class="view sql">
      <Split name="sql.schema" label="Between schema and query" direction="row" first={0.22}>
        <Schema relations={schema.relations} insert={insert} />
        <Split name="sql.query" label="Between query and rows" direction="column" first={0.32}>
          <div class="sql-editor">
            <div class="toolbar">
              <button type="button" data-action="run" disabled={isTooLong} title="Ctrl+Enter" onClick={run}>
                Run
              </button>
              <button type="button" class="quiet" data-action="stop" disabled={!isRunning.value} onClick={stop}>
                Stop
              </button>
              <Choices draft={draft} examples={schema.examples} />
              <span
                class="faint-text"
                title={`Read only. At most ${exact(limits.rows)} rows, ${exact(limits.mib)} MiB and ${exact(limits.seconds)} seconds, as wavewright query; the first ${exact(limits.sent_rows)} rows are shown`}
              >
                {isTooLong
                  ? `${exact(draft.value.length)} of at most ${exact(LONGEST)} characters`
                  : "Ctrl+Enter runs it"}
              </span>
            </div>
            <NumberedText text={draft} label="SQL" apply={run} beside={beside} area={area} />
          </div>
          {asked.value ? (
            <Rows
              key={asked.value.turn}
              sql={asked.value.sql}
              onState={(state, where) => {
                isRunning.value = state === "waiting";
                if (where) wrong.value = where;
              }}
              goTo={(line, column) => showLine(area.current, line - 1, column - 1)}
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

interface RowsProps {
  sql: string;
  onState: (state: string, where: { line: number; column: number } | null) => void;
  goTo: (line: number, column: number) => void;
}

const PLACE = /^line (\d+), column (\d+)$/;

function Rows({ sql, onState, goTo }: RowsProps) {
  const answer = useAnswer(json<SqlAnswer>(current.value, "run_sql", { sql }));
  const { value } = answer;
  const last = useRef("");
  const place = value.state === "failed" ? PLACE.exec(value.error.where) : null;
  const where = place ? { line: Number(place[1]), column: Number(place[2]) } : null;
  if (last.current !== value.state) {
    last.current = value.state;
    queueMicrotask(() => {
      onState(value.state, where);
    });
  }
  return (
    <div class="sql-rows">
      {where ? (
        <button type="button" class="quiet" data-action="go" onClick={() => goTo(where.line, where.column)}>
          go to line {where.line}, column {where.column}
        </button>
      ) : null}
      <Answered answer={answer}>{(rows) => <Results answer={rows} />}</Answered>
    </div>
  );
}

/** Examples, queries that ran, and those that have a name. */
function Choices({ draft, examples }: { draft: { value: string }; examples: [string, string][] }) {
  const name = useSignal("");
  const saved = savedQueries.value;
  const title = name.value.trim();
  const choose = (key: string) => {
    const [kind, which = ""] = [key[0], key.slice(1)];
    const text =
      kind === "e" ? examples[Number(which)]?.[1] : kind === "h" ? history.value[Number(which)] : saved[which];
    if (text === undefined) return;
    draft.value = text;
    if (kind === "s") name.value = which;
  };
  return (
    <>
      <select
        aria-label="Queries: examples, saved ones, history"
        data-choose="query"
        value=""
        onChange={(event) => {
          choose(event.currentTarget.value);
          event.currentTarget.value = "";
        }}
      >
        <option value="">Queries…</option>
        <optgroup label="Examples">
          {examples.map(([words], n) => (
            <option key={words} value={`e${n}`}>
              {words}
            </option>
          ))}
        </optgroup>
        {Object.keys(saved).length ? (
          <optgroup label="Saved">
            {Object.keys(saved).map((words) => (
              <option key={words} value={`s${words}`}>
                {words}
              </option>
            ))}
          </optgroup>
        ) : null}
        {history.value.length ? (
          <optgroup label="History">
            {history.value.map((sql, n) => (
              <option key={sql} value={`h${n}`}>
                {sql.replace(/\s+/g, " ").slice(0, 80)}
              </option>
            ))}
          </optgroup>
        ) : null}
      </select>
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

export const sql: View = {
  id: "sql",
  title: "SQL",
  hint: "Any question in SQL over the stable views of the run (wavewright query), with plots of the rows",
  about: "run",
  time: "selected",
  missing: () => (source.isExport ? "an exported page has no SQL engine: open the run with wavewright open" : ""),
  component: Sql,
};
