/** Finds where ways to a mask differ on one sequence. */

import { elementAt } from '#lib/util/element-at.ts'
import { type MaskedTokens, quoteTokens } from './masked-tokens.ts'
import type { Disagreement, Mark, MaskMethodName, MaskReport } from './report.ts'

/** One mark for each token of the sequence, by way. */
export type MarksByMethod = ReadonlyMap<MaskMethodName, readonly Mark[]>

/** Returns how many tokens each two ways disagree on, of those that both know. */
export function countDisagreements(marks: MarksByMethod): MaskReport['pairs'] {
  const ways = [...marks.entries()]
  return ways.flatMap(([name, own], index) =>
    ways.slice(index + 1).map(([other, others]) => ({
      ways: [name, other] as const,
      tokens: own.filter((mark, token) => mark !== others[token] && mark !== 'unknown' && others[token] !== 'unknown')
        .length,
    })),
  )
}

/**
 * Returns the ranges, within one message, on which the ways disagree in the same manner. A token that one way trains and another does
 * not have counts; a token that no way trains does not.
 */
export function disagreementsOf(
  sequence: Pick<MaskedTokens, 'ids' | 'bytes'>,
  marks: MarksByMethod,
  origin: (token: number) => { readonly line: number | undefined; readonly message: number | undefined },
): readonly Disagreement[] {
  const ways = [...marks.entries()]
  const found: { start: number; end: number; key: string }[] = []
  for (let token = 0; token < sequence.ids.length; token++) {
    const marksOfWays = new Set(ways.map(([, own]) => own[token]))
    if (marksOfWays.size < 2 || !(marksOfWays.has('trained') || marksOfWays.has('partly'))) continue
    const key = [origin(token).message, ...ways.map(([, own]) => own[token])].join()
    const last = found.at(-1)
    if (last?.end === token && last.key === key) last.end++
    else found.push({ start: token, end: token + 1, key })
  }
  return found.map(({ start, end }) => ({
    start,
    end,
    text: quoteTokens(sequence, start, end),
    ...origin(start),
    marks: Object.fromEntries(ways.map(([name, own]) => [name, elementAt(own, start)])),
  }))
}
