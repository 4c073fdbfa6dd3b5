// Columns for tests, written by Arrow's own writer as the server writes them: texts are plain, without dictionaries.
import { Table, tableToIPC, Utf8, type Vector, vectorFromArray } from "apache-arrow";
import { Columns } from "./columns";

/** The columns with these values: typed arrays are numbers, lists are flags or texts. */
export function columnsOf(values: Record<string, ArrayLike<unknown>>): Columns {
  const made = Object.entries(values).map(([name, column]) => [name, vectorOf(column)]);
  return Columns.from(tableToIPC(new Table(Object.fromEntries(made)), "stream"));
}

function vectorOf(column: ArrayLike<unknown>): Vector {
  const isText = Array.isArray(column) && typeof column[0] !== "boolean";
  return isText ? vectorFromArray(column as string[], new Utf8()) : vectorFromArray(column as Float64Array);
}
