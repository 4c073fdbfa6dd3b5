// Cards of all documents, filled one after the other while the gallery is on screen: those that are seen first.
import { type Signal, signal } from "@preact/signals";
import { askJson } from "../data/ask";
import type { AnswerError } from "../data/source";
import { documents, loadDocuments, type Overview } from "./document";
import { asAnswerError } from "./loaded";

export interface CardFacts {
  kind: Overview["kind"];
  title: string;
  target: string;
  /** Name of a figure -> its value; which there are depends on the kind. */
  figures: Record<string, number | null>;
  picture: { what: string; form: "curve" | "bars"; values: number[] };
  loss_count: number;
  /** The worst loss in words; empty = nothing is damaged. */
  loss: string;
  document_count: number;
}

export interface FirstFinding {
  /** Empty = the diagnosis found nothing. */
  verdict: string;
  reason: string;
  gain_share_max: number | null;
}

export interface Card {
  facts: CardFacts | null;
  finding: FirstFinding | null;
  problem: AnswerError | null;
}

const EMPTY: Card = { facts: null, finding: null, problem: null };
const cards = new Map<number, Signal<Card>>();
/** Grows with every card that has its facts: sorting and filtering read it. */
export const cardTurn = signal(0);

export function cardOf(document: number): Signal<Card> {
  const known = cards.get(document);
  if (known) return known;
  const card = signal(EMPTY);
  cards.set(document, card);
  return card;
}

/** What to ask next: the facts of what is seen, then its findings, then the facts of all others, by which cards are sorted. */
export function nextOf(
  all: number[],
  seen: ReadonlySet<number>,
  of: (document: number) => Card,
): [number, string] | null {
  const lacks = (document: number, part: "facts" | "finding") => !of(document).problem && !of(document)[part];
  const here = all.filter((document) => seen.has(document));
  if (!here.length) return null; // nobody looks
  const facts = here.find((document) => lacks(document, "facts"));
  if (facts !== undefined) return [facts, "card"];
  const finding = here.find((document) => lacks(document, "finding"));
  if (finding !== undefined) return [finding, "card_finding"];
  const rest = all.find((document) => lacks(document, "facts"));
  return rest === undefined ? null : [rest, "card"];
}

let isAsking = false;

/** Ask for the cards that are wanted, one at a time: the server has other questions to answer. */
export async function fillCards(seen: () => ReadonlySet<number>): Promise<void> {
  if (isAsking) return;
  isAsking = true;
  try {
    for (;;) {
      const numbers = documents.value.map(({ number }) => number);
      const next = nextOf(numbers, seen(), (document) => cardOf(document).value);
      if (!next) return;
      await fill(...next);
    }
  } finally {
    isAsking = false;
  }
}

async function fill(document: number, question: string): Promise<void> {
  const card = cardOf(document);
  try {
    if (question === "card_finding") {
      card.value = { ...card.value, finding: await askJson<FirstFinding>(document, question) };
      return;
    }
    const facts = await askJson<CardFacts>(document, question);
    card.value = { ...card.value, facts };
    if (facts.document_count > documents.value.length) await loadDocuments(true); // of a folder that was not read before
  } catch (error) {
    card.value = { ...card.value, problem: asAnswerError(error) };
  }
  cardTurn.value += 1;
}
