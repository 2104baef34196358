// What Markdown becomes on the page: words, and pictures of the project.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import Markdown from "./Markdown.svelte";

const NAME = "0011223344556677";
const show = (body: string) => render(Markdown, { body }).container;
const shown = () => screen.getByTestId("markdown").textContent.replace(/\s+/g, " ").trim();

beforeEach(() => app.guideline.forget());

it("renders inline formatting", () => {
  const page = show(
    "# Title\n\n**bold** _it_ ~~no~~ `code` &amp; more\\\nbelow\n\n1. one\n2. two\n   - three\n\n> said\n\n---\n\n```\na < b\n```\n\n- [x] done\n- [ ] open\n\n| a | b |\n|:-|-:|\n| 1 | 2 |",
  );
  expect(page.querySelector("h3")?.textContent.trim()).toBe("Title");
  expect([...page.querySelectorAll("strong, em, del, p code")].map((one) => one.textContent)).toEqual([
    "bold",
    "it",
    "no",
    "code",
  ]);
  expect(page.querySelector("p")?.textContent).toMatch(/^bold it no code & more\s*below$/);
  expect(page.querySelectorAll("ol > li")).toHaveLength(2);
  expect(page.querySelector("ol ul li")?.textContent.trim()).toBe("three");
  expect(page.querySelector("blockquote p")?.textContent).toBe("said");
  expect(page.querySelector("pre code")?.textContent).toBe("a < b");
  expect(page.querySelectorAll("hr, br")).toHaveLength(2);
  expect(screen.getAllByRole("img").map((box) => box.getAttribute("aria-label"))).toEqual(["done", "open"]);
  expect(page.querySelectorAll("td")[1]).toHaveStyle({ textAlign: "right" });
  expect(page.querySelector("details")).toBeNull();
});

it("renders nothing that could run, load or navigate", () => {
  const body = [
    "<script>window.hit = 1</script>",
    '<img src=x onerror="window.hit = 1">',
    '<a href="javascript:window.hit=1">a</a> <svg onload="window.hit=1"></svg>',
    '<iframe src="https://x.org"></iframe>',
    "<style>body { display: none }</style>",
    "[words](javascript:window.hit=1) [more](https://x.org/more) <https://y.org>",
    "![alt](data:image/svg+xml;base64,AAAA) ![two](https://x.org/a.png) ![](file:///etc/passwd)",
    '![quote" onerror="window.hit=1](picture:0011223344556677)',
    "&lt;script&gt;window.hit = 1&lt;/script&gt;",
  ].join("\n\n");
  const page = show(body);
  expect(
    page.querySelector("script, style, iframe, svg[onload], a, link, object, [onerror], [onload]"),
  ).toBeNull();
  expect(page.querySelectorAll("[src], [href]")).toHaveLength(0);
  expect((window as { hit?: number }).hit).toBeUndefined();
  const words = shown();
  expect(words).toContain("<script>window.hit = 1</script>");
  expect(words).toContain('<img src=x onerror="window.hit = 1">');
  expect(words).toContain("words (javascript:window.hit=1)");
  expect(words).toContain("more (https://x.org/more) https://y.org");
  expect(words).toContain("alt (a picture that is not in the project)");
  expect(screen.getAllByTestId("picture-elsewhere")).toHaveLength(3);
});

it("loads a picture of the project once, and shows if it is not available", async () => {
  const picture = vi.spyOn(commands, "picture");
  show(`![a face](picture:${NAME}) ![](picture:${NAME})`);
  expect(screen.getAllByTestId("picture-waiting")).toHaveLength(2);
  const [first] = await screen.findAllByTestId("picture");
  expect(first).toHaveAttribute("alt", "a face");
  expect(first?.getAttribute("src")).toMatch(/^data:image\/png;base64,iVBOR/);
  expect(picture).toHaveBeenCalledExactlyOnceWith(NAME);
});

it("reports a missing picture, and requests it again the next time", async () => {
  const picture = vi
    .spyOn(commands, "picture")
    .mockRejectedValueOnce({ code: "no-picture", message: "gone", detail: null });
  show(`![a face](picture:${NAME})`);
  expect((await screen.findByTestId("picture-missing")).textContent).toContain("Picture missing: a face");
  expect(app.toasts.list).toEqual([]);
  show(`![](picture:${NAME})`);
  await screen.findByTestId("picture");
  expect(picture).toHaveBeenCalledTimes(2);
});

it("shows a picture that is not in the project yet", () => {
  const pictures = new Map([[NAME, { name: NAME, media_type: "image/gif", base64: "R0lG" }]]);
  const picture = vi.spyOn(commands, "picture");
  render(Markdown, { body: `![](picture:${NAME})`, pictures });
  expect(screen.getByTestId("picture")).toHaveAttribute("src", "data:image/gif;base64,R0lG");
  expect(picture).not.toHaveBeenCalled();
});

it("lists three headings or more with links to them", async () => {
  const scrolled = vi.spyOn(Element.prototype, "scrollIntoView");
  show("# One\n\n## Two\n\ntext\n\n## *Three* & more");
  await userEvent.click(screen.getByText("Contents"));
  await userEvent.click(screen.getByRole("button", { name: "Three & more" }));
  expect(scrolled).toHaveBeenCalledOnce();
  await waitFor(() => expect(document.activeElement?.textContent.trim()).toBe("Three & more"));
});

it("shows excessive nesting as text", () => {
  const page = show(`${">".repeat(10_000)} deep\n\n${"- ".repeat(3000)}low`);
  expect(shown()).toContain("deep");
  expect(shown()).toContain("low");
  expect(page.querySelectorAll("blockquote").length).toBeLessThan(20);
});

it("renders a long body in steps, and at once up to a chosen heading", async () => {
  const sections = Array.from({ length: 400 }, (_, i) => `## Part ${i}\n\nwords`).join("\n\n");
  const { container, rerender } = render(Markdown, { body: sections });
  expect(container.querySelectorAll("p")).toHaveLength(30);
  await userEvent.click(screen.getByText("Contents"));
  await userEvent.click(screen.getByRole("button", { name: "Part 399" }));
  await waitFor(() => expect(document.activeElement).toHaveTextContent("Part 399"));
  expect(container.querySelectorAll("p")).toHaveLength(400);
  // A change preserves the rendered elements.
  const last = document.activeElement;
  await rerender({ body: `new\n\n${sections}` });
  expect(container.querySelectorAll("p")).toHaveLength(401);
  expect(document.activeElement).toBe(last);
  await rerender({ body: Array.from({ length: 300 }, (_, i) => `other ${i}`).join("\n\n") });
  await waitFor(() => expect(container.querySelectorAll("p")).toHaveLength(300));
});
