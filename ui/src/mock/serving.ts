// The server of the mock: links of the packets in memory, and answers that tests let arrive.
import type * as view from "$api/bindings";
import { refuse } from "./refusals";

export class MockServing {
  #request: view.InviteRequest | null = null;
  #answered = new Map<string, number>();
  problems: view.Problem[] = [];
  ended: view.Problem | null = null;

  constructor(private readonly report: () => view.StudyReport) {}

  invite(request: view.InviteRequest): view.ServingInfo {
    if (this.#request && !this.ended) refuse("server-running", [this.#address()]);
    if (!request.join && this.report().people.length === 0) refuse("server-no-packets");
    this.stop();
    this.#request = request;
    return this.info() ?? refuse("server-not-running");
  }

  /** Answers of a person were merged. */
  receive(annotator: string, answers: number): void {
    this.#answered.set(annotator, (this.#answered.get(annotator) ?? 0) + answers);
  }

  info(): view.ServingInfo | null {
    if (!this.#request) return null;
    const { address, join } = this.#request;
    const links = address ?? this.#address();
    return {
      address: this.#address(),
      links: this.report().people.map(({ annotator, wanted }, i) => ({
        annotator,
        texts: wanted,
        link: `${links}/p/${String(i).padStart(32, "0")}`,
        answered: this.#answered.get(annotator) ?? 0,
      })),
      join_link: join ? `${links}/join` : null,
      received: [...this.#answered.values()].reduce((sum, n) => sum + n, 0),
      problems: this.problems,
      ended: this.ended,
    };
  }

  stop(): void {
    this.#request = null;
    this.#answered = new Map();
    this.problems = [];
    this.ended = null;
  }

  saveLinks(): number {
    return this.info()?.links.length ?? refuse("server-not-running");
  }

  #address(): string {
    return `http://${this.#request?.network ? "192.168.1.20" : "127.0.0.1"}:${this.#request?.port ?? 0}`;
  }
}
