// Builds a page as one file that makes no request: scripts and styles are in it, and a policy forbids everything else.
import { createHash } from "node:crypto";
import type { Plugin } from "vite";

/** Puts the script and the style of the page into its HTML. */
export function onePage(): Plugin {
  return {
    name: "one-page",
    enforce: "post",
    generateBundle(_, bundle) {
      const files = Object.values(bundle);
      const page = files.find((file) => file.fileName.endsWith(".html"));
      const scripts = files.flatMap((file) => (file.type === "chunk" ? [file.code] : []));
      const styles = files.flatMap((file) =>
        file.type === "asset" && file.fileName.endsWith(".css") ? [String(file.source)] : [],
      );
      if (page?.type !== "asset" || scripts.length !== 1 || files.length > 2 + styles.length)
        return this.error("the page must have one script and no other files");
      // In HTML, only these could end the element, or hide its end; in a script they are parts of strings.
      const inHtml = (code: string) =>
        code.replaceAll("\r\n", "\n").replaceAll(/<(?=!--|\/?script)/gi, "\\x3C");
      const [script] = scripts.map((code) => `\n${inHtml(code)}\n`);
      const hash = createHash("sha256")
        .update(script ?? "")
        .digest("base64");
      const policy = [
        "default-src 'none'",
        `script-src 'sha256-${hash}'`,
        "style-src 'unsafe-inline'",
        "img-src data:",
        "font-src data:",
        "base-uri 'none'",
        "form-action 'none'",
      ].join("; ");
      page.source = String(page.source)
        .replace(/<script type="module"[^>]*><\/script>/, "")
        .replaceAll(/<link rel="stylesheet"[^>]*>/g, "")
        .replace("<title>", `<meta http-equiv="Content-Security-Policy" content="${policy}" />\n    <title>`)
        .replace("</head>", () => `<style>${styles.join("\n")}</style>\n  </head>`)
        .replace("</body>", () => `<script type="module">${script}</script>\n  </body>`);
      for (const file of files) if (file !== page) delete bundle[file.fileName];
    },
  };
}
