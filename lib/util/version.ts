import { elementAt } from '#lib/util/element-at.ts'

/** Whether a release such as 0.4.6.post5 comes before another; what stands behind its third number is passed over. */
export function isOlderThan(version: string, other: string): boolean {
  const [own, others] = [numbers(version), numbers(other)]
  const at = [0, 1, 2].find((place) => own[place] !== others[place])
  return at !== undefined && elementAt(own, at) < elementAt(others, at)
}

const numbers = (version: string): readonly number[] => {
  const parts = version.split('.')
  return [0, 1, 2].map((place) => Number.parseInt(parts[place] ?? '', 10) || 0)
}
