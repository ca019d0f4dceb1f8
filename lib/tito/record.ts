/**
 * What a call to the model adds to a trajectory, as events. A prompt opens, closes when the model has answered with a
 * first token, and then the response opens; a call that fails before that leaves nothing. Ids are kept as they came.
 */
import { responseTextWithStarts } from '#lib/core/conversation.ts'
import type { LiveTrajectory, RolloutEvent } from '#lib/core/events.ts'
import { textOf, tokensAt, vocabEntry } from '#lib/core/pieces.ts'
import { toolCallsOf } from '#lib/core/tokens.ts'
import type {
  Message,
  Problem,
  PromptSegment,
  ResponseSegment,
  ToolCall,
  TopLogprobs,
  Trajectory,
} from '#lib/core/trajectory.ts'
import type { ParsedCall, TextRange, ToolParser } from '#lib/parsers/parser.ts'
import { type ThinkDelimiter, thinkBlocks, thinkDelimitersIn } from '#lib/parsers/thinking.ts'
import type { Prompt } from './prompt.ts'
import type { AddedToken, Tokenizer } from './tokenizer.ts'

/** Tokens of a response as they arrive: parallel arrays. */
export interface ArrivedTokens {
  readonly ids: readonly number[]
  readonly logprobs?: readonly (number | null)[]
  readonly topLogprobs?: TopLogprobs
}

/** What is known of a response when it has ended. */
export type Ending = Pick<ResponseSegment, 'finish' | 'usage' | 'timing' | 'weightVersions'> & {
  readonly problems: readonly Problem[]
  /** The server's own text of the response, to be compared; undefined when it sent none. */
  readonly text?: string
}

/** The vocabulary that ids add: those which neither the trajectory nor an earlier call has brought. */
export type VocabularyWriter = (ids: readonly number[]) => {
  readonly vocab: Trajectory['vocab']
  readonly specialIds: number[]
}

export function vocabularyWriter({ vocab }: Pick<Trajectory, 'vocab'>, tokenizer: Tokenizer): VocabularyWriter {
  const seen = new Set(Object.keys(vocab).map(Number))
  const added = new Set(tokenizer.addedTokens.map(({ id }) => id))
  return (ids) => {
    const unseen = [...new Set(ids)].filter((id) => id >= 0 && !seen.has(id))
    for (const id of unseen) seen.add(id)
    return {
      vocab: Object.fromEntries(unseen.map((id) => [id, vocabEntry(tokenizer.bytes(id))])),
      specialIds: unseen.filter((id) => added.has(id)),
    }
  }
}

export function openPrompt(
  messages: readonly Message[],
  prompt: Prompt,
  newVocabulary: VocabularyWriter,
): RolloutEvent {
  const segment: PromptSegment = { kind: 'prompt', ids: prompt.ids, messages, derivation: prompt.derivation }
  return { type: 'segment-started', segment, ...newVocabulary(prompt.ids) }
}

/** The first token is there: the prompt has been read, with these logprobs where they were asked for. */
export function closePrompt(
  { logprobs, topLogprobs }: Omit<ArrivedTokens, 'ids'>,
  problems: readonly Problem[],
  newVocabulary: VocabularyWriter,
): RolloutEvent {
  return {
    type: 'segment',
    segment: {
      kind: 'prompt',
      ...(logprobs && { logprobs }),
      ...(topLogprobs && { topLogprobs }),
      ...(problems.length > 0 && { problems }),
    },
    ...newVocabulary(topLogprobs?.ids ?? []),
  }
}

export function openResponse(request: NonNullable<ResponseSegment['request']>): RolloutEvent {
  const segment: ResponseSegment = { kind: 'response', ids: [], thinks: [], toolCalls: [], request }
  return { type: 'segment-started', segment, vocab: {}, specialIds: [] }
}

export function addTokens(tokens: ArrivedTokens, newVocabulary: VocabularyWriter): RolloutEvent {
  return { type: 'tokens', ...tokens, ...newVocabulary([...tokens.ids, ...(tokens.topLogprobs?.ids ?? [])]) }
}

/** Closes the open response: finds its think blocks and tool calls, and checks the server's text against its tokens. */
export function closeResponse(
  trajectory: LiveTrajectory,
  ending: Ending,
  parser: ToolParser,
  tokenizer: Tokenizer,
): RolloutEvent {
  const open = trajectory.live?.open
  if (open?.kind !== 'response') throw new Error('no response is open')
  const { text: serverText, problems, ...known } = ending
  const response: ResponseSegment = { ...open, ...known }
  const all = [...problems, ...textProblems(response, trajectory, serverText)]
  return {
    type: 'segment',
    segment: {
      kind: 'response',
      ...known,
      ...annotations(response, trajectory, parser, tokenizer),
      ...(all.length > 0 && { problems: all }),
    },
    vocab: {},
    specialIds: [],
  }
}

/** Think blocks and tool calls of a response; `trajectory` is what stands before it. */
export function annotations(
  response: ResponseSegment,
  trajectory: Trajectory,
  parser: ToolParser,
  tokenizer: Tokenizer,
): Pick<ResponseSegment, 'thinks' | 'toolCalls'> {
  const { text, starts } = responseTextWithStarts(response, trajectory)
  const opened = endsInsideThink(trajectory.segments.at(-1)?.ids ?? [], tokenizer)
  const blocks = thinkBlocks(text, thinkDelimiters(response, text, starts, tokenizer), opened, parser.delimiters)
  const tokens = (range: TextRange) => tokensAt(starts, range.start, range.end)
  const calls = parser.parse(text, blocks, trajectory.model.tools)
  const callIds = freeCallIds(trajectory, calls.length)
  return {
    thinks: blocks.map((block) => ({ ...tokens(block), closed: block.closed })),
    toolCalls: calls.map((call, index) => recordedCall(call, callIds[index] as string, tokens)),
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

/** Our own ids sort in the order of the calls. */
export const callId = (number: number): string => `call_${String(number).padStart(4, '0')}`

/** Numbered through the trajectory, so that ids sort in order; those that an imported one has already are left out. */
function freeCallIds(trajectory: Trajectory, count: number): string[] {
  const taken = toolCallsOf(trajectory).map(({ id }) => id)
  const used = new Set(taken)
  const free: string[] = []
  for (let number = taken.length; free.length < count; number++) {
    const id = callId(number)
    if (!used.has(id)) free.push(id)
  }
  return free
}

const THINK_PAIRS = [
  ['<think>', '</think>'],
  ['[THINK]', '[/THINK]'],
  ['◁think▷', '◁/think▷'],
] as const

/** The think delimiters of a tokenizer: ids where they are added tokens, else only their texts. */
function thinkTokens({
  addedTokens,
}: Tokenizer): { readonly open: AddedToken; readonly close: AddedToken } | undefined {
  for (const [openText, closeText] of THINK_PAIRS) {
    const open = addedTokens.find(({ content }) => content === openText)
    const close = addedTokens.find(({ content }) => content === closeText)
    if (open && close) return { open, close }
  }
  return undefined
}

/** By id where the tokenizer has such tokens: a delimiter that was spelled out is text. */
function thinkDelimiters(
  { ids }: ResponseSegment,
  text: string,
  starts: readonly number[],
  tokenizer: Tokenizer,
): ThinkDelimiter[] {
  const pair = thinkTokens(tokenizer)
  if (!pair) return thinkDelimitersIn(text)
  return starts.slice(0, -1).flatMap((start, index): ThinkDelimiter[] => {
    const end = starts[index + 1] as number
    if (ids[index] === pair.open.id) return [{ kind: 'open', start, end }]
    if (ids[index] === pair.close.id) return [{ kind: 'close', start, end }]
    return []
  })
}

/** True when the prompt's tail, back to its last special token, opens a think block and does not close it. */
export function endsInsideThink(promptIds: readonly number[], tokenizer: Tokenizer): boolean {
  const pair = thinkTokens(tokenizer)
  if (!pair) return false
  const special = new Set(tokenizer.addedTokens.filter((token) => token.special).map(({ id }) => id))
  const decisive = promptIds.findLast((id) => id === pair.open.id || id === pair.close.id || special.has(id))
  return decisive === pair.open.id
}

/** The server decodes on its own; where its text is not that of the tokens, one of the two is wrong. */
function textProblems({ ids }: ResponseSegment, { vocab }: Trajectory, serverText: string | undefined): Problem[] {
  if (serverText === undefined) return []
  const own = textOf(ids, vocab)
  const withoutStop = textOf(ids.slice(0, -1), vocab)
  // An unfinished character at the end is U+FFFD here and held back there, in some versions.
  const settled = (text: string) => text.replace(/\uFFFD+$/, '')
  if ([own, withoutStop].some((text) => settled(text) === settled(serverText))) return []
  return [
    { kind: 'text', message: 'The server’s text is not the text of its tokens; the tokens are kept.', raw: serverText },
  ]
}
