import react from "@vitejs/plugin-react";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  server: { proxy: { "/v1": "http://127.0.0.1:8000" } },
  // Assets stay files: a data: URL would be refused by the page's security policy.
  // The style sheets use light-dark(), which only these browsers and later ones know.
  build: {
    outDir: "dist",
    assetsInlineLimit: 0,
    target: "es2023",
    cssTarget: ["chrome123", "firefox121", "safari17.5"],
  },
  test: {
    environment: "happy-dom",
    include: ["tests/**/*.test.{ts,tsx}"],
    setupFiles: ["tests/setup.ts"],
  },
});
