/** Checks the samples of a corpus. A sample that cannot be checked becomes a row with the reason, so it never stops the others. */

import { hermes } from '#lib/parsers/json/hermes.ts'
import { parserNamed } from '#lib/parsers/registry.ts'
import { endOfTurnId } from '#lib/rollout/prompt/prompt.ts'
import { tokenizerMismatch, withTokenizer } from '#lib/rollout/record/with-tokenizer.ts'
import { type CompiledTemplate, TemplateError } from '#lib/templates/chat-template.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import { lacksTexts } from '#lib/trajectory/tokens/texts.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { compareSides } from '../compare/compare-sides.ts'
import type { LoadedSide, SideTokenizer } from '../compare/shown-side.ts'
import { checkedSample } from './checked-sample.ts'
import { type Sample, type SampleOrigin, type UncheckedSample, uncheckedSample } from './sample.ts'
import type { CorpusSettings } from './settings.ts'

/** Compares a recorded sample with its reconstruction in mode `as`. A sample that cannot be checked gives a row with the reason. */
export function checkSample(
  place: SampleOrigin,
  given: Pick<LoadedSide, 'trajectory' | 'template'> & {
    readonly tokenizer: SideTokenizer
    readonly as: CorpusSettings['as']
  },
): Sample {
  const { as, tokenizer, template } = given
  const unchecked = (reason: Pick<UncheckedSample, 'why' | 'detail' | 'hint'>) =>
    uncheckedSample(place, given.trajectory, reason)
  const withVocab = withTexts(given.trajectory, tokenizer)
  if (!withVocab.ok) return unchecked(withVocab)
  const trajectory = withVocab.value
  return comparedSample(
    place,
    { as: { kind: 'recorded' }, trajectory, tokenizer: undefined, template: undefined },
    { as, trajectory, tokenizer, template },
  )
}

/** Compares two sides of any kind, and returns the result as the row of one sample. The left side gives its id and title. */
export function comparedSample(place: SampleOrigin, left: LoadedSide, right: LoadedSide): Sample {
  for (const { trajectory } of [left, right])
    if (tokenCount(trajectory) === 0)
      return uncheckedSample(place, left.trajectory, {
        why: trajectory === left.trajectory ? 'The sample has no tokens.' : 'The other side has no tokens.',
      })
  const compared = compareSides(left, right)
  if (compared.ok) return checkedSample(place, left.trajectory, compared.value)
  const { why, hint } = compared
  return uncheckedSample(place, left.trajectory, { why, ...(hint !== undefined && { hint }) })
}

type Told = { readonly ok: true; readonly value: TrajectoryView } | ({ readonly ok: false } & Unreadable)
type Unreadable = Pick<UncheckedSample, 'why' | 'detail' | 'hint'>

/** Adds the tokenizer's texts to a trajectory of ids only, as trainers write them. Refuses the tokenizer of another model. */
function withTexts(view: TrajectoryView, tokenizer: SideTokenizer): Told {
  if (!lacksTexts(view)) return { ok: true, value: view }
  const trajectory = unpack(view)
  const mismatch = tokenizerMismatch(trajectory, tokenizer.tokenizer)
  if (mismatch !== undefined)
    return {
      ok: false,
      why: 'The tokenizer belongs to another model.',
      detail: `It does not fit the file: ${mismatch}.`,
      hint: 'Choose the tokenizer of the model that was run.',
    }
  const parser = parserNamed(view.model.parser ?? hermes.name) ?? hermes
  const template = ownTemplate(tokenizer)
  const endOfTurn = template && endOfTurnId({ tokenizer: tokenizer.tokenizer, template }, {})
  return {
    ok: true,
    value: withTokenizer(trajectory, { tokenizer: tokenizer.tokenizer, endOfTurnId: endOfTurn, parser }),
  }
}

/** Compiles the tokenizer's chat template, which is only used to find the end-of-turn id. A template that fails counts as none. */
function ownTemplate({ template }: SideTokenizer): CompiledTemplate | undefined {
  try {
    return template?.(false)
  } catch (error) {
    if (error instanceof TemplateError) return undefined
    throw error
  }
}
