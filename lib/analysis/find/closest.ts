import { elementAt } from '#lib/util/element-at.ts'

/** Returns the name that was probably meant: at most two typing errors, in fewer than half of the letters. Otherwise undefined. */
export function suggestName(written: string, names: readonly string[]): string | undefined {
  const word = written.toLowerCase()
  const near = names
    .map((name) => ({ name, errors: errorsBetween(word, name.toLowerCase()) }))
    .filter(({ name, errors }) => errors <= 2 && 2 * errors < Math.max(word.length, name.length))
    .sort((a, b) => a.errors - b.errors)
  return near[0]?.name ?? names.find((name) => word.length > 1 && name.toLowerCase().startsWith(word))
}

/** Counts inserted, omitted, replaced and transposed letters (optimal string alignment). Infinity if the lengths differ by more than 2. */
function errorsBetween(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return Number.POSITIVE_INFINITY
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const steps = [at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (isSame ? 0 : 1)]
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(Math.min(...steps, isSwapped ? at(before, j - 2) + 1 : Number.POSITIVE_INFINITY))
    }
    before = last
    last = row
  }
  return at(last, b.length)
}

const at = (row: readonly number[], index: number): number => elementAt(row, index)
