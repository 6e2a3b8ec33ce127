// The script of the pages of /docs: search, copy buttons, and languages of samples. Pages work without it.

/** As in local/guides/page.ts. */
type Section = readonly [page: string, title: string, heading: string, id: string, text: string];

const LANGUAGE = "copra-language";
const MOST_RESULTS = 20;

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
}
chooseLanguage(localStorage.getItem(LANGUAGE) ?? "curl");

const dialog = document.querySelector<HTMLDialogElement>("#search");
const input = dialog?.querySelector("input");
const list = dialog?.querySelector("ol");
const searchButton = document.querySelector<HTMLButtonElement>("#open-search");
let sections: readonly Section[] = [];

async function openSearch(): Promise<void> {
  dialog?.showModal();
  if (sections.length === 0) sections = await (await fetch("/guides/search.json")).json();
  showResults();
}

/** 0 if the section lacks a word. Words in headings count more. */
function scoreOf([, title, heading, , text]: Section, words: readonly string[]): number {
  const [head, body] = [`${title} ${heading}`.toLowerCase(), text.toLowerCase()];
  const scores = words.map((word): number => {
    if (head.includes(word)) return heading.toLowerCase().startsWith(word) || heading === "" ? 8 : 5;
    return body.includes(word) ? 1 : 0;
  });
  return scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score, 0);
}

function showResults(): void {
  const words = (input?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const found = sections
    .map((section) => ({ section, score: words.length === 0 ? 0 : scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MOST_RESULTS);
  list?.replaceChildren(...found.map(({ section }) => resultOf(section, words[0] ?? "")));
  if (words.length > 0 && found.length === 0) list?.append(make("li", "No page has all of these words."));
}

function resultOf([page, title, heading, id, text]: Section, word: string): HTMLElement {
  const at = text.toLowerCase().indexOf(word);
  const start = Math.max(0, at - 50);
  const excerpt = make("p", at < 0 ? "" : text.slice(start, at));
  if (at >= 0) excerpt.append(make("mark", text.slice(at, at + word.length)));
  excerpt.append(text.slice(Math.max(0, at + word.length), start + 150));
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
