/** Computes the loss mask of one conversation by every way, and finds where the ways differ. */

import { type LabInput, type LabTokenizer, runToEnd } from '#lib/tasks/task.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { conversation as conversationOf } from '#lib/trajectory/messages/conversation.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import { vocabEntry } from '#lib/trajectory/tokens/pieces.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { type InputError, orTemplateFailure, type ReadInput, readInput } from '../document/input.ts'
import { type AlignedBlock, align } from './alignment.ts'
import { type ConversationTokens, conversationTokens } from './conversation.ts'
import { countDisagreements, disagreementsOf } from './disagreements.ts'
import { summarizeMask } from './finding.ts'
import { fixedBaseDifference } from './fixed-base.ts'
import { generationMask } from './generation.ts'
import { type LintRanges, lintsOf, partFindings, trajectoryFindings } from './lints.ts'
import { alignMarks, counterparts, runsOfMarks } from './marks.ts'
import type { MaskedTokens } from './masked-tokens.ts'
import { prefixDifference } from './prefix-difference.ts'
import type { OwnTokens } from './renders.ts'
import {
  type Break,
  type Lint,
  MASK_METHOD_NAMES,
  MASK_REPORT_VERSION,
  type Mark,
  type MaskedSequence,
  type MaskMethod,
  type MaskMethodName,
  type MaskReport,
  type TokenOrigin,
} from './report.ts'
import { type TrajectoryTokens, trajectoryTokens } from './trajectory-tokens.ts'

/** A conversation of the template lab, and its recorded rollout. */
export interface MaskInput {
  readonly input: LabInput
  /** The trajectory whose ids and mask the other ways are compared with. */
  readonly trajectory?: TrajectoryView | undefined
}

/** Assistant messages that are done, of all. */
export interface MaskProgress {
  readonly done: number
  readonly of: number
}

/** Returns the complete report. */
export const maskDoctor = (input: MaskInput, tokenizer: LabTokenizer): MaskReport =>
  runToEnd(maskDiagnosis(input, tokenizer))

/** Computes the report; yields progress before each assistant message. */
export function* maskDiagnosis(
  { input, trajectory }: MaskInput,
  { tokenizer, compile }: LabTokenizer,
): Generator<MaskProgress, MaskReport> {
  const read = readInput(input)
  const template = orTemplateFailure(() => compile(input.template))
  const conversation = !template.ok
    ? template
    : !read.ok
      ? read
      : conversationTokens(read.value, template.value, tokenizer)
  return yield* report(conversation, trajectory && unpack(trajectory), tokenizer)
}

/** The mask of one way, before it is compared with the others. */
interface Computed {
  readonly tokens: MaskedTokens
  readonly findings: readonly LintRanges[]
  readonly breaks: readonly Break[]
  readonly hasTag: boolean
}

type Attempt = Computed | { readonly why: string }

/** Computes the report of a rendered conversation; after a failed render, that of the trajectory alone. */
export function* report(
  conversation: ReadInput<ConversationTokens>,
  trajectory: Trajectory | undefined,
  tokenizer: Tokenizer,
): Generator<MaskProgress, MaskReport> {
  const truth = trajectory && trajectoryTokens(trajectory)
  const attempts: Record<MaskMethodName, Attempt> = {
    tito: trajectory && truth ? fromTrajectory(trajectory, truth) : { why: 'no trajectory is open' },
    ...(conversation.ok ? yield* fromConversation(conversation.value) : notRendered(conversation.error)),
  }
  const tokens = truth ?? (conversation.ok ? generationMask(conversation.value) : NOTHING)
  const { sequence, originOf } = describeMask(tokens, trajectory, conversation, tokenizer)
  const marks = new Map<MaskMethodName, readonly Mark[]>()
  const ways: MaskMethod[] = []
  const lints: Lint[] = []
  for (const name of MASK_METHOD_NAMES) {
    const attempt = attempts[name]
    if ('why' in attempt) {
      ways.push({ name, kind: 'missing', why: attempt.why })
      continue
    }
    const blocks = align(tokens, attempt.tokens)
    const own = alignMarks(tokens, attempt.tokens, blocks)
    const inSequence = counterparts(blocks)
    const found = lintsOf(name, attempt.tokens, attempt.findings, (range) => {
      const there = inSequence(range)
      return { inSequence: there, line: there && originOf(there.start).line }
    })
    const foreign = outside(attempt.tokens, blocks)
    marks.set(name, own)
    lints.push(...found)
    ways.push({
      name,
      kind: 'computed',
      trained: count(attempt.tokens.trained),
      tokens: attempt.tokens.ids.length,
      runs: runsOfMarks(own),
      foreign,
      finding: summarizeMask({
        hasTag: attempt.hasTag,
        lints: found,
        breaks: attempt.breaks,
        foreign,
        marks: own,
        truth: name === 'tito' ? undefined : marks.get('tito'),
      }),
      breaks: attempt.breaks,
    })
  }
  return {
    version: MASK_REPORT_VERSION,
    tokenizer: { name: tokenizer.name, fingerprint: tokenizer.fingerprint },
    failure: conversation.ok ? undefined : conversation.error,
    sequence,
    ways,
    pairs: countDisagreements(marks),
    disagreements: disagreementsOf(tokens, marks, originOf),
    lints,
  }
}

const NOTHING: MaskedTokens = { ids: [], bytes: () => new Uint8Array(), trained: [], parts: [], messages: [] }

const fromTrajectory = (trajectory: Trajectory, tokens: TrajectoryTokens): Computed => ({
  tokens,
  findings: trajectoryFindings(trajectory, tokens),
  breaks: [],
  hasTag: true,
})

function notRendered({ message }: InputError): Record<Exclude<MaskMethodName, 'tito'>, Attempt> {
  const attempt = { why: `the template cannot render the conversation: ${message}` }
  return { generation: attempt, prefix: attempt, 'fixed-base': attempt }
}

function* fromConversation(
  conversation: ConversationTokens,
): Generator<MaskProgress, Record<Exclude<MaskMethodName, 'tito'>, Attempt>> {
  const { merged, unlocated, ...generation } = generationMask(conversation)
  const of = conversation.roles.filter((role) => role === 'assistant').length
  const differences = prefixDifference(conversation)
  let step = differences.next()
  for (let done = 0; !step.done; done++) {
    yield { done, of }
    step = differences.next()
  }
  const fixed = fixedBaseDifference(conversation)
  return {
    generation: {
      tokens: generation,
      findings: [
        ...partFindings(generation),
        { kind: 'merge', ranges: merged },
        { kind: 'span-lost', ranges: unlocated },
      ],
      breaks: [],
      hasTag: generation.hasTag,
    },
    prefix: fromDifference(step.value),
    'fixed-base': fixed.ok
      ? fromDifference(fixed.value)
      : { why: `the template refuses the base conversation: ${fixed.error.message}` },
  }
}

const fromDifference = ({ breaks, merged, ...tokens }: OwnTokens): Computed => ({
  tokens,
  findings: [...partFindings(tokens), { kind: 'merge', ranges: merged }],
  breaks,
  hasTag: true,
})

/** Returns the sequence that is shown, and the origin of each of its tokens. */
function describeMask(
  tokens: MaskedTokens,
  trajectory: Trajectory | undefined,
  conversation: ReadInput<ConversationTokens>,
  tokenizer: Tokenizer,
): { readonly sequence: MaskedSequence; readonly originOf: (token: number) => Omit<TokenOrigin, 'start' | 'end'> } {
  const lines = new Array<number | undefined>(tokens.ids.length)
  const messages: (number | undefined)[] = [...tokens.messages]
  if (conversation.ok) {
    const { encoding, ...rendered } = conversation.value
    const bytes = (id: number): Uint8Array => rendered.tokenizer.bytes(id)
    for (const { a, b } of align(tokens, { ids: encoding.ids, bytes }))
      for (let token = a[0]; token < a[1]; token++) {
        const there = Math.min(b[0] + token - a[0], b[1] - 1)
        lines[token] = rendered.lines[there]
        messages[token] ??= rendered.messages[there]
      }
  }
  const originOf = (token: number) => ({ line: lines[token], message: messages[token] })
  const origins: { start: number; end: number; line: number | undefined; message: number | undefined }[] = []
  for (const token of tokens.ids.keys()) {
    const origin = originOf(token)
    const last = origins.at(-1)
    if (last?.end === token && last.line === origin.line && last.message === origin.message) last.end++
    else if (origin.line !== undefined || origin.message !== undefined)
      origins.push({ start: token, end: token + 1, ...origin })
  }
  const used = new Set(tokens.ids)
  return {
    sequence: {
      of: trajectory ? 'trajectory' : 'rendering',
      ids: tokens.ids,
      vocab: Object.fromEntries([...used].map((id) => [id, vocabEntry(tokens.bytes(id))])),
      specialIds: tokenizer.addedTokens.flatMap(({ id }) => (used.has(id) ? [id] : [])),
      roles: conversation.ok
        ? conversation.value.roles
        : trajectory
          ? conversationOf(trajectory).map(({ role }) => role)
          : [],
      origins,
    },
    originOf,
  }
}

const count = (trained: readonly boolean[]): number => trained.filter((is) => is).length

/** Returns the number of tokens of a way that no block contains. */
function outside(
  { trained }: MaskedTokens,
  blocks: readonly AlignedBlock[],
): { readonly tokens: number; readonly trained: number } {
  const inside = blocks.reduce((sum, { b }) => sum + b[1] - b[0], 0)
  const trainedInside = blocks.reduce((sum, { b }) => sum + count(trained.slice(b[0], b[1])), 0)
  return { tokens: trained.length - inside, trained: count(trained) - trainedInside }
}
