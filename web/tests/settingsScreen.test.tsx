import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { UserMenu } from "@/features/auth/components/UserMenu";
import AiSettingsScreen from "@/features/settings/components/AiSettingsScreen";
import { AiSetupCard } from "@/features/settings/components/AiSetupCard";
import type { AiSettings, AiStatus } from "@/features/settings/types";
import { FakeServer, json, refusal } from "./fakeServer";
import { show } from "./render";
import { MODELS, SETTINGS, STATUS, withOpenAi } from "./settingsData";

const URL = "/v1/workspace/ai-settings";
const SAVE = `PATCH ${URL}`;
const TEST = `POST ${URL}/test`;

let server: FakeServer;
let stored: AiSettings;

const person = (role: string) =>
  json({ user: { id: "u1", email: "a@b.c", name: "Ada", role }, workspace: { id: "w1", name: "Acme" } });

beforeEach(() => {
  stored = SETTINGS;
  server = new FakeServer()
    .on("GET /v1/auth/me", () => person("owner"))
    .on(`GET ${URL}`, () => json(stored))
    .on("GET /v1/workspace/ai-models", () => json({ items: MODELS }));
});

afterEach(() => server.close());

let refetch: () => Promise<void>;

function Refetcher() {
  const client = useQueryClient();
  useEffect(() => {
    refetch = () => client.refetchQueries({ queryKey: ["ai-settings"] });
  }, [client]);
  return null;
}

async function open() {
  show(
    <>
      <AiSettingsScreen />
      <Refetcher />
    </>,
  );
  const form = await screen.findByRole("form", { name: "AI settings" });
  await screen.findByRole("table");
  return form;
}

const fill = (label: string | RegExp, value: string) => {
  const [field] = screen.getAllByLabelText(label, { selector: "input, select" });
  if (field === undefined) throw new Error(`no field ${String(label)}`);
  fireEvent.change(field, { target: { value } });
};
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));
const key = () => document.querySelector<HTMLInputElement>("input[type=password]");

describe("the AI settings", () => {
  it("show for each provider the fields that it needs and no others", async () => {
    await open();
    expect(key()).not.toBeNull();
    expect(screen.getByText(/https:\/\/api\.openai\.com\/v1/)).toBeTruthy();
    fill("Provider", "offline");
    expect(key()).toBeNull();
    expect(screen.queryByLabelText(/Base URL/)).toBeNull();
    expect(screen.getByText(/quotes them/)).toBeTruthy();
    fill("Provider", "ollama");
    expect(screen.getByDisplayValue("http://gpu:11434/v1")).toBeTruthy();
  });

  it("never show a key, and keep it when its field is left empty", async () => {
    server.on(SAVE, () => json({ ...stored, chatModel: "o3" }));
    await open();
    expect(key()?.value).toBe("");
    expect(key()?.placeholder).toContain("A key is set");
    fill(/^Model/, "o3");
    press("Save");
    await waitFor(() => expect(screen.queryByRole("button", { name: "Save" })).toBeNull());
    expect(server.asked(SAVE)[0]?.body).toEqual({ chatModel: "o3" });
  });

  it("ask for the key at once when the address becomes another server's", async () => {
    await open();
    fill(/Base URL/, "https://proxy.example.org/v1");
    expect(screen.getByText(/another server than the one that the stored key is for/)).toBeTruthy();
    expect(key()?.placeholder).toBe("Enter the key again");
    fill(/Base URL/, "https://api.openai.com/v2");
    expect(screen.queryByText(/another server/)).toBeNull();
  });

  it("say why a stored key is of no use", async () => {
    stored = withOpenAi({ hasApiKey: false, apiKeyState: "unreadable" });
    await open();
    expect(screen.getByText(/cannot be read/)).toBeTruthy();
  });

  it("remove a key only when that was asked for", async () => {
    server.on(SAVE, () => json(withOpenAi({ hasApiKey: false, apiKeyState: "none" })));
    await open();
    press("Remove key");
    expect(screen.getByText(/will be removed when you save/)).toBeTruthy();
    press("Keep the key");
    expect(screen.queryByRole("button", { name: "Save" })).toBeNull();
    press("Remove key");
    press("Save");
    await waitFor(() => expect(server.asked(SAVE)[0]?.body).toEqual({ apiKey: "" }));
  });

  it("keep what was typed while they are fetched again", async () => {
    await open();
    fill(/^Model/, "o3");
    stored = { ...SETTINGS, version: 5, smallModel: "gpt-5-nano", indexedPages: 3 };
    await act(() => refetch());
    expect(await screen.findByText(/3 of 8 pages/)).toBeTruthy();
    expect(screen.getByDisplayValue("o3")).toBeTruthy();
    expect(screen.getByDisplayValue("gpt-5-nano")).toBeTruthy();
  });

  it("keep the form when a save is refused, and say at the field why", async () => {
    server.on(SAVE, () =>
      json({ error: "invalid_input", message: "x", details: [{ path: "baseUrl", message: "must be https" }] }, 422),
    );
    await open();
    fill(/Base URL/, "http://10.0.0.1/v1");
    fill(/^Model/, "o3");
    press("Save");
    const field = await screen.findByText("must be https");
    expect(field.closest(".mantine-InputWrapper-root")?.textContent).toContain("Base URL");
    expect(screen.getByDisplayValue("o3")).toBeTruthy();
    fill(/Base URL/, "https://ok.example.org/v1");
    expect(screen.queryByText("must be https")).toBeNull();
  });

  it("do not send a number that is none", async () => {
    await open();
    fill(/Context window/, "many");
    press("Save");
    expect(screen.getByText(/whole number/)).toBeTruthy();
    expect(server.asked(SAVE)).toEqual([]);
  });

  it("test what is in the form, and tell the result in words until something is changed", async () => {
    server.on(TEST, ({ body }) =>
      (body as { apiKey?: string }).apiKey === "bad"
        ? json({ ok: false, timeMs: 80, error: { code: "provider_auth", message: "401", status: 401 } })
        : json({ ok: true, timeMs: 318, dimensions: 384 }),
    );
    const form = await open();
    const [chat, embeddings] = within(form).getAllByRole("button", { name: "Test the connection" });
    if (!chat || !embeddings || !key()) throw new Error("two tests");
    fireEvent.change(key() as HTMLInputElement, { target: { value: "bad" } });
    fireEvent.click(chat);
    expect(await screen.findByText("The provider does not accept the key")).toBeTruthy();
    expect(server.asked(TEST)[0]?.body).toEqual({
      capability: "chat", driver: "openai", chatModel: "gpt-4o", baseUrl: "", apiKey: "bad",
    });
    fireEvent.change(key() as HTMLInputElement, { target: { value: "better" } });
    expect(screen.queryByText("The provider does not accept the key")).toBeNull();
    fireEvent.click(embeddings);
    expect(await screen.findByText(/318 ms; a vector has 384 dimensions/)).toBeTruthy();
  });

  it("say when no test could be made", async () => {
    server.on(TEST, () => refusal(503, "unavailable"));
    const form = await open();
    const [chat] = within(form).getAllByRole("button", { name: "Test the connection" });
    if (chat) fireEvent.click(chat);
    expect(await screen.findByText("The test could not be made")).toBeTruthy();
  });

  it("go back to the default instructions", async () => {
    stored = { ...SETTINGS, systemPrompt: "Be brief." };
    server.on(SAVE, () => json(SETTINGS));
    await open();
    expect(screen.getByText("Cite your sources.")).toBeTruthy();
    press("Use the default");
    press("Save");
    await waitFor(() => expect(server.asked(SAVE)[0]?.body).toEqual({ systemPrompt: "" }));
  });

  it("are not shown to members, nor asked for", async () => {
    server.on("GET /v1/auth/me", () => person("member"));
    show(<AiSettingsScreen />);
    expect(await screen.findByText(/for owners and admins/)).toBeTruthy();
    expect(server.asked(`GET ${URL}`)).toEqual([]);
  });
});

describe("the model catalogue", () => {
  it("adds an entry, with the fields checked first", async () => {
    server.on("PUT /v1/workspace/ai-models", ({ body }) => json(body));
    await open();
    press("Add a model");
    const dialog = within(await screen.findByRole("dialog"));
    const save = () => fireEvent.click(dialog.getByRole("button", { name: "Save" }));
    save();
    expect(dialog.getByText(/as its provider spells it/)).toBeTruthy();
    fireEvent.change(dialog.getByLabelText("Model"), { target: { value: "o3" } });
    fireEvent.change(dialog.getByLabelText(/Input price/), { target: { value: "1,1" } });
    save();
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(server.asked("PUT /v1/workspace/ai-models")[0]?.body).toEqual({
      driver: "openai", model: "o3", inputPrice: 1.1, outputPrice: null, contextWindow: null, allowed: true,
    });
  });

  it("allows and removes an entry", async () => {
    server
      .on("PUT /v1/workspace/ai-models", ({ body }) => json(body))
      .on("DELETE /v1/workspace/ai-models", () => new Response(null, { status: 204 }));
    await open();
    fireEvent.click(screen.getByRole("switch", { name: "claude-old: allowed" }));
    await waitFor(() =>
      expect(server.asked("PUT /v1/workspace/ai-models")[0]?.body).toMatchObject({ model: "claude-old", allowed: true }),
    );
    press("Remove claude-old");
    await waitFor(() => expect(server.asked("DELETE /v1/workspace/ai-models")).toHaveLength(1));
  });
});

describe("the set-up card (PV-13)", () => {
  const card = (status: Partial<AiStatus>) => {
    server.on("GET /v1/workspace/ai-status", () => json({ ...STATUS, ...status }));
    return show(<AiSetupCard />);
  };

  it("tells an admin what is missing and leads to the settings", async () => {
    stored = { ...SETTINGS, ready: false, missing: ["apiKey", "chatModel"] };
    card({ configured: false });
    expect(await screen.findByText(/the API key, the chat model/)).toBeTruthy();
    expect(screen.getByRole("link").getAttribute("href")).toBe("/settings/ai");
  });

  it("sends a member to the admin, without a link and without asking for the settings", async () => {
    card({ configured: false, canConfigure: false });
    expect(await screen.findByText(/Ask an admin/)).toBeTruthy();
    expect(screen.queryByRole("link")).toBeNull();
    expect(server.asked(`GET ${URL}`)).toEqual([]);
  });

  it("says why a model does not answer", async () => {
    card({ reachable: false, code: "provider_quota", reason: "insufficient_quota" });
    expect(await screen.findByText(/quota is used up/)).toBeTruthy();
    expect(screen.getByText(/insufficient_quota/)).toBeTruthy();
  });

  it("is a quiet line for admins while no language model is connected", async () => {
    card({ driver: "offline", model: "offline", reachable: null });
    expect(await screen.findByText(/answers are quotations/)).toBeTruthy();
    expect(screen.queryByRole("heading")).toBeNull();
  });

  it.each<[string, Partial<AiStatus>]>([
    ["all is well", {}],
    ["nothing was asked yet", { reachable: null }],
    ["a member reads quotations", { driver: "offline", canConfigure: false }],
  ])("is not there when %s", async (_, status) => {
    const { container } = card(status);
    await waitFor(() => expect(server.asked("GET /v1/workspace/ai-status")).toHaveLength(1));
    await act(async () => {});
    expect(container.querySelector(".setup-card, .setup-hint")).toBeNull();
  });
});

describe("the account's menu", () => {
  it.each([
    ["owner", true],
    ["admin", true],
    ["member", false],
  ])("leads an %s to the settings: %s", async (role, leads) => {
    server.on("GET /v1/auth/me", () => person(role));
    show(<UserMenu />);
    fireEvent.click(await screen.findByRole("button", { name: /Account/ }));
    // It may still fade in, which counts as hidden.
    const items = await screen.findAllByRole("menuitem", { hidden: true });
    expect(items.map((item) => item.textContent)).toEqual(
      leads ? ["AI settings", "Sign out"] : ["Sign out"],
    );
  });
});
