// The price table of this browser.
import { LIST_PRICES, type Prices, type Tier } from "./list-prices.ts";
import { preferences } from "./preferences.ts";

const isPrice = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;

/** The prices of a setting. List prices fill the gaps. */
export function pricesOf(given: Readonly<Record<string, unknown>> | null): Prices {
  const price = (tier: Tier): number => {
    const own = given?.[tier];
    return isPrice(own) ? own : LIST_PRICES[tier];
  };
  return { audio: price("audio"), sd: price("sd"), hd: price("hd"), uhd: price("uhd") };
}

/** The prices in this browser, and whether they are the list prices. */
export const currentPrices = (): { readonly prices: Prices; readonly isList: boolean } => ({
  prices: pricesOf(preferences.value.prices),
  isList: preferences.value.prices === null,
});
