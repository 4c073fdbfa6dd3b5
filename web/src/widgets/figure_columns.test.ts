import { expect, test } from "vitest";
import type { TableInfo } from "../data/tables";
import { figureColumns, plainColumns } from "./figure_columns";

interface Row {
  name: string;
  wait_ns: number | null;
  wait_share: number;
  is_late: boolean;
}

const TABLE: TableInfo<Row> = {
  name: ["Name", "", "Name of the kernel"],
  wait_ns: ["Wait", "ns", "Time before the launch"],
  wait_share: ["Wait share", "", "Share of the time"],
  is_late: ["Late", "", "Whether it came late"],
};
const ROW: Row = { name: "gemm", wait_ns: null, wait_share: 0.5, is_late: true };

test("titles, tooltips and values come from the declaration", () => {
  const [wait, late] = figureColumns<Row>(TABLE, [["wait_ns"], ["is_late", "too late"]]);
  expect([wait?.title, wait?.hint, wait?.value(ROW)]).toEqual(["Wait", "Time before the launch (ns)", null]);
  expect([late?.title, late?.hint, late?.value(ROW)]).toEqual(["too late", "Whether it came late", "yes"]);
});

test("a view may draw a column itself, or add one", () => {
  const own = { name: "both", title: "Both", value: (row: Row) => `${row.name} ${row.wait_share}`, width: "9em" };
  const [name, both] = figureColumns<Row>(TABLE, [{ name: "name", show: (row) => row.name.toUpperCase() }, own]);
  expect([name?.title, name?.show?.(ROW), name?.value(ROW)]).toEqual(["Name", "GEMM", "gemm"]);
  expect([both?.title, both?.hint, both?.value(ROW), both?.width]).toEqual(["Both", undefined, "gemm 0.5", "9em"]);
});

test("columns of a file are all by their names", () => {
  expect(plainColumns<Row>(["name", "wait_share"]).map((column) => [column.title, column.value(ROW)])).toEqual([
    ["name", "gemm"],
    ["wait_share", 0.5],
  ]);
});
