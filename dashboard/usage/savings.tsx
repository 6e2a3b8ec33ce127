// The price of the usage at a service that charges by the minute, and the price table.
import type { UsageTotal } from "../../client/index.ts";
import { amount, money } from "../core/format.ts";
import { prefer } from "../core/preferences.ts";
import { costOf, currentPrices, LIST_SOURCE, TIER_NAMES, TIERS, type Tier } from "../core/prices.ts";
import { Card } from "../parts/card.tsx";
import { Button } from "../parts/controls/button.tsx";
import { type Column, Table } from "../parts/table.tsx";

export function Savings({ seconds }: { readonly seconds: UsageTotal["output_seconds"] }) {
  const { prices, isList } = currentPrices();
  const set = (tier: Tier, text: string): void => {
    const price = Number(text);
    if (text.trim() !== "" && Number.isFinite(price) && price >= 0) prefer({ prices: { ...prices, [tier]: price } });
  };
  const minutes = TIERS.reduce((sum, tier) => sum + seconds[tier], 0) / 60;
  const columns: readonly Column<Tier>[] = [
    ["Size", (tier) => TIER_NAMES[tier], "head"],
    ["Minutes", (tier) => amount(seconds[tier] / 60), "number"],
    [
      "$ per minute",
      (tier) => (
        <input
          type="text"
          inputMode="decimal"
          aria-label={`US dollars per minute of ${TIER_NAMES[tier]}`}
          value={prices[tier]}
          onChange={(event) => set(tier, event.currentTarget.value)}
        />
      ),
      "number",
    ],
    ["Cost", (tier) => money((seconds[tier] / 60) * prices[tier]), "number"],
  ];
  return (
    <Card
      title="Elsewhere"
      actions={!isList && <Button text="List prices" class="quiet" onClick={() => prefer({ prices: null })} />}
    >
      <div class="body stack tight savings">
        <p>
          A service that charges by the minute would have cost <strong>{money(costOf(seconds, prices))}</strong> for
          these {amount(minutes)} minutes of output.
        </p>
        <Table
          label="Price table in US dollars per minute of output"
          columns={columns}
          rows={TIERS}
          keyOf={(tier) => tier}
        />
        <p class="detail">
          {isList
            ? `By ${LIST_SOURCE}. Check them before you quote them; other prices stay in this browser.`
            : "By your own price table, which stays in this browser."}{" "}
          Your machines, storage and traffic cost something, too.
        </p>
      </div>
    </Card>
  );
}
