// The price of the usage at a service that charges by the minute, and the price table.
import type { UsageTotal } from "../../client/index.ts";
import { amount, money } from "../core/format.ts";
import { costOf, LIST_SOURCE, TIER_NAMES, TIERS, type Tier } from "../core/list-prices.ts";
import { prefer } from "../core/preferences.ts";
import { currentPrices } from "../core/prices.ts";

export function Savings({ seconds }: { readonly seconds: UsageTotal["output_seconds"] }) {
  const { prices, isList } = currentPrices();
  const set = (tier: Tier, text: string): void => {
    const price = Number(text);
    if (text.trim() !== "" && Number.isFinite(price) && price >= 0) prefer({ prices: { ...prices, [tier]: price } });
  };
  const minutes = TIERS.reduce((sum, tier) => sum + seconds[tier], 0) / 60;
  return (
    <section class="card" aria-labelledby="savings">
      <header>
        <h2 id="savings">Elsewhere</h2>
        {!isList && (
          <button type="button" class="quiet" onClick={() => prefer({ prices: null })}>
            List prices
          </button>
        )}
      </header>
      <div class="body savings">
        <p>
          A service that charges by the minute would have cost <strong>{money(costOf(seconds, prices))}</strong> for
          these {amount(minutes)} minutes of output.
        </p>
        <div class="table">
          <table>
            <caption class="visually-hidden">Price table in US dollars per minute of output</caption>
            <thead>
              <tr>
                <th>Size</th>
                <th class="number">Minutes</th>
                <th class="number">$ per minute</th>
                <th class="number">Cost</th>
              </tr>
            </thead>
            <tbody>
              {TIERS.map((tier) => (
                <tr key={tier}>
                  <th scope="row">{TIER_NAMES[tier]}</th>
                  <td class="number">{amount(seconds[tier] / 60)}</td>
                  <td class="number">
                    <input
                      type="text"
                      inputMode="decimal"
                      aria-label={`US dollars per minute of ${TIER_NAMES[tier]}`}
                      value={prices[tier]}
                      onChange={(event) => set(tier, event.currentTarget.value)}
                    />
                  </td>
                  <td class="number">{money((seconds[tier] / 60) * prices[tier])}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <p class="detail">
          {isList
            ? `By ${LIST_SOURCE}. Check them before you quote them; other prices stay in this browser.`
            : "By your own price table, which stays in this browser."}{" "}
          Your machines, storage and traffic cost something, too.
        </p>
      </div>
    </section>
  );
}
