/** Builds the parts that all reconstructed trajectories share: tokenizer, vocabulary, and a provenance that names the original. */

import { vocabularyWriter } from '#lib/rollout/record/record.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { Trajectory, Vocab } from '#lib/trajectory/format/trajectory.ts'
import type { SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

type Mode = Extract<Trajectory['provenance'], { kind: 'retokenized' }>['mode']

interface Making {
  readonly mode: Mode
  readonly tokenizer: Tokenizer
  /** The token with which the template ends a turn; undefined if there is none, or no template. */
  readonly endOfTurnId: number | undefined
  /** Omitted: the template of the original. */
  readonly template?: NonNullable<Trajectory['model']['template']>
}

/** Returns a trajectory without segments that has the texts of all `ids`. Measurements of the original are left out. */
export function createReconstruction(
  from: TrajectoryView,
  ids: readonly number[],
  { mode, tokenizer, endOfTurnId, template }: Making,
): Trajectory {
  const { live, segments, problems, routedExperts, imageData, foreign, outcome, model, ...frame } = from
  const { tokenizer: own, template: recorded, ...known } = model
  const { vocab, specialIds } = vocabularyWriter({ vocab: {} }, tokenizer)(ids)
  const used = template ?? recorded
  return {
    ...frame,
    // A trajectory id has at most 200 characters.
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
    // A reconstruction of a running run contains what the run has so far, and does not continue.
    outcome: outcome.kind === 'running' ? { kind: 'ended', reason: 'unknown' } : outcome,
    provenance: { kind: 'retokenized', mode, parent: from.id },
  }
}

/** Returns the texts of all ids: the recorded ones, and the tokenizer's for ids without a recorded text. */
export function wholeVocab(vocab: Vocab, segments: readonly SegmentView[], tokenizer: Tokenizer): Vocab {
  const lacking = segments.flatMap(({ ids }) => Array.from(ids).filter((id) => !Object.hasOwn(vocab, id)))
  return lacking.length === 0 ? vocab : { ...vocab, ...vocabularyWriter({ vocab }, tokenizer)(lacking).vocab }
}
