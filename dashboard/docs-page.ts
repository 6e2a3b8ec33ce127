// The script of the pages of /docs: search, copy buttons, languages of samples, and requests that run. Pages work
// without it.

import type { Result, searchOf } from "./docs-search.ts";

const LANGUAGE = "copra-language";
const MOST_RESULTS = 20;
/** Set by the script of the search, which is docs-search.ts (local/guides/build-guides.ts). */
declare global {
  var copraSearch: { readonly searchOf: typeof searchOf } | undefined;
}

/** A command that only reads, and whose response ends. */
const READ = /^curl (?:-u \$API_KEY: |-H "[^"]+" )?\$API(\/\S+)$(?<!\/events)/;

const make = (tag: string, text: string, ...children: Node[]): HTMLElement => {
  const element = document.createElement(tag);
  element.append(text, ...children);
  return element;
};

for (const block of document.querySelectorAll<HTMLElement>(".code")) {
  const button = make("button", "Copy");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("code")?.textContent ?? "");
    button.textContent = "Copied";
  });
  block.append(button);
}

function chooseLanguage(language: string): void {
  for (const sample of document.querySelectorAll(".sample")) {
    for (const block of sample.querySelectorAll<HTMLElement>(".code"))
      block.hidden = block.dataset.language !== language;
    for (const tab of sample.querySelectorAll(".tabs button"))
      tab.setAttribute("aria-pressed", String(tab.textContent === language));
  }
}

for (const sample of document.querySelectorAll(".sample")) {
  const tabs = make("div", "");
  tabs.className = "tabs";
  for (const { dataset } of sample.querySelectorAll<HTMLElement>(".code")) {
    const tab = make("button", dataset.language ?? "");
    tab.addEventListener("click", () => {
      localStorage.setItem(LANGUAGE, tab.textContent ?? "");
      chooseLanguage(tab.textContent ?? "");
    });
    tabs.append(tab);
  }
  sample.prepend(tabs);
  const path = READ.exec(sample.querySelector("code")?.textContent ?? "")?.[1];
  if (path !== undefined) sample.append(runnable(path));
}

/** A form that sends the sample's request with the session of the dashboard. Its path can be changed first. */
function runnable(path: string): HTMLElement {
  const field = document.createElement("input");
  field.value = path;
  field.ariaLabel = "Path of the request";
  const answer = make("pre", "");
  answer.tabIndex = 0;
  answer.hidden = true;
  const form = make("form", "", make("span", "GET"), field, make("button", "Run"), answer);
  form.className = "run";
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    answer.hidden = false;
    answer.textContent = await answerOf(field.value);
  });
  return form;
}

/** The status and body of a response of this service. */
async function answerOf(path: string): Promise<string> {
  try {
    const response = await fetch(path.replace(/^\/*/, "/"));
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    const hint = response.status === 401 ? "Sign in to the dashboard in this browser first.\n" : "";
    return `${hint}${response.status}\n${isJson ? JSON.stringify(JSON.parse(text), null, 2) : text}`;
  } catch (error) {
    return `The service did not respond: ${error}`;
  }
}

chooseLanguage(localStorage.getItem(LANGUAGE) ?? "curl");

const dialog = document.querySelector<HTMLDialogElement>("#search");
const input = dialog?.querySelector("input");
const list = dialog?.querySelector("ol");
const searchButton = document.querySelector<HTMLButtonElement>("#open-search");
/** Loads the script of the search. The policy of pages allows an added element, but not `import()`. */
const loadSearch = (): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = "/guides/search.js";
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });

let search: ReturnType<typeof searchOf> | undefined;

async function openSearch(): Promise<void> {
  dialog?.showModal();
  if (search === undefined) {
    const [response] = await Promise.all([fetch("/guides/search.json"), loadSearch()]);
    search = globalThis.copraSearch?.searchOf(await response.json());
  }
  showResults();
}

function showResults(): void {
  const text = input?.value.trim() ?? "";
  // Until the script arrives, the text waits in the field.
  if (search === undefined) return;
  const results = text === "" ? [] : search(text).slice(0, MOST_RESULTS);
  list?.replaceChildren(...results.map(itemOf));
  if (text !== "" && results.length === 0) list?.append(make("li", "No page has these words."));
}

function itemOf({ section: [page, title, heading, id, text], word }: Result): HTMLElement {
  const at = text.toLowerCase().indexOf(word);
  const start = Math.max(0, at - 50);
  const excerpt = make("p", at < 0 ? "" : text.slice(start, at));
  if (at >= 0) excerpt.append(make("mark", text.slice(at, at + word.length)));
  excerpt.append(text.slice(at < 0 ? 0 : at + word.length, start + 150));
  const name = heading === "" ? title : `${title}: ${heading}`;
  const link = document.createElement("a");
  link.href = `/docs/${page}${id === "" ? "" : `#${id}`}`;
  link.append(make("strong", name), excerpt);
  link.addEventListener("click", () => dialog?.close());
  return make("li", "", link);
}

/** The arrow keys move between the field and the results. */
function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const stops = [...(dialog?.querySelectorAll<HTMLElement>("input, a") ?? [])];
  stops[stops.indexOf(document.activeElement as HTMLElement) + step]?.focus();
}

if (searchButton) searchButton.hidden = false;
searchButton?.addEventListener("click", openSearch);
input?.addEventListener("input", showResults);
dialog?.addEventListener("keydown", moveFocus);
addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  void openSearch();
});
