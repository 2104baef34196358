// The form by which people are invited to answer in their browsers: its validation and its request.
import type { InviteRequest } from "$api/bindings";
import { t } from "$messages/messages.svelte";

export interface InviteForm {
  /** Whether other computers of the network reach it. */
  network: boolean;
  port: number | null;
  /** How people reach it; empty for the address of this computer. */
  address: string;
  behind_proxy: boolean;
  /** Whether anybody can join by one link. */
  joins: boolean;
  per_person: number | null;
  per_text: number | null;
  anchors: number | null;
  /** Minutes. */
  give_back: number | null;
  /** A code or an address. */
  completion: string;
}

/** The defaults. */
export const USUAL: InviteForm = {
  network: false,
  port: 8400,
  address: "",
  behind_proxy: false,
  joins: false,
  per_person: 20,
  per_text: 3,
  anchors: 0,
  give_back: 60,
  completion: "",
};

/** What there is to answer. */
export interface Inviting {
  /** Packets that were handed out. */
  packets: number;
  texts: number;
  questions: number;
}

export type InviteFaults = Partial<Record<keyof InviteForm, string>>;

/** How an address begins that can begin a link: the rule of the program. */
const ADDRESS = /^https?:\/\/[^/\s?#"<>][^\s?#"<>]*$/;

const isWhole = (value: number | null, from: number, to: number): value is number =>
  value !== null && Number.isInteger(value) && value >= from && value <= to;

/** The errors of the form, by field; empty if it is valid. */
export function faults(form: InviteForm, study: Inviting): InviteFaults {
  const found: InviteFaults = {};
  const port = { from: 1, to: 65_535 };
  if (!isWhole(form.port, port.from, port.to)) found.port = t("invite.port_fault", port);
  const address = form.address.trim();
  if (address !== "" && !ADDRESS.test(address)) found.address = t("invite.address_fault");
  if (!form.joins) {
    if (study.packets === 0) found.joins = t("invite.joins_fault_no_packets");
    return found;
  }
  if (study.texts === 0 || study.questions === 0) found.joins = t("invite.joins_fault_empty");
  for (const field of ["per_person", "per_text", "give_back"] as const)
    if (!isWhole(form[field], 1, 4e9)) found[field] = t("study_plan.fault_whole_positive");
  if (!isWhole(form.anchors, 0, 4e9)) found.anchors = t("invite.anchors_fault");
  else if (isWhole(form.per_person, 1, 4e9) && form.anchors >= form.per_person)
    found.anchors = t("invite.anchors_fault_per_person");
  else if (study.texts > 0 && form.anchors >= study.texts) found.anchors = t("invite.anchors_fault_texts");
  return found;
}

/** The request of a valid form. */
export function requestOf(form: InviteForm): InviteRequest {
  const address = form.address.trim();
  const completion = form.completion.trim();
  return {
    network: form.network,
    port: form.port ?? 0,
    address: address === "" ? null : address,
    behind_proxy: address !== "" && form.behind_proxy,
    join: form.joins
      ? {
          per_text: form.per_text ?? 1,
          per_person: form.per_person ?? 1,
          anchors: form.anchors ?? 0,
          give_back_minutes: form.give_back ?? 1,
        }
      : null,
    completion: completion === "" ? null : completion,
  };
}

/** Whether this is a form: another version may have stored it. */
export function isInviteForm(value: unknown): value is InviteForm {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(USUAL).every(([field, usual]) => {
    const stored = (value as Record<string, unknown>)[field];
    return typeof stored === typeof usual || (typeof usual === "number" && stored === null);
  });
}
