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

/** A part of a card, and the question whose answer it is. */
const QUESTIONS = { facts: "card", finding: "card_finding" } as const;
type Part = keyof typeof QUESTIONS;

/** A part of a card that is still to be asked for. */
export interface Missing {
  document: number;
  part: Part;
}

/**
 * What to ask next: the facts of what is seen, then its findings, then the facts of all others, by which cards are
 * sorted; null = nothing. What cannot be read is not asked again.
 */
export function nextOf(all: number[], seen: ReadonlySet<number>, cardOf: (document: number) => Card): Missing | null {
  const firstWithout = (documents: number[], part: Part): Missing | null => {
    const document = documents.find((number) => !cardOf(number).problem && !cardOf(number)[part]);
    return document === undefined ? null : { document, part };
  };
  const onScreen = all.filter((document) => seen.has(document));
  if (!onScreen.length) return null; // nobody looks
  return firstWithout(onScreen, "facts") ?? firstWithout(onScreen, "finding") ?? firstWithout(all, "facts");
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
      await fill(next);
    }
  } finally {
    isAsking = false;
  }
}

async function fill({ document, part }: Missing): Promise<void> {
  const card = cardOf(document);
  try {
    if (part === "finding") {
      card.value = { ...card.value, finding: await askJson<FirstFinding>(document, QUESTIONS.finding) };
      return;
    }
    const facts = await askJson<CardFacts>(document, QUESTIONS.facts);
    card.value = { ...card.value, facts };
    if (facts.document_count > documents.value.length) await loadDocuments(true); // of a folder that was not read before
  } catch (error) {
    card.value = { ...card.value, problem: asAnswerError(error) };
  }
  cardTurn.value += 1;
}
