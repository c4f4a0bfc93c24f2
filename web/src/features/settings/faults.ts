import { ApiError } from "@/shared/api/errors";
import { messageOf } from "@/shared/ui/States";
import type { AiSettingsPatch, CatalogueModel } from "./types";

type Sent = Partial<AiSettingsPatch & CatalogueModel>;

/** What a refused save says, at the fields that it names; `general` is for no field. */
export interface Faults {
  fields: Record<string, string>;
  general: string | null;
}

export const NO_FAULTS: Faults = { fields: {}, general: null };

/** Errors that mean one field of a connection, by the names that the field has. */
const FIELD_OF_CODE: Record<string, string[]> = {
  bad_base_url: ["baseUrl", "embeddingBaseUrl"],
  unknown_driver: ["driver", "embeddingDriver"],
  unknown_model: ["chatModel", "embeddingModel"],
};

/**
 * `sent` are the fields that were sent: only they can be at fault. `now` are their present
 * values: what was changed since is not at fault any more.
 */
export function faultsOf(error: unknown, sent: Sent, now: Sent = sent): Faults {
  const general = messageOf(error) ?? null;
  if (!(error instanceof ApiError)) return { fields: {}, general };
  const all = namedFields(error.details).filter(([name]) => name in sent);
  if (all.length === 0) {
    const meant = (FIELD_OF_CODE[error.code] ?? []).filter((name) => name in sent);
    // With both connections in one save the error does not say whose it is.
    if (meant.length !== 1) return { fields: {}, general };
    all.push(...meant.map((name): [string, string] => [name, error.message]));
  }
  const standing = all.filter(([name]) => sent[name as keyof Sent] === now[name as keyof Sent]);
  return { fields: Object.fromEntries(standing), general: null };
}

function namedFields(details: unknown): [string, string][] {
  if (!Array.isArray(details)) return [];
  return details.flatMap((fault: unknown): [string, string][] => {
    if (typeof fault !== "object" || fault === null) return [];
    const { path, message } = fault as Record<string, unknown>;
    return typeof path === "string" && typeof message === "string" ? [[path, message]] : [];
  });
}
