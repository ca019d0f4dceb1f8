/** What every trajectory has that is made again from another: whose ids it holds, and that no model wrote them. */

import { vocabularyWriter } from '#lib/rollout/record/record.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { Trajectory, Vocab } from '#lib/trajectory/format/trajectory.ts'
import type { SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

type Mode = Extract<Trajectory['provenance'], { kind: 'retokenized' }>['mode']

interface Making {
  readonly mode: Mode
  readonly tokenizer: Tokenizer
  /** The token with which the template ends a turn; undefined: with none, or there is no template. */
  readonly endOfTurnId: number | undefined
  /** Omitted: that of the original. */
  readonly template?: NonNullable<Trajectory['model']['template']>
}

/** Without segments yet, but with the texts of all `ids`. What was measured of the original does not hold of it. */
export function madeFrame(
  from: TrajectoryView,
  ids: readonly number[],
  { mode, tokenizer, endOfTurnId, template }: Making,
): Trajectory {
  const { live, segments, problems, routedExperts, imageData, foreign, outcome, model, ...kept } = from
  const { tokenizer: own, template: recorded, ...known } = model
  const { vocab, specialIds } = vocabularyWriter({ vocab: {} }, tokenizer)(ids)
  const used = template ?? recorded
  return {
    ...kept,
    // Ids are at most 200 long.
    id: `${from.id.slice(0, 180)}-${mode}`,
    model: {
      ...known,
      tokenizer: {
        name: tokenizer.name,
        fingerprint: tokenizer.fingerprint,
        ...(Number.isFinite(tokenizer.vocabularySize) && { vocabularySize: tokenizer.vocabularySize }),
        specialIds,
        ...(endOfTurnId !== undefined && { endOfTurnId }),
      },
      ...(used && { template: used }),
    },
    vocab,
    segments: [],
    // What a run under way has come to by now is all that it will ever be.
    outcome: outcome.kind === 'running' ? { kind: 'ended', reason: 'unknown' } : outcome,
    provenance: { kind: 'retokenized', mode, parent: from.id },
  }
}

/** The texts of all ids: as they were recorded, or the tokenizer's where they were not. */
export function wholeVocab(vocab: Vocab, segments: readonly SegmentView[], tokenizer: Tokenizer): Vocab {
  const lacking = segments.flatMap(({ ids }) => Array.from(ids).filter((id) => !Object.hasOwn(vocab, id)))
  return lacking.length === 0 ? vocab : { ...vocab, ...vocabularyWriter({ vocab }, tokenizer)(lacking).vocab }
}
