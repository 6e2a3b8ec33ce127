// Tables of which `npm test` tries the first rows, and the slow run all others (`npm run test:slow`).
import { type TestOptions, test } from "vitest";

/** Options of what the slow run tries, and `npm test` does not. */
export const SLOW: TestOptions = { tags: ["slow"] };

/** Every `nth` row of a long table, and all of them in the soak (`npm run test:soak`). */
export const everyNth = <Row>(nth: number, rows: readonly Row[]): readonly Row[] =>
  process.env.COPRA_SOAK === "1" ? rows : rows.filter((_, at) => at % nth === 0);

/** `few(2).each(rows)(title, run)` is `test.each(rows)(title, run)`, with all rows but the first two tagged `slow`. */
export const few = (count: number): Pick<typeof test, "each"> => ({
  each: ((rows: readonly unknown[]) => (title: string, run: () => Promise<void>) => {
    test.each(rows.slice(0, count))(title, run);
    if (rows.length > count) test.each(rows.slice(count))(title, SLOW, run);
  }) as typeof test.each,
});
