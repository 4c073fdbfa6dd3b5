// What can be selected from: views and tables, their columns, and what each of them means.
import { type Signal, useSignal } from "@preact/signals";
import { matcher } from "../../base/matcher";
import { flipped } from "../../base/sets";

/** A view or table. */
export interface Relation {
  name: string;
  /** What one row of it is. */
  row: string;
  columns: [name: string, type: string, unit: string, meaning: string][];
}

export type Example = [title: string, sql: string];

export interface SchemaAnswer {
  relations: Relation[];
  examples: Example[];
  /** Of one query: the most rows, memory and time, and how many rows are sent to the page. */
  limits: { rows: number; mib: number; seconds: number; sent_rows: number };
}

export function Schema({ relations, insert }: { relations: Relation[]; insert: (text: string) => void }) {
  const query = useSignal("");
  const open = useSignal<ReadonlySet<string>>(new Set(["kernels"]));
  const search = matcher(query.value);
  const hasMatch = (relation: Relation) => relation.columns.some(([name]) => search.test(name));
  const shown = query.value
    ? relations.filter((relation) => search.test(relation.name) || hasMatch(relation))
    : relations;
  return (
    <div class="sql-schema">
      <input
        type="search"
        placeholder="view or column"
        aria-label="Views and columns whose name contains"
        value={query.value}
        onInput={(event) => {
          query.value = event.currentTarget.value;
        }}
      />
      <ul aria-label="Views and tables">
        {shown.map((relation) => (
          <RelationItem
            key={relation.name}
            relation={relation}
            open={open}
            isOpen={open.value.has(relation.name) || (query.value !== "" && hasMatch(relation))}
            insert={insert}
          />
        ))}
      </ul>
    </div>
  );
}

interface ItemProps {
  relation: Relation;
  open: Signal<ReadonlySet<string>>;
  isOpen: boolean;
  insert: (text: string) => void;
}

function RelationItem({ relation, open, isOpen, insert }: ItemProps) {
  const toggle = () => {
    open.value = flipped(open.value, relation.name);
  };
  return (
    <li data-relation={relation.name}>
      <button type="button" class="quiet mono" aria-expanded={isOpen} title={relation.row} onClick={toggle}>
        {isOpen ? "▾" : "▸"} {relation.name}
      </button>
      {isOpen ? (
        <>
          <p class="faint-text">{relation.row}</p>
          <ul>
            {relation.columns.map(([name, type, unit, meaning]) => (
              <li key={name}>
                <button
                  type="button"
                  class="quiet mono"
                  data-column={name}
                  title={`${meaning}${unit ? `, in ${unit}` : ""} (${type}). A click writes it into the query`}
                  onClick={() => insert(name)}
                >
                  {name}
                </button>
                <span class="faint-text"> {unit || type.toLowerCase()}</span>
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </li>
  );
}
