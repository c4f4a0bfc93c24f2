import type { MessageMetadata } from "../types";

/** What an answer took, as texts in the given language; null where the server does not say. */
export interface UsageTexts {
  input: string;
  output: string;
  seconds: string;
  context: { used: string; window: string } | null;
  cost: string | null;
}

export function usageTexts(metadata: MessageMetadata, language: string): UsageTexts | null {
  const { inputTokens, outputTokens, timeMs, contextTokens, contextWindow } = metadata;
  if (inputTokens === undefined || outputTokens === undefined) return null;
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  const context = contextTokens !== undefined && contextWindow;
  return {
    input: number.format(inputTokens),
    output: number.format(outputTokens),
    seconds: number.format((timeMs ?? 0) / 1000),
    context: context
      ? { used: number.format(contextTokens), window: number.format(contextWindow) }
      : null,
    cost: costText(metadata.costInCents, language),
  };
}

/** US dollars; a price below a cent keeps two digits that say something. */
function costText(cents: number | undefined, language: string): string | null {
  if (cents === undefined || !(cents > 0)) return null;
  const small = cents < 1 ? { maximumSignificantDigits: 2 } : {};
  return new Intl.NumberFormat(language, { style: "currency", currency: "USD", ...small }).format(
    cents / 100,
  );
}
