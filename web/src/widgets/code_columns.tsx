// Columns that name an instruction and its source line, as links.
import type { Column } from "./data_table";
import { LineLink, RowLink } from "./links";

interface Instruction {
  text: string;
}

interface InSource {
  file: string | null;
  line: number | null;
}

/** The instruction; `rowOf` is its code row. */
export function instructionColumn<Row extends Instruction>(
  title: string,
  rowOf: (row: Row) => number,
  width = "",
): Column<Row> {
  return {
    name: "text",
    title,
    value: (row) => row.text,
    show: (row) => <RowLink row={rowOf(row)} text={row.text} />,
    width,
  };
}

/** The source line of an instruction. */
export function lineColumn<Row extends InSource>(rowOf: (row: Row) => number, width = ""): Column<Row> {
  return {
    name: "file",
    title: "Line",
    value: (row) => (row.file ? `${row.file}:${row.line}` : ""),
    show: (row) => <LineLink file={row.file} line={row.line} row={rowOf(row)} />,
    width,
  };
}
