// The settings of the application: the language of the window.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { LANGUAGES } from "$messages/languages";
import { t } from "$messages/messages.svelte";
import { app } from "$stores/app.svelte";
import App from "../../App.svelte";
import { playPacket, reset } from "../../mock/bindings";

let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  reset();
  app.toasts.list = [];
  app.dialog = null;
  await app.close();
  user = userEvent.setup();
});

const chosen = () => screen.getByTestId("settings-language").textContent?.trim();

const LIST = { hidden: true } as const;

/** Chooses an item of the list of languages, which begins with that of the system. */
async function choose(name: string) {
  (await screen.findByTestId("settings-language")).focus();
  await user.keyboard("{Enter}");
  const options = await screen.findAllByRole("option", LIST);
  expect(options.slice(1).map((one) => one.textContent?.trim())).toEqual(Object.values(LANGUAGES));
  const isReached = () =>
    screen
      .getAllByRole("option", LIST)
      .find((one) => one.hasAttribute("data-highlighted"))
      ?.textContent?.trim() === name;
  await user.keyboard("{Home}");
  for (let pressed = 0; pressed < options.length && !isReached(); pressed++)
    await user.keyboard("{ArrowDown}");
  expect(isReached()).toBe(true);
  await user.keyboard("{Enter}");
}

it("has the window in a chosen language, or in that of the system", async () => {
  const save = vi.spyOn(commands, "saveSettings");
  render(App);
  await screen.findByTestId("welcome-new");
  app.dialog = "settings";
  expect(await screen.findByTestId("settings-language")).toHaveAccessibleName("Language: Like the system");
  expect(document.documentElement.lang).toBe("en");

  await choose("العربية");
  await waitFor(() => expect(document.documentElement.lang).toBe("ar"));
  expect(document.documentElement.dir).toBe("rtl");
  expect(chosen()).toBe("العربية");
  expect(save).toHaveBeenLastCalledWith(expect.objectContaining({ language: "ar", theme: "system" }));

  await choose(t("settings.like_system"));
  await waitFor(() => expect(document.documentElement.lang).toBe("en"));
  expect(document.documentElement.dir).toBe("ltr");
  expect(save).toHaveBeenLastCalledWith(expect.objectContaining({ language: null }));
});

it("has a packet in the language of its study, else in the chosen one", async () => {
  await app.openSample();
  await app.join("Robin");
  playPacket(app.annotatorId ?? 0, [{ text: 3, occasion: 1 }]);
  await app.openSample();
  await app.saveSettings({ ...app.settings, language: "de" });
  render(App);
  await waitFor(() => expect(document.documentElement.lang).toBe("de"));
  vi.spyOn(commands, "project").mockResolvedValue(app.project && { ...app.project, language: "fr" });
  await app.refresh();
  await waitFor(() => expect(document.documentElement.lang).toBe("fr"));
});
