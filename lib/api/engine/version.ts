import { elementAt } from '#lib/util/element-at.ts'

/** Returns whether a release such as 0.4.6.post5 precedes another; parts after the third number are ignored. */
export function isOlderThan(version: string, other: string): boolean {
  const [own, others] = [numbers(version), numbers(other)]
  const at = [0, 1, 2].find((place) => own[place] !== others[place])
  return at !== undefined && elementAt(own, at) < elementAt(others, at)
}

const numbers = (version: string): readonly number[] => {
  const parts = version.split('.')
  return [0, 1, 2].map((place) => Number.parseInt(parts[place] ?? '', 10) || 0)
}
