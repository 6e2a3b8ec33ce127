// Finds the known word that is most similar to a misspelled one.

/** Longer words are not misspellings of any known word. */
const MAX_CHARS = 40;

/**
 * Returns the known word most similar to `word`, ignoring case; null if no word is similar. The first of several wins.
 */
export function nearest(word: string, known: Iterable<string>): string | null {
  if (word === "" || word.length > MAX_CHARS) return null;
  const typed = word.toLowerCase();
  let best: { word: string; distance: number } | null = null;
  for (const candidate of known) {
    const distance = editDistance(typed, candidate.toLowerCase());
    if (distance <= allowance(typed, candidate) && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) {
      best = { word: candidate, distance };
    }
  }
  return best?.word ?? null;
}

/** Returns the number of mistakes that leave a word recognizable: a third of its characters, and never all of them. */
const allowance = (typed: string, known: string): number =>
  Math.min(3, Math.floor(Math.max(typed.length, known.length) / 3), Math.min(typed.length, known.length) - 1);

/**
 * Returns the number of insertions, deletions, replacements and exchanges of neighbors that turn a text into the other
 * (Damerau-Levenshtein, optimal string alignment).
 */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const exchanged = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const ways = [at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1)];
      if (exchanged) ways.push(at(beforeLast, column - 2) + 1);
      current.push(Math.min(...ways));
    }
    [beforeLast, last] = [last, current];
  }
  return at(last, b.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY;
