// The text of an instruction in colours; all places of the registers under the pointer light up.
import { overlap, type Register, registersOf, resultsOf, type Token, tokensOf } from "../../base/isa_text";
import { settings } from "../../model/settings";
import { tokenOfText } from "../../model/tokens";
import { highlightedRegisters } from "./state";

const cache = new Map<string, Token[]>();
const MOST_KEPT = 5000; // texts; beyond that all are dropped

function cachedTokens(text: string): Token[] {
  const cached = cache.get(text);
  if (cached) return cached;
  if (cache.size > MOST_KEPT) cache.clear();
  const tokens = tokensOf(text);
  cache.set(text, tokens);
  return tokens;
}

export interface InstructionProps {
  text: string;
  /** Registers of the text that it writes. */
  writes: string;
  /** Registers that the text does not name. */
  implicitWrites: string;
  implicitReads: string;
}

export function InstructionText({ text, writes, implicitWrites, implicitReads }: InstructionProps) {
  const pointedAt = registersOf(highlightedRegisters.value);
  const parts = cachedTokens(text);
  const ofUser = tokenOfText(settings.value.tokens, text);
  const results = pointedAt.length ? resultsOf(parts, registersOf(writes)) : null;
  const lights = (registers: Register[]) => registers.some((own) => pointedAt.some((other) => overlap(own, other)));
  const classOf = (token: Token, place: number) => {
    // What the text does not name lights up at the mnemonic.
    if (token.kind === "mnemonic" && lights(registersOf(implicitWrites))) return " highlighted written";
    const own = token.kind === "mnemonic" ? implicitReads : token.kind === "register" ? token.text : "";
    if (!lights(registersOf(own))) return "";
    return results?.has(place) ? " highlighted written" : " highlighted";
  };
  const namesOf = (token: Token) =>
    token.kind === "register"
      ? token.text
      : token.kind === "mnemonic"
        ? `${implicitWrites} ${implicitReads}`.trim()
        : "";
  return (
    <span class="asm">
      {parts.map((token, place) => {
        if (token.kind === "plain") return token.text;
        const names = namesOf(token);
        return (
          <span
            key={place}
            class={`asm-${token.kind}${classOf(token, place)}`}
            {...(ofUser && token.kind === "mnemonic" ? { style: { color: ofUser.colour }, title: ofUser.name } : {})}
            onPointerEnter={names ? () => point(names) : undefined}
            onPointerLeave={names ? () => point("") : undefined}
          >
            {token.text}
          </span>
        );
      })}
    </span>
  );
}

function point(names: string): void {
  highlightedRegisters.value = names;
}
