import { cleanup } from "@testing-library/react";
import { afterEach } from "vitest";

afterEach(cleanup);

// A browser's list of fonts, which happy-dom does not have: fields that grow listen to it.
Object.defineProperty(document, "fonts", { value: new EventTarget() });
