/**
 * Checks the replies of one call, for every engine: one plain reply, chunks that repeat everything so far (SGLang's default),
 * or chunks with only the new tokens. The reader of an engine's JSON passes them on as `EngineReply` values.
 */

import type { ArrivedTokens } from '#lib/rollout/record/record.ts'
import type { Finish, Problem, ResponseSegment, TopLogprobs } from '#lib/trajectory/format/trajectory.ts'
import { type AlternativeColumns, alternativeColumns, alternativesFrom } from '#lib/trajectory/tokens/alternatives.ts'
import { isImpossible } from '#lib/trajectory/tokens/tokens.ts'
import { float64At, int32At } from '#lib/util/element-at.ts'
import type { EngineColumns, LogprobLists, TopColumns } from './columns.ts'
import { EngineError } from './http/errors.ts'
import { type ReadImages, type RequestImages, readImages } from './images.ts'
import { SPECULATED } from './request.ts'

/** A whole reply or one chunk of a stream. Fields that the server does not report are omitted. */
export interface EngineReply {
  readonly columns: EngineColumns
  /** The ids that the server lists beside their logprobs: all, or only the newest. */
  readonly outputIds?: readonly number[] | null | undefined
  /** The text of the tokens; of a chunk with only new tokens, their text. */
  readonly text?: string | null | undefined
  readonly promptTokens?: number | null | undefined
  /** The ids of the prompt as the server read them: with images, one id for each of their positions. */
  readonly promptIds?: readonly number[] | null | undefined
  readonly completionTokens?: number | null | undefined
  readonly cachedTokens?: number | null | undefined
  /** The number of tokens in the reply so far, which shows whether a chunk repeats the tokens before it. */
  readonly tokensSoFar?: number | null | undefined
  /** True if the chunk has only new tokens. Omitted: `tokensSoFar` shows it. */
  readonly isIncrement?: true
  /** The end of the reply, on its last chunk. Its texts are safe to show and store. */
  readonly finish?: Finish | undefined
  readonly weightVersions?: NonNullable<ResponseSegment['weightVersions']> | null | undefined
  /** The version of the weights that sampled all tokens. */
  readonly weightVersion?: string | null | undefined
  readonly serverMs?: number | null | undefined
  /** The requested routed experts as int32 in base64, with the end of the reply. */
  readonly routedExperts?: string | null | undefined
}

/** A part of a reply with the tokens that are new in it. */
export interface Chunk {
  /** The id of the request that was answered, if it differs from the requested id: that of a later retry. */
  readonly rid?: string
  /** Logprobs of the prompt's last positions, known with the first chunk; undefined when none came. */
  readonly prompt?: PromptScores
  /** The call that scored the prompt, on the first chunk. */
  readonly scoring?: Scoring
  /** Number of tokens that the server read for each image, on the first chunk; undefined: there are none, or it is unknown. */
  readonly imageTokens?: readonly number[]
  readonly tokens: ArrivedTokens
  /** The end of the reply, on the last chunk. */
  readonly end?: End
  readonly problems: readonly Problem[]
}

/** The call that scored the prompt before the reply. */
interface Scoring {
  readonly rid: string
  /** Milliseconds from sending it to the request of the reply. */
  readonly elapsedMs: number
  readonly cachedTokens?: number
  /** Present if one call scored the prompt for all samples of a group. */
  readonly shared?: true
}

/** Aligned to the end of the prompt: the last entry belongs to the last input id. */
interface PromptScores {
  readonly logprobs: readonly (number | null)[]
  readonly topLogprobs?: TopLogprobs
  /** Indices count from the first position scored. */
  readonly problems: readonly Problem[]
}

/** The end of a reply. */
export interface End {
  readonly finish: Finish
  readonly usage: NonNullable<ResponseSegment['usage']>
  readonly weightVersions?: NonNullable<ResponseSegment['weightVersions']>
  readonly serverMs?: number
  /** The requested routed experts as int32 in base64; undefined if there are none. */
  readonly routedExperts?: string
  /** The server's text of the whole response; undefined when it sent none. */
  readonly text?: string
}

/** Reads the replies of one call in their order. */
export interface ReplyReader {
  /** Reads one reply. Throws EngineError if the reply contradicts itself. */
  read(part: EngineReply): Chunk
  /** True until the first reply was read, which has the scores of the prompt. */
  readonly readsPrompt: boolean
}

/** Properties of the request that its reply must match. */
export interface Expected {
  readonly vocabularySize: number
  readonly inputIds: readonly number[]
  /** The first position whose prompt logprobs were requested; undefined if none were. */
  readonly logprobStartLen?: number | undefined
  /** True if the request has max_new_tokens 0. */
  readonly writesNothing?: boolean
  /** The request's max_new_tokens. Undefined: the server’s own limit. */
  readonly mostTokens?: number | undefined
  /** The images of the request. Undefined: none. */
  readonly images?: RequestImages | undefined
}

/** Creates a reader for the replies of one call. */
export function replyReader(expected: Expected): ReplyReader {
  /** The ids so far. */
  const arrived: number[] = []
  let text: string | undefined
  let promptRead = false
  /** The first alternative beyond the vocabulary was reported: others say nothing new. */
  let isForeignReported = false
  return {
    get readsPrompt() {
      return !promptRead
    },
    read(part) {
      const { columns, finish } = part
      const images = expected.images && readImages({ ...expected, images: expected.images }, part)
      if (!images) checkPromptCount(part.promptTokens, expected.inputIds.length)
      const scores = outputScores(part, expected)
      const { length } = scores.ids
      const before = arrived.length
      const total = part.tokensSoFar ?? part.completionTokens ?? undefined
      const isDelta =
        part.isIncrement ??
        (before > 0 && length !== total && (total === undefined ? false : before + length === total))
      const skip = isDelta ? 0 : before
      if (length < skip)
        throw new EngineError('INCONSISTENT', `the server sent ${length} tokens in total after ${before} had arrived`)
      checkRepeatedIds(scores.ids, skip, arrived)
      if (typeof part.text === 'string') text = isDelta ? (text ?? '') + part.text : part.text
      const problems: Problem[] = []
      const { ids, logprobs } = tokensOf(from(scores, skip), before, expected.vocabularySize, problems)
      const tokens: ArrivedTokens = {
        ids,
        ...(ids.length > 0 && { logprobs }),
        ...top(columns.outputTop, skip, ids.length, before, problems),
      }
      if (tokens.topLogprobs && !isForeignReported)
        isForeignReported = reportForeign(tokens.topLogprobs, before, expected.vocabularySize, problems)
      for (const id of ids) arrived.push(id)
      const received = arrived.length
      checkLength(received, expected.mostTokens)
      if (finish) checkReplyCount(part.completionTokens, received)
      const prompt = promptRead ? undefined : promptScores(part, expected, images)
      if (!promptRead && images && !part.promptIds) problems.push(IDS_NOT_REPORTED)
      const imageTokens = promptRead ? undefined : images?.tokens
      promptRead = true
      return {
        tokens,
        problems,
        ...(prompt && { prompt }),
        ...(imageTokens && { imageTokens }),
        ...(finish && { end: endOf(part, finish, received, text) }),
      }
    },
  }
}

/**
 * Returns the tokens of a reply, each with its logprob. Ids without logprobs cannot be trained on. If both lists exist,
 * the ids must be the same; some versions send only the newest ids with all logprobs so far.
 */
function outputScores(part: EngineReply, expected: Expected): LogprobLists {
  const ids = part.outputIds ?? []
  const scores = part.columns.output
  if (!scores) {
    if (ids.length > 0 || (part.isIncrement !== true && (part.completionTokens ?? 0) > 0))
      throw new EngineError('BAD_SHAPE', 'the reply lacks the logprobs of its tokens')
    return NO_COLUMNS
  }
  if (isNextTokenOnly(part, scores, expected)) return NO_COLUMNS
  const first = scores.ids.length - ids.length
  const odd = ids.findIndex((id, i) => id !== scores.ids[first + i])
  if (odd >= 0)
    throw new EngineError(
      'INCONSISTENT',
      `the server sent token id ${ids[odd]} and the logprob of ${scores.ids[first + odd] ?? 'none'} at token ${odd} of a chunk`,
    )
  return scores
}

/**
 * Returns whether the only row is the distribution of the next token and not a token of the reply. SGLang samples for a whole
 * batch: a request with max_new_tokens 0 in one batch with generating requests gets the row of a sampled token that is then
 * dropped. It counts no completion tokens and has no output ids. In a batch of only such requests there is no row.
 */
const isNextTokenOnly = (
  { outputIds, completionTokens }: EngineReply,
  scores: LogprobLists,
  { writesNothing }: Expected,
): boolean =>
  writesNothing === true && scores.ids.length === 1 && (outputIds ?? []).length === 0 && (completionTokens ?? 0) === 0

const NO_COLUMNS: LogprobLists = { ids: [], logprobs: [] }

const from = ({ ids, logprobs }: LogprobLists, start: number): LogprobLists =>
  start === 0 ? { ids, logprobs } : { ids: ids.slice(start), logprobs: logprobs.slice(start) }

/** Reads tokens from columns. `first` is the number of tokens of the reply before these. */
function tokensOf(
  { ids, logprobs }: LogprobLists,
  first: number,
  vocabularySize: number,
  problems: Problem[],
): LogprobLists {
  const odd = ids.findIndex((id) => id >= vocabularySize)
  if (odd >= 0)
    throw new EngineError(
      'TOKENIZER_MISMATCH',
      `the server wrote token id ${ids[odd]} at position ${first + odd} of its reply, but the last id of the chosen tokenizer is ${vocabularySize - 1}. Either the tokenizer belongs to another model, or the model wrote an unused id at the end of its vocabulary`,
    )
  if (areStoredUnchanged(logprobs)) return { ids, logprobs }
  checkLogprobs(logprobs, `token ${first} of the response`)
  return { ids, logprobs: logprobs.map((logprob, index) => clean(logprob, first + index, 'logprobs', problems)) }
}

function checkLogprobs(logprobs: LogprobLists['logprobs'], where: string): void {
  const odd = logprobs.findIndex((logprob) => logprob !== null && isImpossible(logprob))
  if (odd >= 0) throw impossibleLogprob(logprobs[odd], `at offset ${odd} from ${where}`)
}

const impossibleLogprob = (logprob: number | null | undefined, where: string): EngineError =>
  new EngineError(
    'INCONSISTENT',
    `the server returned the logprob ${logprob}, which is not the logarithm of a probability, ${where}`,
  )

/** A stream that repeats its tokens repeats the same ones; otherwise nobody knows which ones the model sampled. */
function checkRepeatedIds(ids: LogprobLists['ids'], repeated: number, arrived: readonly number[]): void {
  for (let index = 0; index < repeated; index++)
    if (ids[index] !== arrived[index])
      throw new EngineError(
        'INCONSISTENT',
        `the server first sent token id ${arrived[index]} at position ${index} of its reply, and later ${ids[index]}`,
      )
}

/** A server with --allow-auto-truncate reads fewer tokens than it was sent; only this count shows it. */
function checkPromptCount(said: number | null | undefined, sent: number): void {
  if (typeof said === 'number' && said !== sent)
    throw new EngineError('INCONSISTENT', `the server read ${said} prompt tokens, ${sent} were sent`)
}

function checkLength(received: number, most: number | undefined): void {
  if (most !== undefined && received > most + SPECULATED)
    throw new EngineError('INCONSISTENT', `the server wrote ${received} tokens, at most ${most} were requested`)
}

function checkReplyCount(said: number | null | undefined, received: number): void {
  if (typeof said === 'number' && said !== received)
    throw new EngineError('INCONSISTENT', `the server wrote ${said} tokens, ${received} arrived`)
}

/** Smaller numbers mean minus infinity: SGLang writes float32's minimum where a grammar forbids a token. */
const MINUS_INFINITY = -3e38

/**
 * Returns a logprob as it is stored: -0 becomes 0; minus infinity, and a NaN that the server wrote as null, become null
 * with a note.
 */
function clean(
  logprob: number | null,
  index: number,
  column: string,
  problems: Problem[],
  mayLack = false,
): number | null {
  if (logprob === null) {
    if (!mayLack)
      problems.push({ kind: 'number', message: 'The server returned no number.', column, index, raw: 'null' })
    return null
  }
  if (logprob > MINUS_INFINITY) return logprob === 0 ? 0 : logprob
  problems.push({ kind: 'number', message: 'The server returned minus infinity.', column, index, raw: String(logprob) })
  return null
}

/** Returns whether `clean` would return every logprob from an index unchanged, as it does for nearly all replies. */
function areStoredUnchanged(logprobs: LogprobLists['logprobs'], start = 0): boolean {
  for (let index = start; index < logprobs.length; index++) {
    // With `??` and Object.is, V8 allocates each number.
    const logprob = logprobs[index]
    if (typeof logprob !== 'number' || !(logprob > MINUS_INFINITY)) return false
    if (logprob >= 0 && (logprob > 0 || 1 / logprob < 0)) return false
  }
  return true
}

/** Returns whether all alternatives from a cell on are stored unchanged; those without an id are unknown. */
function areUnchangedCells({ ids, logprobs }: AlternativeColumns, start: number): boolean {
  for (let cell = start; cell < logprobs.length; cell++) {
    const logprob = float64At(logprobs, cell)
    if (logprob < 0 && logprob > MINUS_INFINITY) continue
    if (!Object.is(logprob, 0) && int32At(ids, cell) !== -1) return false
  }
  return true
}

/**
 * Reads the alternatives of `expected` tokens; those before `skip` are known. `first` is the number of tokens before
 * these.
 */
function top(
  columns: TopColumns | undefined,
  skip: number,
  expected: number,
  first: number,
  problems: Problem[],
): { readonly topLogprobs?: TopLogprobs } {
  // The server returns alternatives for one token even if the call samples none.
  if (!columns || columns.k === 0 || expected === 0) return {}
  const { k } = columns
  const arrays = alternativeColumns(columns)
  const count = (arrays ?? columns).ids.length - skip * k
  if (count !== expected * k)
    throw new EngineError(
      'INCONSISTENT',
      `the server sent alternatives for ${Math.max(0, count) / k} of ${expected} tokens`,
    )
  if (arrays ? areUnchangedCells(arrays, skip * k) : areStoredUnchanged(columns.logprobs, skip * k))
    return { topLogprobs: skip === 0 ? columns : alternativesFrom(columns, skip) }
  const { ids, logprobs } = from(columns, skip * k)
  const impossible = logprobs.find((logprob) => logprob !== null && isImpossible(logprob))
  if (impossible !== undefined) throw impossibleLogprob(impossible, 'among the alternatives')
  return {
    topLogprobs: {
      k,
      ids,
      logprobs: logprobs.map((logprob, cell) =>
        ids[cell] === -1 ? null : clean(logprob, first + Math.floor(cell / k), 'topLogprobs', problems),
      ),
    },
  }
}

/**
 * Reports the first alternative beyond the vocabulary, and returns whether there is one. It is no error: a model may give unused ids at
 * the end of its vocabulary some probability. `first` is the number of tokens before these.
 */
function reportForeign(top: TopLogprobs, first: number, vocabularySize: number, problems: Problem[]): boolean {
  const arrays = alternativeColumns(top)
  const cell = arrays
    ? firstCellFrom(arrays.ids, vocabularySize)
    : top.ids.findIndex((alternative) => alternative >= vocabularySize)
  if (cell < 0) return false
  const raw = String(top.ids[cell])
  problems.push({
    kind: 'alternative',
    message: `The server returned the alternative ${raw}, but the last id of the chosen tokenizer is ${vocabularySize - 1}.`,
    column: 'topLogprobs',
    index: first + Math.floor(cell / top.k),
    raw,
  })
  return true
}

/** Returns the index of the first id that is not below the size, or −1. */
function firstCellFrom(ids: Int32Array, size: number): number {
  for (let cell = 0; cell < ids.length; cell++) if (int32At(ids, cell) >= size) return cell
  return -1
}

const IDS_NOT_REPORTED: Problem = {
  kind: 'missing',
  message:
    'The server does not report the ids of a prompt with images (prompt_token_ids), so they were not compared with those that were sent.',
}

/** Reads the scores of the prompt's tail. The ids that the server reports there must be those that were sent. */
function promptScores(
  { columns, finish }: EngineReply,
  { inputIds, logprobStartLen, vocabularySize }: Expected,
  images: ReadImages | undefined,
): PromptScores | undefined {
  const { input: { ids, logprobs } = NO_COLUMNS, inputTop } = images ? (images.columnsOfSent(columns) ?? {}) : columns
  if (ids.length === 0) {
    const wereAsked = logprobStartLen !== undefined && logprobStartLen < inputIds.length
    if (!wereAsked || finish?.kind === 'abort') return undefined
    const message = 'The server returned no prompt logprobs.'
    return { logprobs: [], problems: [{ kind: 'missing', message, column: 'logprobs' }] }
  }
  const offset = inputIds.length - ids.length
  const odd = ids.findIndex((id, i) => id !== inputIds[offset + i])
  if (odd >= 0)
    throw new EngineError(
      'INCONSISTENT',
      `the server scored token id ${ids[odd]} where ${inputIds[offset + odd]} was sent (position ${offset + odd})`,
    )
  checkLogprobs(logprobs, `position ${offset} of the prompt`)
  const problems: Problem[] = []
  const alternatives = top(inputTop, 0, ids.length, 0, problems)
  if (alternatives.topLogprobs) reportForeign(alternatives.topLogprobs, 0, vocabularySize, problems)
  return {
    // The first position has no scored position before it.
    logprobs:
      logprobs[0] === null && areStoredUnchanged(logprobs, 1)
        ? logprobs
        : logprobs.map((logprob, i) =>
            clean(logprob, i, 'logprobs', problems, i === 0 || images?.isImage(ids.length - i) === true),
          ),
    ...alternatives,
    problems,
  }
}

function endOf(part: EngineReply, finish: Finish, received: number, text: string | undefined): End {
  const { promptTokens, completionTokens, cachedTokens, weightVersion, serverMs } = part
  const versions =
    part.weightVersions ?? (weightVersion ? [{ version: weightVersion, start: 0, end: received }] : undefined)
  return {
    finish,
    usage: {
      ...(typeof promptTokens === 'number' && { promptTokens }),
      ...(typeof completionTokens === 'number' && { completionTokens }),
      ...(typeof cachedTokens === 'number' && { cachedTokens }),
    },
    ...(versions && {
      weightVersions: versions.map(({ version, start, end }) => ({
        version,
        start: Math.min(start, end, received),
        end: Math.min(end, received),
      })),
    }),
    // A server clock that was set back gives a negative time, which counts as unknown.
    ...(typeof serverMs === 'number' && serverMs >= 0 && { serverMs }),
    ...(typeof part.routedExperts === 'string' && { routedExperts: part.routedExperts }),
    ...(text !== undefined && { text }),
  }
}
