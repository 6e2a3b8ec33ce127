// Test tables: `npm test` tries their first rows, and the slow run (`npm run test:slow`) tries all others.
import { type TestOptions, test } from "vitest";

/** Options of tests that only the slow run tries, not `npm test`. */
export const SLOW: TestOptions = { tags: ["slow"] };

/** `all` in the soak (`npm run test:soak`), otherwise `some`. */
export const inSoak = <Value>(all: Value, some: Value): Value => (process.env.COPRA_SOAK === "1" ? all : some);

/** Every `nth` row of a long table; all rows in the soak. */
export const everyNth = <Row>(nth: number, rows: readonly Row[]): readonly Row[] =>
  inSoak(
    rows,
    rows.filter((_, at) => at % nth === 0),
  );

/** `few(2).each(rows)(title, run)` is `test.each(rows)(title, run)`, with all rows but the first two tagged `slow`. */
export const few = (count: number): Pick<typeof test, "each"> => ({
  each: ((rows: readonly unknown[]) => (title: string, run: () => Promise<void>) => {
    test.each(rows.slice(0, count))(title, run);
    if (rows.length > count) test.each(rows.slice(count))(title, SLOW, run);
  }) as typeof test.each,
});
