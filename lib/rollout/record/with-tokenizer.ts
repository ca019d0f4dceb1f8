/**
 * Adds what a tokenizer knows to a trajectory whose file has only ids: texts, special tokens, think blocks, tool calls.
 */

import type { ToolParser } from '#lib/parsers/parser.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { Outcome, ResponseSegment, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { assistantMessage } from '#lib/trajectory/messages/foreign-message.ts'
import { bytesOf } from '#lib/trajectory/tokens/pieces.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { annotations, numberedCallIds, vocabularyWriter } from './record.ts'

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
 * Returns why the tokenizer belongs to another model, in words: it lacks an id, or it has other texts than the file for most ids. Servers
 * write some texts differently, such as spaces and parts of characters, and tokenizers of a family differ in a few ids.
 */
export function tokenizerMismatch(trajectory: Trajectory, tokenizer: Tokenizer): string | undefined {
  const foreign = foreignId(trajectory, tokenizer)
  if (foreign)
    return `token ${foreign.tokenIndex} has the id ${foreign.id}, and ${tokenizer.name} has only ${tokenizer.vocabularySize} ids`
  // The texts of an earlier tokenizer are not those of the file.
  if (trajectory.model.tokenizer) return undefined
  const added = new Set(tokenizer.addedTokens.map(({ id }) => id))
  const compared = Object.entries(trajectory.vocab).flatMap(([id, entry]) => {
    const file = decoder.decode(bytesOf(entry))
    const own = decoder.decode(tokenizer.bytes(Number(id)))
    // Many tokenizers have the same ids for single letters and for added tokens.
    const isTypical = lettersOf(file).length > 1 && !added.has(Number(id)) && !PARTIAL.test(file) && !PARTIAL.test(own)
    return isTypical ? [{ id, file, own }] : []
  })
  const other = compared.filter(({ file, own }) => lettersOf(file) !== lettersOf(own))
  const [first] = other
  return first && other.length * 2 > compared.length
    ? `the text of the id ${first.id} is ${JSON.stringify(first.file)} in the file, and ${JSON.stringify(first.own)} in ${tokenizer.name}`
    : undefined
}

const decoder = new TextDecoder()
/** Texts of tokens that end inside a character: decoded, and as OpenAI writes them. */
const PARTIAL = /\ufffd|^bytes:/
/** Removes spaces, also as vocabularies spell them. Servers that decode a single token may leave out its space. */
const lettersOf = (text: string): string => text.replace(/[\s▁ĠĊĉ]/g, '')

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
    provenance: completedProvenance(trajectory),
  }
  const segments: Segment[] = []
  const callIds = new Set<string>()
  for (const segment of trajectory.segments) {
    const read =
      segment.kind === 'prompt' ? segment : withSpans(segment, { ...bare, segments }, parser, tokenizer, callIds)
    if (read.kind === 'response') for (const { id } of read.toolCalls) callIds.add(id)
    segments.push(read)
  }
  return { ...bare, segments, outcome: outcomeOf(trajectory.outcome, segments.at(-1), endOfTurnId) }
}

/** Returns the provenance, in which only what a tokenizer does not know is missing. */
function completedProvenance({ provenance }: Trajectory): Trajectory['provenance'] {
  if (provenance.kind !== 'import' || !provenance.missing) return provenance
  return { ...provenance, missing: provenance.missing.filter((content) => !SUPPLIED.has(content)) }
}

const SUPPLIED: ReadonlySet<string> = new Set(['texts', 'special_tokens'])

/** Calls have the ids that the message of the file gives them, so that its tool results belong to them. */
function withSpans(
  response: ResponseSegment,
  before: Trajectory,
  parser: ToolParser,
  tokenizer: Tokenizer,
  earlierIds: ReadonlySet<string>,
): ResponseSegment {
  const { toolCalls, ...spans } = annotations(response, before, parser, tokenizer, numberedCallIds(earlierIds))
  const { toolCalls: fileCalls = [] } = response.message ? assistantMessage(response.message) : {}
  const fileIds = fileCalls.flatMap(({ id }) => id ?? [])
  const isUnique = new Set(fileIds).size === fileIds.length && !fileIds.some((id) => earlierIds.has(id))
  const hasIds = isUnique && fileIds.length === toolCalls.length
  return {
    ...response,
    ...spans,
    toolCalls: hasIds ? toolCalls.map((call, index) => ({ ...call, id: elementAt(fileIds, index) })) : toolCalls,
  }
}

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
