/**
 * Records what a call to the model adds to a trajectory, as events. A prompt opens, closes when the first token of the
 * answer arrives, and then the response opens; a call that fails before that leaves nothing. Ids are kept unchanged.
 */

import { textForParsers } from '#lib/parsers/parsed-text.ts'
import type { ParsedCall, TextRange, ToolParser } from '#lib/parsers/parser.ts'
import { thinkBlocks, thinkDelimitersIn } from '#lib/parsers/thinking.ts'
import { type FoundMark, type ThinkDelimiter, type ThinkForm, thinkFormOf } from '#lib/parsers/thinking-forms.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { LiveTrajectory, RolloutEvent } from '#lib/trajectory/events/events.ts'
import { joinRoutedExperts } from '#lib/trajectory/experts/routed-experts.ts'
import type {
  Message,
  Problem,
  PromptSegment,
  ResponseSegment,
  ToolCall,
  TopLogprobs,
  Trajectory,
  Vocab,
  VocabEntry,
} from '#lib/trajectory/format/trajectory.ts'
import { alternativeColumns } from '#lib/trajectory/tokens/alternatives.ts'
import { type TextWithStarts, textOf, textWithStarts, tokensAt, vocabEntry } from '#lib/trajectory/tokens/pieces.ts'
import { toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import { elementAt, uint32At } from '#lib/util/element-at.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import type { Prompt } from '../prompt/prompt.ts'

/** Tokens of a response as they arrive: parallel arrays. */
export interface ArrivedTokens {
  readonly ids: readonly number[]
  readonly logprobs?: readonly (number | null)[]
  readonly topLogprobs?: TopLogprobs
}

/** The end of a response. */
export type Ending = Pick<
  ResponseSegment,
  'finish' | 'usage' | 'timing' | 'weightVersions' | 'resumed' | 'routedExperts'
> & {
  readonly problems: readonly Problem[]
  /** The server's own text of the response for comparison; undefined if it sent none. */
  readonly text?: string
}

/** Returns the vocabulary that columns of ids add: entries that neither the trajectory nor an earlier call has. */
export type VocabularyWriter = (...ids: readonly ArrayLike<number>[]) => NewVocabulary

interface NewVocabulary {
  /** The texts, created when they are first read, because a sparse record takes longer than all other work on them. */
  readonly vocab: Vocab
  readonly specialIds: number[]
}

/** Creates a vocabulary writer for events that extend a trajectory. */
export function vocabularyWriter({ vocab }: Pick<Trajectory, 'vocab'>, tokenizer: Tokenizer): VocabularyWriter {
  const isFirst = firstTimes(Object.keys(vocab).map(Number), tokenizer.vocabularySize)
  const entryOf = entriesOf(tokenizer)
  const { added, firstAdded } = marksOf(tokenizer)
  return (...columns) => {
    const newIds: number[] = []
    const specialIds: number[] = []
    // Most tokens of the process pass here, so it has no iterator.
    for (const ids of columns)
      for (let index = 0; index < ids.length; index++) {
        // The accessors of lists and of typed arrays would each read one kind only.
        const id = ids[index]
        if (id === undefined || id < 0 || !isFirst(id)) continue
        newIds.push(id)
        // This adds the text to `vocabularyTexts`, even if `vocab` is never read.
        entryOf(id)
        if (id >= firstAdded && added.has(id)) specialIds.push(id)
      }
    let madeVocab: Vocab | undefined
    return {
      get vocab() {
        madeVocab ??= Object.fromEntries(newIds.map((id) => [id, entryOf(id)]))
        return madeVocab
      },
      specialIds,
    }
  }
}

/**
 * Creates a vocabulary writer that adds the entries to the vocabulary of the trajectory itself, and costs little for the ids that it has. Several
 * continuations of a trajectory may share the vocabulary, so that the entries of an event are those of all its ids.
 */
export function growingVocabulary(
  { vocab, model }: Pick<Trajectory, 'vocab' | 'model'>,
  tokenizer: Tokenizer,
): VocabularyWriter {
  const texts: Record<number, VocabEntry> = vocab
  const entryOf = entriesOf(tokenizer)
  const { added } = marksOf(tokenizer)
  const known = new Set(model.tokenizer?.specialIds)
  const entryIn = (id: number): VocabEntry => {
    const entry = texts[id] ?? entryOf(id)
    texts[id] = entry
    return entry
  }
  return (...columns) => {
    const used = columns.flatMap((ids) => Array.from(ids)).filter((id) => id >= 0)
    const entries = used.map((id) => [id, entryIn(id)] as const)
    const specialIds = [...new Set(used)].filter((id) => added.has(id) && !known.has(id))
    for (const id of specialIds) known.add(id)
    return {
      get vocab() {
        return Object.fromEntries(entries)
      },
      specialIds,
    }
  }
}

/** Returns a function that returns true at the first call with an id that is not in `known`. */
function firstTimes(known: readonly number[], vocabularySize: number): (id: number) => boolean {
  // It stores one bit for each id, because a set of numbers takes several times as long.
  const seen = new Uint32Array(vocabularySize <= LONGEST_LIST ? Math.ceil(vocabularySize / 32) : 0)
  const others = new Set<number>()
  const isFirst = (id: number): boolean => {
    if (id >= 32 * seen.length) return others.size < others.add(id).size
    const bits = uint32At(seen, id >>> 5)
    const bit = 1 << (id & 31)
    if ((bits & bit) !== 0) return false
    seen[id >>> 5] = bits | bit
    return true
  }
  for (const id of known) isFirst(id)
  return isFirst
}

/** Returns the texts of all ids of a tokenizer that any vocabulary writer has requested. */
export const vocabularyTexts: (tokenizer: Tokenizer) => Vocab = memoizeByIdentity(({ vocabularySize }: Tokenizer) => {
  // A list of full length is read several times faster than a sparse record.
  const texts = vocabularySize <= LONGEST_LIST ? new Array<VocabEntry>(vocabularySize) : {}
  return texts as Vocab
})

/** Real vocabularies are shorter. The size of a vocabulary that is only available over HTTP may be unknown. */
const LONGEST_LIST = 1 << 20

/** Each entry is created once for all trajectories; an id without bytes may get some later. */
const entriesOf = memoizeByIdentity((tokenizer: Tokenizer) => {
  const texts = vocabularyTexts(tokenizer) as Record<number, VocabEntry>
  return (id: number): VocabEntry => (texts[id] ||= vocabEntry(tokenizer.bytes(id)))
})

/** Ids of a tokenizer that mean more than their text. */
const marksOf = memoizeByIdentity((tokenizer: Tokenizer) => ({
  added: new Set(tokenizer.addedTokens.map(({ id }) => id)),
  /** Every added token has this id or a larger one. */
  firstAdded: tokenizer.addedTokens.reduce((least, { id }) => Math.min(least, id), Infinity),
  special: new Set(tokenizer.addedTokens.filter((token) => token.special).map(({ id }) => id)),
  think: thinkTokens(tokenizer),
}))

/** Adds the vocabulary to the event; its texts are still created when they are read. */
const withNews = <Event extends object>(event: Event, newVocabulary: NewVocabulary) => ({
  ...event,
  get vocab() {
    return newVocabulary.vocab
  },
  specialIds: newVocabulary.specialIds,
})

/** Opens a prompt segment. */
export function openPrompt(
  messages: readonly Message[],
  prompt: Prompt,
  newVocabulary: VocabularyWriter,
): RolloutEvent {
  const segment: PromptSegment = { kind: 'prompt', ids: prompt.ids, messages, derivation: prompt.derivation }
  return withNews({ type: 'segment-started', segment }, newVocabulary(prompt.ids))
}

/** Closes the prompt when the first token arrives, with these logprobs if they were requested. */
export function closePrompt(
  { logprobs, topLogprobs }: Omit<ArrivedTokens, 'ids'>,
  problems: readonly Problem[],
  newVocabulary: VocabularyWriter,
): RolloutEvent {
  const segment = {
    kind: 'prompt',
    ...(logprobs && { logprobs }),
    ...(topLogprobs && { topLogprobs }),
    ...(problems.length > 0 && { problems }),
  } as const
  return withNews({ type: 'segment', segment }, newVocabulary(topLogprobs ? idsOfAlternatives(topLogprobs) : []))
}

/** Reopens the last response, which continues from its own tokens. */
export const reopenResponse = (request: NonNullable<ResponseSegment['request']>): RolloutEvent => ({
  type: 'resumed',
  request,
})

/** Returns the ending of a resumed response, from the ending of its last call; `kept` is the stopped response. */
export function resumedEnding(
  kept: ResponseSegment,
  request: NonNullable<ResponseSegment['request']>,
  { usage, timing, text, weightVersions = [], routedExperts, problems, ...ending }: Ending,
  vocab: Vocab,
): Ending {
  const at = kept.ids.length
  const keptText = textOf(kept.ids, vocab)
  const experts = joinRoutedExperts([kept.routedExperts, routedExperts])
  const versions = [
    ...(kept.weightVersions ?? []),
    ...weightVersions.map((version) => ({ ...version, start: version.start + at, end: version.end + at })),
  ]
  return {
    ...ending,
    problems: problems.map((problem) =>
      problem.index === undefined ? problem : { ...problem, index: problem.index + at },
    ),
    ...(versions.length > 0 && { weightVersions: versions }),
    ...(experts && { routedExperts: experts }),
    resumed: [
      ...(kept.resumed ?? []),
      { at, ...(kept.finish && { stopped: kept.finish }), request, ...(usage && { usage }), ...(timing && { timing }) },
    ],
    // The bytes of a character that was cut in two are in neither text.
    ...(text !== undefined && !keptText.endsWith('\uFFFD') && { text: keptText + text }),
  }
}

/** Opens an empty response segment. */
export function openResponse(request: NonNullable<ResponseSegment['request']>): RolloutEvent {
  const segment: ResponseSegment = { kind: 'response', ids: [], thinks: [], toolCalls: [], request }
  return { type: 'segment-started', segment, vocab: {}, specialIds: [] }
}

/** Returns the ids of alternatives, without making a list of them. */
const idsOfAlternatives = (top: TopLogprobs): ArrayLike<number> => alternativeColumns(top)?.ids ?? top.ids

/** Adds tokens, with their texts, to the open response. */
export function addTokens(tokens: ArrivedTokens, newVocabulary: VocabularyWriter): RolloutEvent {
  const { ids, topLogprobs } = tokens
  return withNews({ type: 'tokens', ...tokens }, newVocabulary(ids, topLogprobs ? idsOfAlternatives(topLogprobs) : []))
}

/**
 * Closes the open response: finds its think blocks and tool calls, and checks the server's text against its tokens. `before` are
 * the calls that a resumed response already had: calls that are unchanged keep their results.
 */
export function closeResponse(
  trajectory: LiveTrajectory,
  ending: Ending,
  parser: ToolParser,
  tokenizer: Tokenizer,
  before: readonly ToolCall[] = [],
  newCallIds: NewCallIds = numberedCallIds(callIdsIn(trajectory)),
): RolloutEvent {
  const open = trajectory.live?.open
  if (open?.kind !== 'response') throw new Error('no response is open')
  const { text: serverText, problems, ...known } = ending
  const response: ResponseSegment = { ...open, ...known }
  const own = textForParsers(response, trajectory, [parser])
  const all = [...(open.problems ?? []), ...problems, ...textProblems(response, trajectory, own, serverText)]
  const { thinks, toolCalls } = annotationsIn(own, response, trajectory, parser, tokenizer, newCallIds)
  return {
    type: 'segment',
    segment: {
      kind: 'response',
      ...known,
      thinks,
      toolCalls: withResultsOf(before, toolCalls),
      ...(all.length > 0 && { problems: all }),
    },
    vocab: {},
    specialIds: [],
  }
}

/** Returns the ids of the calls of a trajectory. */
const callIdsIn = (trajectory: Pick<Trajectory, 'segments'>): ReadonlySet<string> =>
  new Set(toolCallsOf(trajectory).map(({ id }) => id))

/** Returns the think blocks and tool calls of a response; `trajectory` has the segments before it. */
export function annotations(
  response: ResponseSegment,
  trajectory: Trajectory,
  parser: ToolParser,
  tokenizer: Tokenizer,
  newCallIds: NewCallIds = numberedCallIds(callIdsIn(trajectory)),
): Pick<ResponseSegment, 'thinks' | 'toolCalls'> {
  const text = textForParsers(response, trajectory, [parser])
  return annotationsIn(text, response, trajectory, parser, tokenizer, newCallIds)
}

/** Returns calls with the results of equal calls in `before`: calls with the same text at the same tokens. */
export const withResultsOf = (before: readonly ToolCall[], calls: readonly ToolCall[]): readonly ToolCall[] =>
  calls.map((call) => {
    const known = before.find(
      ({ kind, raw, span }) =>
        kind === call.kind && raw === call.raw && span.start === call.span.start && span.end === call.span.end,
    )
    return known?.result ? { ...call, result: known.result } : call
  })

function annotationsIn(
  written: TextWithStarts,
  response: ResponseSegment,
  trajectory: Trajectory,
  parser: ToolParser,
  tokenizer: Tokenizer,
  newCallIds: NewCallIds,
): Pick<ResponseSegment, 'thinks' | 'toolCalls'> {
  const { text, starts } = written
  const opened = endsInsideThink(trajectory.segments.at(-1)?.ids ?? [], tokenizer)
  const blocks = thinkBlocks(text, thinkDelimiters(response, text, starts, tokenizer), opened, parser.delimiters)
  const tokens = (range: TextRange) => tokensAt(written, range.start, range.end)
  const calls = parser.parse(text, blocks, trajectory.model.tools)
  const callIds = newCallIds(calls.length)
  return {
    thinks: blocks.map(({ start, end, closed }) => ({
      ...tokens({ start, end }),
      // A token with the beginning of the call belongs to the call.
      ...(!closed && { end: tokens({ start: end, end }).start }),
      closed,
    })),
    toolCalls: calls.map((call, index) => recordedCall(call, elementAt(callIds, index), tokens)),
  }
}

function recordedCall(
  call: ParsedCall,
  id: string,
  tokens: (range: TextRange) => { start: number; end: number },
): ToolCall {
  const place = {
    id,
    ...(call.writtenId !== undefined && { writtenId: call.writtenId }),
    raw: call.raw,
    span: tokens(call.text),
    text: call.text,
  }
  if (call.kind === 'malformed')
    return {
      kind: 'malformed',
      ...place,
      why: call.why,
      at: call.at,
      ...(call.name !== undefined && { name: call.name }),
    }
  const named = call.arguments.map(({ name, text }) => ({ name, span: tokens(text), text }))
  return { kind: 'parsed', ...place, name: call.name, input: call.input, arguments: named }
}

/** Returns a call id; ids sort in the order of the calls. */
export const callIdAt = (number: number): string => `call_${String(number).padStart(4, '0')}`

/** Returns the ids of the first `count` calls of a response: the same ids whenever it is called. */
export type NewCallIds = (count: number) => readonly string[]

/**
 * Numbers calls through a trajectory so that their ids sort in order. Ids that the calls before have, as in an imported file, are skipped. A
 * caller that reads one response after another adds to `taken`, because collecting the ids takes longer with each.
 */
export const numberedCallIds =
  (taken: ReadonlySet<string>): NewCallIds =>
  (count) => {
    const free: string[] = []
    for (let number = taken.size; free.length < count; number++) {
      const id = callIdAt(number)
      if (!taken.has(id)) free.push(id)
    }
    return free
  }

interface ThinkTokens {
  readonly form: ThinkForm
  readonly markOf: ReadonlyMap<number, string>
}

/** Returns the form of thinking if its marks are added tokens; otherwise only texts show it. */
function thinkTokens({ addedTokens }: Tokenizer): ThinkTokens | undefined {
  const form = thinkFormOf(new Set(addedTokens.map(({ content }) => content)))
  if (!form) return undefined
  const marks = addedTokens.filter(({ content }) => form.marks.includes(content))
  return { form, markOf: new Map(marks.map(({ id, content }) => [id, content])) }
}

function marksAt({ markOf }: ThinkTokens, ids: readonly number[], starts: readonly number[]): readonly FoundMark[] {
  const found: FoundMark[] = []
  // A stop token outside of the text has no offset.
  const { length } = starts
  for (let index = 0; index < length - 1; index++) {
    const mark = markOf.get(elementAt(ids, index))
    if (mark !== undefined) found.push({ mark, start: elementAt(starts, index), end: elementAt(starts, index + 1) })
  }
  return found
}

/** Finds think delimiters, by id if the tokenizer has such tokens: then a spelled-out delimiter is text. */
function thinkDelimiters(
  { ids }: ResponseSegment,
  text: string,
  starts: readonly number[],
  tokenizer: Tokenizer,
): readonly ThinkDelimiter[] {
  const tokens = marksOf(tokenizer).think
  return tokens ? tokens.form.read(marksAt(tokens, ids, starts), text) : thinkDelimitersIn(text)
}

/**
 * Returns whether the end of the prompt, from its last special token on, opens a think block and does not close it. Without think tokens, the
 * text must end with the opening: a prompt may speak of it.
 */
export function endsInsideThink(promptIds: readonly number[], tokenizer: Tokenizer): boolean {
  const { think: tokens, special } = marksOf(tokenizer)
  if (!tokens) {
    const { text } = decoded(promptIds.slice(-MOST_OF_A_HEADER), tokenizer)
    const delimiter = thinkDelimitersIn(text).at(-1)
    return delimiter?.kind === 'open' && text.slice(delimiter.end).trim() === ''
  }
  const last = promptIds.findLastIndex((id) => tokens.markOf.has(id) || special.has(id))
  if (!tokens.markOf.has(promptIds[last] ?? -1)) return false
  // A header has several marks with text between them or after them, within the last few tokens.
  const from = Math.max(0, last + 1 - MOST_OF_A_HEADER)
  const ids = promptIds.slice(from, last + 1 + MOST_OF_A_HEADER)
  const { text, starts } = decoded(ids, tokenizer)
  const delimiter = tokens.form.read(marksAt(tokens, ids, starts), text).at(-1)
  return delimiter?.kind === 'open' && delimiter.end >= elementAt(starts, last + 1 - from)
}

const MOST_OF_A_HEADER = 16

const decoded = (ids: readonly number[], tokenizer: Tokenizer): TextWithStarts =>
  textWithStarts(ids, Object.fromEntries(ids.map((id) => [id, vocabEntry(tokenizer.bytes(id))])))

/**
 * Reports a server text that differs from the text of the tokens, because then one of them is wrong. `own` is the text that
 * the parser has read.
 */
function textProblems(
  { ids }: ResponseSegment,
  { vocab }: Trajectory,
  { text: own }: TextWithStarts,
  serverText: string | undefined,
): Problem[] {
  if (serverText === undefined || own === serverText) return []
  // An incomplete character at the end is U+FFFD in our text; some server versions hold it back.
  const settled = (text: string) => (text.endsWith('\uFFFD') ? text.replace(/\uFFFD+$/, '') : text)
  const settledText = settled(serverText)
  if (settled(textOf(ids, vocab)) === settledText || settled(textOf(ids.slice(0, -1), vocab)) === settledText) return []
  return [
    {
      kind: 'text',
      message: 'The server’s text differs from the text of its tokens; the tokens are kept.',
      raw: serverText,
    },
  ]
}
