import { setTimeout as delay } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { hiddenFor } from "./account-events.ts";

class Page extends EventTarget {
  hidden: boolean;

  constructor(hidden: boolean) {
    super();
    this.hidden = hidden;
  }

  show(hidden: boolean): void {
    this.hidden = hidden;
    this.dispatchEvent(new Event("visibilitychange"));
  }
}

it("hides a page that was opened in the background after the time, until it is shown", async () => {
  const page = new Page(true);
  const isHidden = hiddenFor(page, 10);
  expect(isHidden.value).toBe(false);
  await vi.waitFor(() => expect(isHidden.value).toBe(true));
  page.show(false);
  expect(isHidden.value).toBe(false);
});

it("does not hide a page that is shown again in time", async () => {
  const page = new Page(false);
  const isHidden = hiddenFor(page, 20);
  page.show(true);
  page.show(false);
  await delay(40);
  expect(isHidden.value).toBe(false);
  page.show(true);
  await vi.waitFor(() => expect(isHidden.value).toBe(true));
});
