/**
 * Harbor's trajectory format ATIF 1.8 (harbor 0.24, harbor.models.trajectories). A response is a step of the agent with the
 * ids of its prompt and of its completion; the results of its calls are its observation. ATIF has no loss mask and no reward,
 * so these are in `extra`, which every reader keeps.
 */
import type { JsonObject } from '#lib/json/json-object.ts'
import { writtenObject } from '#lib/json/written-json.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, logprobsOf, lossMask, segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { hasLogprobs } from '../columns.ts'
import { chatMessagesBySegment, chatTools, type ExportedMessage } from './chat-messages.ts'
import { listDroppedContent, listDroppedForeignFields } from './export-losses.ts'
import type { FieldPart, TokenField, TrainingRow } from './training-row.ts'
import type { Writer } from './writer.ts'

const NAME = 'atif'

/** Writes ATIF 1.8. */
export const atifWriter: Writer = {
  name: NAME,
  label: 'Harbor (ATIF)',
  keeps: 'Messages, calls and results, prompt and completion ids and logprobs of each call: ATIF 1.8.',
  takesMessagesOnly: true,
  write,
  rows,
}

interface Step {
  readonly step_id: number
  readonly source: 'system' | 'user' | 'agent'
  readonly message: string
  readonly [field: string]: unknown
}

interface Metrics {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly cached_tokens?: number
  readonly prompt_token_ids: readonly number[]
  readonly completion_token_ids: readonly number[]
  readonly logprobs?: readonly number[]
}

function write(trajectory: Trajectory) {
  const { id, model, segments, reward, group, title } = trajectory
  const all = ids(trajectory)
  const starts = segmentStarts(trajectory)
  const steps: Step[] = []
  let hasGaps = false
  let hasOrphans = false
  /** The last step of the agent, which takes the results of its calls. */
  let calling: { readonly results: JsonObject[]; readonly callIds: ReadonlySet<string> } | undefined
  const add = (step: Omit<Step, 'step_id'>) => steps.push({ step_id: steps.length + 1, ...step } as Step)
  for (const [index, messages] of chatMessagesBySegment(trajectory).entries()) {
    const segment = elementAt(segments, index)
    for (const message of messages) {
      if (segment.kind === 'response') {
        const start = elementAt(starts, index)
        const metrics = metricsOf(segment, start, all)
        hasGaps ||= segment.ids.length > 0 && metrics.logprobs === undefined
        calling = { results: [], callIds: callIds(message) }
        add({ ...agentStep(message), ...requested(segment), metrics, llm_call_count: 1, ...observed(calling.results) })
      } else if (message.role === 'tool') {
        const results = calling?.results
        hasOrphans ||= results === undefined
        results?.push({
          ...(message.tool_call_id !== undefined &&
            calling?.callIds.has(message.tool_call_id) && { source_call_id: message.tool_call_id }),
          content: message.content,
        })
      } else if (message.role === 'assistant') {
        calling = { results: [], callIds: callIds(message) }
        add({ ...agentStep(message), is_copied_context: true, ...observed(calling.results) })
      } else add({ source: message.role === 'user' ? 'user' : 'system', message: textIn(message) })
    }
  }
  const tools = chatTools(model.tools)
  const value = {
    schema_version: 'ATIF-v1.8',
    ...(group && { session_id: group.id }),
    trajectory_id: id,
    agent: {
      name: 'rollscope',
      version: '1',
      ...(model.name !== undefined && { model_name: model.name }),
      ...(tools.length > 0 && { tool_definitions: tools }),
    },
    // A trajectory needs a step; text or ids without messages are no message of anybody.
    steps: steps.length > 0 ? steps.map(withoutEmptyObservation) : [{ step_id: 1, source: 'system', message: '' }],
    extra: {
      rollscope: {
        segment_info: segments.map(({ kind, ids }) => [kind === 'response', ids.length] as const),
        token_ids: all,
        loss_mask: lossMask(trajectory),
        ...(reward !== undefined && { reward }),
        ...(title !== undefined && { title }),
        ...(group && { sample: group.index }),
      },
    },
  }
  return {
    value,
    losses: [
      'white space around each text',
      ...(hasGaps ? ['logprobs of responses in which a token has none'] : []),
      ...(hasPromptLogprobs(segments) ? ['logprobs of the prompts'] : []),
      ...(hasTokensAfterReplies(segments) ? ['tokens after the last reply, which are only in “extra”'] : []),
      ...(hasOrphans ? ['results that follow no call'] : []),
      ...listDroppedContent(trajectory, ['messages', 'spans', 'reward', 'group', 'texts']),
      ...listDroppedForeignFields(trajectory, NAME),
    ],
  }
}

const hasPromptLogprobs = (segments: Trajectory['segments']): boolean =>
  hasLogprobs(segments.filter(({ kind }) => kind === 'prompt'))

/** Prompts are written with the reply to them. */
const hasTokensAfterReplies = (segments: Trajectory['segments']): boolean =>
  segments.slice(segments.findLastIndex(({ kind }) => kind === 'response') + 1).some(({ ids }) => ids.length > 0)

/** Results are added after the step, so the list is shared until all steps are known. */
const observed = (results: readonly JsonObject[]) => ({ observation: { results } })

function withoutEmptyObservation({ observation, ...step }: Step): Step {
  const { results } = (observation ?? { results: [] }) as ReturnType<typeof observed>['observation']
  return { ...step, ...(results.length > 0 && { observation: { results } }) } as Step
}

/** The text of a reply whose tokens have no known texts is empty. */
const textIn = ({ content }: Pick<ExportedMessage, 'content'>): string => content ?? ''

const callIds = ({ tool_calls = [] }: ExportedMessage): ReadonlySet<string> => new Set(tool_calls.map(({ id }) => id))

const agentStep = ({ content, reasoning_content, tool_calls }: ExportedMessage) => ({
  source: 'agent' as const,
  message: textIn({ content }),
  ...(reasoning_content !== undefined && { reasoning_content }),
  ...(tool_calls && {
    tool_calls: tool_calls.map(({ id, function: called }) => ({
      tool_call_id: id,
      function_name: called.name,
      arguments: writtenObject(called.arguments) ?? { text: called.arguments },
    })),
  }),
})

const requested = ({ timing }: ResponseSegment) => ({
  ...(timing?.startedAt !== undefined && { timestamp: timing.startedAt }),
})

function metricsOf(segment: ResponseSegment, start: number, all: readonly number[]): Metrics {
  const { ids, usage } = segment
  const logprobs = logprobsOf(segment)
  return {
    prompt_tokens: start,
    completion_tokens: ids.length,
    ...(usage?.cachedTokens !== undefined && { cached_tokens: usage.cachedTokens }),
    // The lists of all steps together have the square of the tokens, and only the file needs them.
    get prompt_token_ids() {
      return all.slice(0, start)
    },
    completion_token_ids: ids,
    ...(ids.length > 0 && logprobs.every((score) => score !== null) && { logprobs: logprobs as readonly number[] }),
  }
}

/** The prompt ids of a step contain everything before it, so the arrays over all tokens are those in `extra`. */
function rows(record: object): readonly TrainingRow[] {
  const { steps, extra } = record as ReturnType<typeof write>['value']
  const scores = steps.flatMap((step, index): FieldPart[] => {
    const metrics = 'metrics' in step ? (step.metrics as Metrics) : undefined
    if (!metrics?.logprobs) return []
    const start = metrics.prompt_tokens
    const tokens = { start, end: start + metrics.completion_tokens }
    return [{ kind: 'array', path: ['steps', index, 'metrics', 'logprobs'], tokens }]
  })
  const tokens = { start: 0, end: extra.rollscope.token_ids.length }
  const own = (name: 'token_ids' | 'loss_mask', meaning: TokenField['meaning']): TokenField => ({
    name: `extra.rollscope.${name}`,
    meaning,
    parts: [{ kind: 'array', path: ['extra', 'rollscope', name], tokens }],
  })
  return [
    {
      fields: [
        own('token_ids', 'ids'),
        own('loss_mask', 'mask'),
        { name: 'steps[].metrics.logprobs', meaning: 'logprobs', parts: scores },
      ],
      lengths: [{ name: 'extra.rollscope.segment_info', path: ['extra', 'rollscope', 'segment_info'], tokens }],
    },
  ]
}
