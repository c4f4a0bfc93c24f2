import { tokensOf } from "./form";
import type { CatalogueModel } from "./types";

/** A catalogue entry as the fields of its form hold it. */
export interface ModelFields {
  driver: string;
  model: string;
  inputPrice: string;
  outputPrice: string;
  contextWindow: string;
  allowed: boolean;
}

const textOf = (number: number | null) => number?.toString() ?? "";

export function fieldsOf(item: CatalogueModel): ModelFields {
  return {
    ...item,
    inputPrice: textOf(item.inputPrice),
    outputPrice: textOf(item.outputPrice),
    contextWindow: textOf(item.contextWindow),
  };
}

/** A price in dollars, with a point or a comma; null when empty, undefined when it is none. */
export function priceOf(text: string): number | null | undefined {
  const digits = text.trim().replace(",", ".");
  if (digits === "") return null;
  return /^\d{1,6}(\.\d{1,6})?$/.test(digits) ? Number(digits) : undefined;
}

/** The entry that the fields describe, or the names of those that are wrong. */
export function itemOf(fields: ModelFields): CatalogueModel | (keyof ModelFields)[] {
  const model = fields.model.trim();
  const inputPrice = priceOf(fields.inputPrice);
  const outputPrice = priceOf(fields.outputPrice);
  const contextWindow = tokensOf(fields.contextWindow);
  if (
    model === "" ||
    inputPrice === undefined ||
    outputPrice === undefined ||
    contextWindow === undefined
  ) {
    const wrong: [keyof ModelFields, boolean][] = [
      ["model", model === ""],
      ["inputPrice", inputPrice === undefined],
      ["outputPrice", outputPrice === undefined],
      ["contextWindow", contextWindow === undefined],
    ];
    return wrong.filter(([, bad]) => bad).map(([name]) => name);
  }
  return { driver: fields.driver, model, inputPrice, outputPrice, contextWindow, allowed: fields.allowed };
}
