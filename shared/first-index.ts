/** The first index of a sorted list for which the test is true; `count` if there is none. Takes log2(count) tests. */
export function firstIndex(count: number, isReached: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isReached(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
