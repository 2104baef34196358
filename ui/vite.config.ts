/// <reference types="vitest/config" />
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Tests of functions that know no document. */
const logic = "src/{logic,words}/**/*.test.ts";

/**
 * `$bindings` and `$platform` are the only two ways out of the page: the generated commands, and what only a desktop
 * has. In mode `mock` (a plain browser) and in tests they lead to `src/mock`, which a production build never sees.
 */
export default defineConfig(({ mode }) => {
  const mocked = mode === "mock" || mode === "test";
  return {
    plugins: [svelte()],
    resolve: {
      alias: [
        { find: "$bindings", replacement: here(mocked ? "src/mock/bindings.ts" : "src/api/bindings.ts") },
        { find: "$platform", replacement: here(mocked ? "src/mock/platform.ts" : "src/api/platform.ts") },
        // The folders of `src` by name, as in tsconfig.json.
        { find: /^\$(api|components|kinds|logic|stores|views|words)\//, replacement: `${here("src")}/$1/` },
      ],
      // Component tests mount in a document: take Svelte's client, not its server.
      conditions: mode === "test" ? ["browser"] : undefined,
    },
    clearScreen: false,
    server: { port: 5173, strictPort: true },
    build: { target: "safari16.4", assetsInlineLimit: 0, modulePreload: { polyfill: false } },
    test: {
      restoreMocks: true,
      // A busy machine is slow: no test is about time.
      testTimeout: 20_000,
      projects: [
        // A document takes over a second for each file: only tests of the screen have one.
        { extends: true, test: { name: "logic", environment: "node", include: [logic] } },
        {
          extends: true,
          test: {
            name: "screen",
            environment: "jsdom",
            include: ["src/**/*.test.ts"],
            exclude: [logic],
            setupFiles: ["src/test-setup.ts"],
          },
        },
      ],
    },
  };
});
