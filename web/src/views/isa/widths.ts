// How wide the columns of the listing are: as their contents need, unless the user says it.
import { exact } from "../../base/format";
import type { IsaColumn } from "./columns";
import type { Sheet } from "./sheet";

/** Pixels of a letter, as measured on screen. */
export interface Letters {
  mono: number;
  digit: number;
}

/** Before they are measured. */
export const ANY_LETTERS: Letters = { mono: 7.2, digit: 6.8 };
/** Pixels: beside the content of a cell, of the mark of a sorted column, of the bar in cells of live registers. */
const PADDING = 8;
const SORT_MARK = 10;
const LIVE_BAR = 8;
/** Letters of an instruction that have room at most and at least, and of sources and reasons at most. */
const LONGEST_TEXT = 100;
const SHORTEST_TEXT = 24;
const LONGEST_SOURCE = 26;
const LONGEST_REASONS = 30;
/** Letters of `:line` behind the name of a file. */
const LINE_LETTERS = 5;
/** Addresses and row numbers are written smaller than instructions, by this factor (isa.css). */
const SMALL_TEXT = 0.92;
/** The share of instructions that "nearly all" are. */
const USUAL_SHARE = 0.97;
/** Pixels that stay free at the right edge, and what fades there where more figures follow. */
const SPARE = 4;
const FADING = 22;

const longest = (texts: Iterable<string | undefined>) => {
  let most = 0;
  for (const text of texts) most = Math.max(most, text?.length ?? 0);
  return most;
};

/** The last part of `file:line`. */
export const placeName = (text: string) => text.slice(text.lastIndexOf("/") + 1);

/** Pixels that the contents of a column need. */
export function neededWidth(column: IsaColumn, sheet: Sheet, letters: Letters): number {
  const { code } = sheet;
  if (column.id === "text") return Math.min(longest(code.text), LONGEST_TEXT) * letters.mono + PADDING + 4;
  const title = column.title.length * letters.digit + PADDING + SORT_MARK;
  if (column.id === "address") return Math.max(title, longest(code.address) * letters.mono * SMALL_TEXT + PADDING);
  if (column.id === "row") return Math.max(title, exact(code.count).length * letters.mono * SMALL_TEXT + PADDING + 3);
  if (column.id === "source") return Math.max(title, longestPlace(sheet) * letters.digit + PADDING);
  if (column.id === "reasons") return LONGEST_REASONS * letters.digit;
  return Math.max(title, lettersOf(column, sheet) * letters.digit + PADDING + (column.needs === "live" ? LIVE_BAR : 0));
}

/** Letters of the longest `file:line`, up to the most that have room. */
function longestPlace({ code }: Sheet): number {
  let most = 0;
  for (let row = 0; row < code.count && most < LONGEST_SOURCE; row++) {
    const file = code.file[row];
    if (file) most = Math.max(most, file.length - file.lastIndexOf("/") - 1 + LINE_LETTERS);
  }
  return Math.min(most, LONGEST_SOURCE);
}

/** Letters of the longest number: that of the whole, where there is one. */
function lettersOf(column: IsaColumn, sheet: Sheet): number {
  const whole = column.total?.(sheet, 0, sheet.code.count - 1);
  if (whole !== undefined && whole !== null) return exact(whole).length;
  let largest = 0;
  for (let row = 0; row < sheet.code.count; row++) {
    const value = column.value(sheet, row);
    if (typeof value === "number" && value > largest) largest = value;
  }
  return exact(largest).length;
}

/** Pixels in which nearly all instructions are seen completely. */
export function usualTextWidth({ code }: Sheet, letters: Letters): number {
  const lengths = Float64Array.from(code.text, (text) => text.length).sort();
  const usual = lengths[Math.floor(lengths.length * USUAL_SHARE)] ?? 0;
  return Math.min(usual, LONGEST_TEXT) * letters.mono + PADDING + 4;
}

export interface TextRoom {
  /** Pixels of the longest instruction, and of nearly all of them. */
  needed: number;
  usual: number;
  /** Pixels of what stands beside it with the first figure, the first two, ...: rising. */
  beside: number[];
  /** Pixels of the list. */
  room: number;
}

/** The share of what nearly all texts need that they may lose to one more figure. */
const FEW_LETTERS_LESS = 0.75;

/**
 * Pixels of the instruction. No figure stands half behind the edge: the text is as wide as it leaves room for some of
 * them exactly, which are as many as leave it three quarters of what nearly all texts need; the first in any case.
 */
export function textWidth({ needed, usual, beside, room }: TextRoom, letters: Letters): number {
  const least = Math.min(needed, SHORTEST_TEXT * letters.mono);
  const left = beside.map((taken, n) => room - (n < beside.length - 1 ? FADING : SPARE) - taken);
  const fitting = left.filter((width) => width >= Math.max(least, usual * FEW_LETTERS_LESS));
  const exact = fitting.at(-1) ?? left[0] ?? room;
  return Math.max(least, fitting.length === left.length ? Math.min(needed, exact) : exact);
}
