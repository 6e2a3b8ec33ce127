// The calculator of the guide on costs: replaces the hint in the page by fields and their result. Without scripts, the
// guide has a table of examples.
import { LIST_PRICES, type Prices, TIER_NAMES, TIERS, type Tier } from "../core/list-prices.ts";
import { DEFAULTS } from "./example-row.ts";
import { LADDERS } from "./ladders.ts";
import { type ControlPlane, monthlyCost } from "./monthly-cost.ts";

type Field = { readonly label: string; readonly value: number };

const NUMBERS = {
  minutes: { label: "Minutes of video in a month", value: DEFAULTS.minutes },
  minutesPerVideo: { label: "Minutes of a video", value: DEFAULTS.minutesPerVideo },
  perHour: { label: "$ for an hour of one machine", value: DEFAULTS.perHour },
  cores: { label: "Cores of a machine", value: DEFAULTS.cores },
  busy: { label: "Percent of the paid time in which it encodes", value: DEFAULTS.busy },
} as const satisfies Record<string, Field>;

const PLACES = { cloudflare: "Cloudflare, paid plan", own: "a server that is there anyway" } as const satisfies Record<
  ControlPlane,
  string
>;

const money = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
const count = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function numberField(name: string, { label, value }: Field): HTMLElement {
  const input = element("input", { name, type: "number", min: "0", step: "any", defaultValue: String(value) });
  return element("label", {}, `${label} `, input);
}

function choice(name: string, label: string, options: readonly (readonly [string, string])[]): HTMLElement {
  const select = element("select", { name }, ...options.map(([value, text]) => element("option", { value }, text)));
  return element("label", {}, `${label} `, select);
}

const priceName = (tier: Tier): string => `price-${tier}`;

function rowsOf(form: HTMLFormElement): readonly (readonly [string, string])[] {
  const data = new FormData(form);
  const number = (name: string): number => Number(data.get(name)) || 0;
  const ladder = LADDERS.find(({ id }) => id === data.get("ladder")) ?? LADDERS[0];
  const prices = Object.fromEntries(TIERS.map((tier) => [tier, number(priceName(tier))])) as Record<Tier, number>;
  const cost = monthlyCost(
    { minutes: number("minutes"), minutesPerVideo: number("minutesPerVideo"), ladder },
    { perHour: number("perHour"), cores: number("cores"), busy: number("busy") / 100 },
    data.get("controlPlane") === "own" ? "own" : "cloudflare",
    prices satisfies Prices,
  );
  const here = cost.machines + cost.controlPlane;
  return [
    ["Jobs", count.format(cost.jobs)],
    ["Hours of machines", count.format(cost.machineHours)],
    ["Machines", money.format(cost.machines)],
    ["Control plane", money.format(cost.controlPlane)],
    ["Copra in all", money.format(here)],
    [`A service by the minute, ${count.format(cost.outputMinutes)} minutes of output`, money.format(cost.elsewhere)],
  ];
}

/** Shows the calculator in an element, instead of what is in it. */
export function showCalculator(root: HTMLElement): void {
  const result = element("tbody", {});
  const form = element(
    "form",
    {},
    choice(
      "ladder",
      "Each video becomes",
      LADDERS.map(({ id, title }) => [id, title]),
    ),
    ...Object.entries(NUMBERS).map(([name, field]) => numberField(name, field)),
    choice("controlPlane", "The control plane runs on", Object.entries(PLACES)),
    ...TIERS.filter((tier) => tier === "sd" || tier === "hd").map((tier) =>
      numberField(priceName(tier), {
        label: `$ elsewhere for a minute of ${TIER_NAMES[tier]}`,
        value: LIST_PRICES[tier],
      }),
    ),
  );
  const update = (): void => {
    const rows = rowsOf(form).map(([name, value]) =>
      element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value)),
    );
    result.replaceChildren(...rows);
  };
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  const table = element("table", {}, element("caption", {}, "US dollars for a month"), result);
  table.setAttribute("aria-live", "polite");
  root.replaceChildren(form, table);
  update();
}
