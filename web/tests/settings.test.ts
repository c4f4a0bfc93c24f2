import { describe, expect, it } from "vitest";
import type { Part, Typed } from "@/features/settings/connection";
import { faultsOf } from "@/features/settings/faults";
import {
  NO_EDITS,
  badNumbers,
  chooseDriver,
  connection,
  patchOf,
  setValues,
  testOf,
  tokensOf,
  type,
} from "@/features/settings/form";
import { fieldsOf, itemOf, priceOf } from "@/features/settings/modelForm";
import { ApiError } from "@/shared/api/errors";
import { MODELS, SETTINGS, withOpenAi } from "./settingsData";

const typed = (change: Typed, part: Part = "chat", driver = "openai") =>
  type(NO_EDITS, part, driver, change);
const keyNotice = (change: Typed, settings = SETTINGS) =>
  connection(settings, typed(change), "chat", MODELS).key;

describe("what a save sends", () => {
  it("is nothing when nothing was changed, or changed back", () => {
    expect(patchOf(SETTINGS, NO_EDITS, MODELS)).toEqual({});
    expect(patchOf(SETTINGS, typed({ model: " gpt-4o ", baseUrl: "" }), MODELS)).toEqual({});
    const there = chooseDriver(NO_EDITS, "chat", "anthropic");
    expect(patchOf(SETTINGS, chooseDriver(there, "chat", "openai"), MODELS)).toEqual({});
  });

  it("is only what differs", () => {
    const edits = setValues(typed({ apiKey: "sk-new" }), { mcp: true, chatTokenCeiling: "" });
    expect(patchOf(SETTINGS, edits, MODELS)).toEqual({ apiKey: "sk-new", mcp: true, chatTokenCeiling: null });
  });

  it("takes another provider with its own model, address and key, and drops what was of the old one", () => {
    const edits = type(chooseDriver(typed({ apiKey: "sk-openai" }), "chat", "ollama"), "chat", "ollama", {
      model: "qwen3",
    });
    expect(patchOf(SETTINGS, edits, MODELS)).toEqual({ driver: "ollama", chatModel: "qwen3", smallModel: null });
    const moved = type(edits, "chat", "ollama", { baseUrl: "http://other:11434/v1" });
    expect(patchOf(SETTINGS, moved, MODELS)).toMatchObject({ baseUrl: "http://other:11434/v1" });
    expect(patchOf(SETTINGS, chooseDriver(moved, "chat", "openai"), MODELS)).toEqual({ apiKey: "sk-openai" });
  });

  it("proposes the first allowed model of another provider, and the only one where there is one", () => {
    const to = (driver: string) => patchOf(SETTINGS, chooseDriver(NO_EDITS, "chat", driver), MODELS).chatModel;
    expect(to("anthropic")).toBe("claude-sonnet");
    expect(to("offline")).toBe("offline");
    expect(to("ollama")).toBe("");
  });

  it("keeps the two connections apart", () => {
    const edits = type(chooseDriver(NO_EDITS, "embedding", "ollama"), "embedding", "ollama", {
      model: "nomic",
      baseUrl: "http://gpu:11434/v1",
    });
    expect(patchOf(SETTINGS, edits, MODELS)).toEqual({
      embeddingDriver: "ollama",
      embeddingModel: "nomic",
      embeddingBaseUrl: "http://gpu:11434/v1",
    });
  });

  it("follows the saved settings where nothing was typed", () => {
    const edits = setValues(NO_EDITS, { mcp: true });
    const renewed = { ...SETTINGS, chat: false, chatModel: "gpt-5", mcp: true, version: 5 };
    expect(patchOf(renewed, edits, MODELS)).toEqual({});
  });
});

describe("a stored key", () => {
  it("is kept, replaced or removed", () => {
    expect(keyNotice({})).toBe("set");
    expect(keyNotice({ apiKey: "sk" })).toBe("typed");
    expect(keyNotice({ apiKey: "" })).toBe("removed");
    expect(patchOf(SETTINGS, typed({ apiKey: "" }), MODELS)).toEqual({ apiKey: "" });
  });

  it("is asked for again when the address has another scheme, host or port", () => {
    expect(keyNotice({ baseUrl: "https://proxy.example.org/v1" })).toBe("changedOrigin");
    expect(keyNotice({ baseUrl: "http://api.openai.com/v1" })).toBe("changedOrigin");
    expect(keyNotice({ baseUrl: "https://api.openai.com:8443/v1" })).toBe("changedOrigin");
    expect(keyNotice({ baseUrl: "not an address" })).toBe("changedOrigin");
  });

  it("stays when only the path differs, or the standard port is spelled out", () => {
    expect(keyNotice({ baseUrl: "https://api.openai.com/v2" })).toBe("set");
    expect(keyNotice({ baseUrl: "https://API.openai.com:443/v1 " })).toBe("set");
    expect(keyNotice({ baseUrl: "" })).toBe("set");
    const proxied = withOpenAi({ baseUrl: "https://proxy.example.org/v1" });
    expect(keyNotice({ baseUrl: "" }, proxied)).toBe("changedOrigin");
  });

  it("says why it cannot be used", () => {
    expect(keyNotice({}, withOpenAi({ apiKeyState: "unreadable" }))).toBe("unreadable");
    expect(keyNotice({}, withOpenAi({ apiKeyState: "other-origin" }))).toBe("otherOrigin");
    const none = withOpenAi({ apiKeyState: "none" });
    expect(keyNotice({ baseUrl: "https://proxy.example.org" }, none)).toBe("none");
  });
});

describe("a test", () => {
  it("takes the form as it stands, with a key only when one was typed", () => {
    expect(testOf(SETTINGS, typed({ model: "o3" }), "chat", MODELS)).toEqual({
      capability: "chat", driver: "openai", chatModel: "o3", baseUrl: "", apiKey: undefined,
    });
    expect(testOf(SETTINGS, typed({ apiKey: "sk" }), "chat", MODELS).apiKey).toBe("sk");
    expect(testOf(SETTINGS, NO_EDITS, "embedding", MODELS)).toMatchObject({
      capability: "embeddings", embeddingDriver: "local", embeddingModel: "all-MiniLM-L6-v2",
    });
  });
});

describe("numbers", () => {
  it("of tokens are whole and above zero, or none", () => {
    expect(["", " 128 000 ", "1_000", "0", "-1", "1.5", "12x", "9".repeat(12)].map(tokensOf)).toEqual([
      null, 128_000, 1000, undefined, undefined, undefined, undefined, undefined,
    ]);
    expect(badNumbers(SETTINGS, setValues(NO_EDITS, { chatContextWindow: "many" }))).toEqual(["chatContextWindow"]);
  });

  it("of prices may have a point or a comma", () => {
    expect(["", "0.25", "0,25", "15", ".5", "-1", "a"].map(priceOf)).toEqual([
      null, 0.25, 0.25, 15, undefined, undefined, undefined,
    ]);
  });
});

describe("a catalogue entry", () => {
  it("comes back from its fields as it went in", () => {
    for (const item of MODELS) expect(itemOf(fieldsOf(item))).toEqual(item);
  });

  it("names the fields that are wrong", () => {
    const fields = { driver: "openai", model: " ", inputPrice: "x", outputPrice: "", contextWindow: "0", allowed: true };
    expect(itemOf(fields)).toEqual(["model", "inputPrice", "contextWindow"]);
  });
});

describe("answers that nobody follows", () => {
  const edited = (change: Parameters<typeof setValues>[1]) => setValues(NO_EDITS, change);

  it("are sent as they are chosen, and only when they differ", () => {
    expect(patchOf(SETTINGS, edited({ onDisconnect: "cancel", disconnectGraceSeconds: "5" }), [])).toEqual({
      onDisconnect: "cancel",
      disconnectGraceSeconds: 5,
    });
    expect(patchOf(SETTINGS, edited({ disconnectGraceSeconds: "60" }), [])).toEqual({});
  });

  it("have to wait for a whole number of seconds", () => {
    for (const text of ["", "0", "-1", "1.5", "soon"]) {
      const edits = edited({ disconnectGraceSeconds: text });
      expect(badNumbers(SETTINGS, edits)).toContain("disconnectGraceSeconds");
      expect(patchOf(SETTINGS, edits, [])).toEqual({});
    }
  });
});

describe("a refused save", () => {
  const refused = (error: string, details?: unknown) =>
    new ApiError(422, { error, message: "Words.", details });

  it("is told at the fields that it names", () => {
    const details = [{ path: "chatModel", message: "too long" }];
    expect(faultsOf(refused("invalid_input", details), { chatModel: "x" })).toEqual({
      fields: { chatModel: "too long" }, general: null,
    });
  });

  it("is told at the field that its code means, when only one can be meant", () => {
    expect(faultsOf(refused("bad_base_url"), { baseUrl: "x" }).fields).toEqual({ baseUrl: "Words." });
    expect(faultsOf(refused("bad_base_url"), { embeddingBaseUrl: "x" }).fields).toEqual({ embeddingBaseUrl: "Words." });
    expect(faultsOf(refused("bad_base_url"), { baseUrl: "x", embeddingBaseUrl: "y" })).toEqual({
      fields: {}, general: "Words.",
    });
  });

  it("is told in general when it names nothing that was sent", () => {
    const details = [{ path: "elsewhere", message: "bad" }, "odd", null];
    expect(faultsOf(refused("invalid_input", details), { mcp: true })).toEqual({ fields: {}, general: "Words." });
    expect(faultsOf(new Error("No."), {}).general).toBe("No.");
  });

  it("is no fault of a value that was changed since", () => {
    expect(faultsOf(refused("bad_base_url"), { baseUrl: "x" }, { baseUrl: "https://y" })).toEqual({
      fields: {}, general: null,
    });
  });
});
