/**
 * Adds what a tokenizer knows to a trajectory whose file has only ids: texts, special tokens, think blocks, tool calls.
 */

import type { ToolParser } from '#lib/parsers/parser.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { Outcome, ResponseSegment, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { annotations, vocabularyWriter } from './record.ts'

/** A tokenizer and what else gives ids their meaning. */
export interface TextSource {
  readonly tokenizer: Tokenizer
  /** The token with which the template ends an assistant turn; undefined if it has none, or there is no template. */
  readonly endOfTurnId: number | undefined
  readonly parser: ToolParser
}

/**
 * Returns the first id that the tokenizer does not have: it is another model's. Positions count from the first token.
 */
export function foreignId(
  { segments }: Trajectory,
  { vocabularySize }: Tokenizer,
): { readonly id: number; readonly tokenIndex: number } | undefined {
  let start = 0
  for (const { ids } of segments) {
    const index = ids.findIndex((id) => id >= vocabularySize)
    if (index >= 0) return { id: elementAt(ids, index), tokenIndex: start + index }
    start += ids.length
  }
  return undefined
}

/**
 * Adds the tokenizer's texts and spans. Ids, masks, logprobs and messages stay unchanged; texts and spans of another
 * tokenizer are replaced.
 */
export function withTokenizer(trajectory: Trajectory, { tokenizer, endOfTurnId, parser }: TextSource): Trajectory {
  const { vocab, specialIds } = vocabularyWriter({ ...trajectory, vocab: {} }, tokenizer)(idsOf(trajectory))
  const bare: Trajectory = {
    ...trajectory,
    model: {
      ...trajectory.model,
      tokenizer: {
        name: tokenizer.name,
        fingerprint: tokenizer.fingerprint,
        vocabularySize: tokenizer.vocabularySize,
        specialIds,
        ...(endOfTurnId !== undefined && { endOfTurnId }),
      },
      parser: parser.name,
    },
    vocab,
    segments: [],
  }
  const segments: Segment[] = []
  for (const segment of trajectory.segments) {
    const before = { ...bare, segments }
    segments.push(segment.kind === 'prompt' ? segment : withSpans(segment, before, parser, tokenizer))
  }
  return { ...bare, segments, outcome: outcomeOf(trajectory.outcome, segments.at(-1), endOfTurnId) }
}

const withSpans = (
  response: ResponseSegment,
  before: Trajectory,
  parser: ToolParser,
  tokenizer: Tokenizer,
): ResponseSegment => ({ ...response, ...annotations(response, before, parser, tokenizer) })

/** Returns the ids of tokens and of alternatives. */
const idsOf = ({ segments }: Trajectory): readonly number[] =>
  segments.flatMap(({ ids, topLogprobs }) => [...ids, ...(topLogprobs?.ids ?? [])])

/** Returns the outcome. If a file has none, a last response that closes its turn and calls no tool has ended it. */
function outcomeOf(outcome: Outcome, last: Segment | undefined, endOfTurnId: number | undefined): Outcome {
  const isUnknown = outcome.kind === 'ended' && outcome.reason === 'unknown'
  const hasEnded =
    last?.kind === 'response' &&
    last.toolCalls.length === 0 &&
    endOfTurnId !== undefined &&
    last.ids.at(-1) === endOfTurnId
  return isUnknown && hasEnded ? { kind: 'ended', reason: 'end_turn' } : outcome
}
