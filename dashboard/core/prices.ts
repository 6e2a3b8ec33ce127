// The prices of services that charge by the minute: list prices, the price table of this browser, and sums.
import type { UsageTotal } from "../../client/index.ts";
import { preferences } from "./preferences.ts";

/** Tiers of video size, which such services charge differently; docs/usage.md has their limits. */
export const TIERS = ["audio", "sd", "hd", "uhd"] as const;
export type Tier = (typeof TIERS)[number];

/** Names of the tiers for people. */
export const TIER_NAMES = {
  audio: "Audio",
  sd: "SD",
  hd: "HD",
  uhd: "UHD",
} as const satisfies Record<Tier, string>;

/** US dollars per minute of output. */
export type Prices = Readonly<Record<Tier, number>>;

/**
 * Coconut's list prices as of June 2026, from its public API catalog (github.com/api-evangelist/coconut). Other
 * services are more expensive or count differently: the table is a setting.
 */
export const LIST_PRICES: Prices = { audio: 0.003_25, sd: 0.0075, hd: 0.015, uhd: 0.03 };
export const LIST_SOURCE = "Coconut's list prices of June 2026 (github.com/api-evangelist/coconut)";

/** US dollars for the output seconds of each tier. */
export const costOf = (seconds: UsageTotal["output_seconds"], prices: Prices): number =>
  TIERS.reduce((sum, tier) => sum + (seconds[tier] / 60) * prices[tier], 0);

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
