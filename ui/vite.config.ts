/// <reference types="vitest/config" />
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { onePage } from "./one-page.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Tests of functions that know no document. */
const logic = "src/{logic,words}/**/*.test.ts";

/**
 * `$bindings` and `$platform` are the only two ways out of the page: the commands, and what only a desktop has.
 * Behind both is `$backend`, the generated commands; in mode `mock` (a plain browser) and in tests `src/mock`, which a
 * production build never sees. In mode `page` they lead to `src/page`, the page of one packet.
 */
export default defineConfig(({ mode }) => {
  const mocked = mode === "mock" || mode === "test";
  const backend = mocked ? "mock" : mode === "page" ? "page" : "api";
  return {
    plugins: mode === "page" ? [svelte(), onePage()] : [svelte()],
    resolve: {
      alias: [
        { find: "$backend", replacement: here(`src/${backend}/bindings.ts`) },
        {
          find: "$bindings",
          replacement: here(mode === "page" ? "src/page/bindings.ts" : "src/api/commands.ts"),
        },
        { find: "$platform", replacement: here(`src/${backend}/platform.ts`) },
        // A plain browser also has the pseudo-language.
        ...(mode === "mock"
          ? [{ find: "$messages/window/messages", replacement: here("src/mock/messages.ts") }]
          : []),
        // The folders of `src` by name, as in tsconfig.json.
        {
          find: /^\$(api|components|kinds|logic|messages|stores|views|words)\//,
          replacement: `${here("src")}/$1/`,
        },
      ],
      // Component tests mount in a document: take Svelte's client, not its server.
      conditions: mode === "test" ? ["browser"] : undefined,
    },
    clearScreen: false,
    server: { port: 5173, strictPort: true },
    build: {
      target: "safari16.4",
      modulePreload: { polyfill: false },
      ...(mode === "page"
        ? { outDir: "dist-page", assetsInlineLimit: Infinity, rolldownOptions: { input: here("page.html") } }
        : { assetsInlineLimit: 0 }),
    },
    test: {
      restoreMocks: true,
      // A busy machine is slow: no test is about time.
      testTimeout: 20_000,
      projects: [
        // A document takes over a second for each file: only tests of the screen have one.
        {
          extends: true,
          test: {
            name: "logic",
            environment: "node",
            include: [logic],
            setupFiles: ["src/messages/window/messages.ts"],
          },
        },
        {
          extends: true,
          test: {
            name: "screen",
            environment: "jsdom",
            include: ["src/**/*.test.ts"],
            exclude: [logic],
            setupFiles: ["src/messages/window/messages.ts", "src/test-setup.ts"],
          },
        },
      ],
    },
  };
});
