/** Converts the form fields of a reward rule to the rule, and back. */
import { isPattern } from '#lib/trajectory/reward/is-pattern.ts'
import { wholeNumberText } from '#lib/trajectory/reward/read-number.ts'
import type { RewardRule } from '#lib/trajectory/reward/rule.ts'
import { DEFAULT_SETUP, type RewardDraft } from './setup.ts'

/** Returns the rule of a draft, undefined for no rewards, or a text that describes the error for the user. */
export function rewardRuleOf(draft: RewardDraft): RewardRule | undefined | string {
  const { kind, expected, pattern } = draft
  const ignoreCase = draft.ignoreCase ? { ignoreCase: true } : {}
  switch (kind) {
    case 'none':
      return undefined
    case 'exact':
      return { kind, expected, ...ignoreCase }
    case 'pattern':
      if (pattern === '') return 'needs a regular expression'
      if (!isPattern(pattern)) return 'needs a regular expression of JavaScript'
      return { kind, pattern, ...(expected !== '' && { expected }), ...ignoreCase }
    case 'number':
      return numberRule(expected, draft.tolerance)
  }
}

const TOO_LARGE = 'needs a finite number: this one is too large'

function numberRule(expectedText: string, toleranceText: string): RewardRule | string {
  const expected = wholeNumberText(expectedText)
  if (expected === undefined) return 'needs a number, for example 434, 1,000 or 1/3'
  if (!Number.isFinite(expected)) return TOO_LARGE
  if (toleranceText.trim() === '') return { kind: 'number', expected }
  const tolerance = wholeNumberText(toleranceText)
  if (tolerance === undefined || tolerance < 0) return 'needs a tolerance of at least 0'
  if (!Number.isFinite(tolerance)) return TOO_LARGE
  return { kind: 'number', expected, tolerance }
}

/** Returns the field with the error, for a draft for which `rewardRuleOf` returns a text. */
export function wrongField({ kind, expected }: RewardDraft): 'pattern' | 'expected' | 'tolerance' {
  if (kind === 'pattern') return 'pattern'
  return !Number.isFinite(wholeNumberText(expected)) ? 'expected' : 'tolerance'
}

/** Returns the fields of a rule; null is no rewards. */
export function rewardDraftOf(rule: RewardRule | null): RewardDraft {
  const empty = DEFAULT_SETUP.reward
  if (rule === null) return empty
  if (rule.kind === 'number')
    return { ...empty, kind: 'number', expected: `${rule.expected}`, tolerance: `${rule.tolerance ?? ''}` }
  const { kind, expected = '', ignoreCase = false } = rule
  return { ...empty, kind, expected, ignoreCase, pattern: rule.kind === 'pattern' ? rule.pattern : '' }
}
