/** Finds known faults of a loss mask in the mask itself. */
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { responseCalls } from '#lib/trajectory/messages/response-calls.ts'
import { type MaskedPart, type MaskedTokens, quoteTokens } from './masked-tokens.ts'
import type { Lint, LintKind, LintPlace, MaskMethodName, TokenRange } from './report.ts'
import { type TrajectoryTokens, trajectoryTokens } from './trajectory-tokens.ts'

/** Returns the lints of the mask that a trajectory carries. No tokenizer and no template is needed. */
export function maskLints(trajectory: Trajectory): readonly Lint[] {
  const tokens = trajectoryTokens(trajectory)
  return lintsOf('tito', tokens, trajectoryFindings(trajectory, tokens))
}

/** Where a lint applies. */
export interface LintRanges {
  readonly kind: LintKind
  /** Ranges of tokens of the mask; empty if nothing was found. */
  readonly ranges: readonly TokenRange[]
}

/** Returns what the parts of the conversation show: where training begins and ends, and what it must not contain. */
export function partFindings(tokens: MaskedTokens): readonly LintRanges[] {
  const { trained, parts } = tokens
  const trainedIn = (part: MaskedPart): readonly TokenRange[] =>
    ranges(parts.length, (index) => trained[index] === true && parts[index] === part)
  const isReply = (index: number): boolean => parts[index] === 'reply' || parts[index] === 'end'
  const isAllZero = !trained.includes(true) && parts.some((_, index) => isReply(index))
  return [
    ...(isAllZero ? [{ kind: 'all-zero', ranges: [{ start: 0, end: parts.length }] } as const] : []),
    { kind: 'header-trained', ranges: trainedIn('header') },
    { kind: 'context-trained', ranges: trainedIn('context') },
    { kind: 'tool-result-trained', ranges: trainedIn('tool') },
    { kind: 'after-end-trained', ranges: trainedIn('after-end') },
    { kind: 'end-of-turn-untrained', ranges: ranges(parts.length, isUntrainedEnd(tokens)) },
  ]
}

/**
 * Returns whether a token is the untrained end of a reply that is trained. A reply without content has no token that shows whether it is
 * trained: it counts as trained if every reply with content is.
 */
function isUntrainedEnd({ trained, parts }: MaskedTokens): (index: number) => boolean {
  const ends = [...parts.keys()].filter((index) => parts[index] === 'end')
  const withContent = ends.filter((index) => parts[index - 1] === 'reply')
  const trainsAll = withContent.length > 0 && withContent.every((index) => trained[index - 1] === true)
  return (index) =>
    parts[index] === 'end' &&
    trained[index] === false &&
    (parts[index - 1] === 'reply' ? trained[index - 1] === true : trainsAll)
}

/** Returns the same for a recorded mask, and what its logprobs and requests show. */
export function trajectoryFindings(trajectory: Trajectory, tokens: TrajectoryTokens): readonly LintRanges[] {
  const { trained, logprobs } = tokens
  return [
    ...partFindings(tokens),
    {
      kind: 'unknown-logprob',
      ranges: fileLacksLogprobs(trajectory, tokens)
        ? []
        : ranges(trained.length, (index) => trained[index] === true && logprobs[index] === null),
    },
    { kind: 'synthetic-end', ranges: syntheticEnds(trajectory, tokens) },
  ]
}

/** Returns whether an imported file has no logprob of any trained token, which a badge says; some without are a fault. */
const fileLacksLogprobs = ({ provenance }: Trajectory, { trained, logprobs }: TrajectoryTokens): boolean =>
  provenance.kind === 'import' && trained.every((isTrained, index) => !isTrained || logprobs[index] === null)

/**
 * Returns trained ends of turns with the logprob 0 that pipelines write for a token that they insert themselves. A token at which the
 * server stopped was sampled, and one that a grammar or a bias left no choice about is certain by right. If other trained tokens have 0
 * too, the value shows nothing.
 */
function syntheticEnds(
  { segments }: Trajectory,
  { trained, parts, logprobs }: TrajectoryTokens,
): readonly TokenRange[] {
  const isCertain = (index: number): boolean => trained[index] === true && logprobs[index] === 0
  if (parts.some((part, index) => part === 'reply' && isCertain(index))) return []
  const found: TokenRange[] = []
  let start = 0
  for (const segment of segments) {
    const end = start + segment.ids.length
    if (segment.kind === 'response' && !wasSampledOrForced(segment))
      found.push(...ranges(end, (index) => parts[index] === 'end' && isCertain(index), start))
    start = end
  }
  return found
}

const FORCING = ['regex', 'json_schema', 'ebnf', 'structural_tag', 'logit_bias'] as const

function wasSampledOrForced(segment: ResponseSegment): boolean {
  const { ids, finish } = segment
  const isStop = finish?.kind === 'stop' && finish.matched !== undefined && finish.matched === ids.at(-1)
  const parameters = responseCalls(segment).at(-1)?.request?.samplingParams ?? {}
  const isForced = FORCING.some((name) => {
    const value = parameters[name]
    return value !== undefined && value !== null && value !== ''
  })
  return isStop || isForced
}

/** Returns the lints of findings, with their texts. `place` adds where a range is in the report's sequence. */
export function lintsOf(
  way: MaskMethodName,
  tokens: MaskedTokens,
  findings: readonly LintRanges[],
  place: (range: TokenRange) => Pick<LintPlace, 'inSequence' | 'line'> = () => ({
    inSequence: undefined,
    line: undefined,
  }),
): readonly Lint[] {
  return findings
    .filter(({ ranges }) => ranges.length > 0)
    .map(({ kind, ranges }) => {
      const { severity, text, remedy } = WORDS[kind]
      return {
        kind,
        way,
        severity,
        text,
        remedy: (way === 'tito' && TRAJECTORY_REMEDIES[kind]) || remedy,
        places:
          kind === 'all-zero'
            ? []
            : ranges.map((range) => ({
                ...range,
                text: quoteTokens(tokens, range.start, range.end),
                message: tokens.messages[range.start],
                ...place(range),
              })),
      }
    })
}

const WORDS: Readonly<Record<LintKind, Pick<Lint, 'severity' | 'text' | 'remedy'>>> = {
  'all-zero': {
    severity: 'error',
    text: 'No token is trained: the loss is zero, and no error is reported.',
    remedy:
      'Put {% generation %} … {% endgeneration %} around the assistant’s text, including its end of turn; or use the mask of the rollout’s ids.',
  },
  'header-trained': {
    severity: 'error',
    text: 'The header of the assistant’s turn is trained, but the model never writes it.',
    remedy: 'Begin training after the generation prompt: its tokens are given to the model.',
  },
  'context-trained': {
    severity: 'error',
    text: 'Text of the system, of the user or of the template is trained.',
    remedy: 'Train only the assistant’s text: check where the block or the difference begins and ends.',
  },
  'tool-result-trained': {
    severity: 'error',
    text: 'The result of a tool is trained: the model learns to invent results.',
    remedy: 'Mask tool messages and the text that wraps them.',
  },
  'end-of-turn-untrained': {
    severity: 'error',
    text: 'The end-of-turn token is not trained: the model does not learn to stop.',
    remedy:
      'Include the end-of-turn token in the trained range: in the {% generation %} block, or by a reply that begins as its generation prompt does.',
  },
  'after-end-trained': {
    severity: 'warning',
    text: 'The text after the end of the turn is trained, but generation stops before it: the model never writes it.',
    remedy: 'End the trained range after the end-of-turn token, before the newline.',
  },
  'synthetic-end': {
    severity: 'error',
    text: 'An end of turn is trained with logprob 0, as if it were certain: it was probably inserted, not sampled.',
    remedy: 'Mask it, or record its sampled logprob: otherwise its importance ratio is wrong.',
  },
  merge: {
    severity: 'warning',
    text: 'One token contains characters of a trained and of an untrained range.',
    remedy:
      'Put an added token or a line end at the boundary, so that no merge crosses it; or train on the rollout’s ids.',
  },
  'unknown-logprob': {
    severity: 'error',
    text: 'Trained tokens have no logprob: importance ratios cannot be computed for them.',
    remedy: 'Mask them, or request logprobs (return_logprob) when they are sampled.',
  },
  'span-lost': {
    severity: 'error',
    text: 'transformers finds no token for an end of a {% generation %} block, and the mask is wrong from there.',
    remedy: 'Begin and end the block with characters that are separate tokens, such as an added token.',
  },
}

/** Remedies for the mask of a rollout, for which no template is to blame. */
const TRAJECTORY_REMEDIES: Readonly<Partial<Record<LintKind, string>>> = {
  'all-zero': 'Check how the file was created: responses should have mask 1.',
  'end-of-turn-untrained': 'Set mask 1 for the sampled end-of-turn token.',
  'context-trained': 'Set mask 0 for tokens that the model did not sample.',
  'header-trained': 'Set mask 0 for the generation prompt.',
}

/** Returns the maximal runs of indexes from `start` to `end` that pass the test. */
function ranges(end: number, test: (index: number) => boolean, start = 0): readonly TokenRange[] {
  const found: { start: number; end: number }[] = []
  for (let index = start; index < end; index++) {
    if (!test(index)) continue
    const last = found.at(-1)
    if (last?.end === index) last.end++
    else found.push({ start: index, end: index + 1 })
  }
  return found
}
