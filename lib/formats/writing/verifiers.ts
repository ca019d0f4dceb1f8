/**
 * A trace of verifiers (verifiers 0.4, verifiers.v1.trace): nodes with the tokens that each message adds. A trajectory is a
 * trace with one branch. Logprobs exist only for tokens whose mask is true, as the renderer of verifiers writes them.
 */
import type { OutcomeReason, ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { type ColumnRole, roleColumn } from '#lib/trajectory/tokens/column-roles.ts'
import { isTrained, logprobsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { NumberColumn } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { type ImageMessage, imageMessagesBySegment } from './chat-messages.ts'
import { imagesOfMessages, listDroppedContent, listDroppedForeignFields } from './export-losses.ts'
import type { FieldPart, TrainingRow } from './training-row.ts'
import type { Writer } from './writer.ts'

const NAME = 'verifiers'

/** Writes a trace. */
export const verifiersWriter: Writer = {
  name: NAME,
  label: 'verifiers',
  keeps: 'Messages, ids, mask and logprobs of each message, rewards, tools: a trace of verifiers with one branch.',
  keepsAdvantages: true,
  write,
  rows,
}

/** What stopped a trace, in the words of verifiers, whose `is_truncated` knows these limits. A cancelled run is not completed. */
const STOP_CONDITIONS: Readonly<Partial<Record<OutcomeReason, string>>> = {
  end_turn: 'agent_completed',
  length: 'max_output_tokens',
  context_full: 'max_total_tokens',
  max_tokens: 'max_total_tokens',
  truncated: 'max_total_tokens',
  max_messages: 'max_turns',
  max_tool_calls: 'max_turns',
  max_tool_iterations: 'max_turns',
}

/** Roles of the columns with a trainer's numbers, by their names in a node. */
const TRAINER_COLUMNS: Readonly<Record<string, ColumnRole>> = {
  advantages: 'advantage',
  reference_logprobs: 'reference',
  trainer_logprobs: 'trainer',
  entropies: 'entropy',
}

function write(trajectory: Trajectory) {
  const { id, model, segments, outcome, reward, title, createdAt } = trajectory
  const nodes: object[] = []
  const calls: object[] = []
  let unscored = false
  const addNode = (message: ImageMessage, sampled: boolean, tokens: object) => {
    nodes.push({
      ...(nodes.length > 0 && { parent: nodes.length - 1 }),
      ...(nodes.length === 0 && model.tools.length > 0 && { tools: toolsOf(model.tools) }),
      message: nodeMessage(message),
      sampled,
      timestamp: Date.parse(createdAt) / 1000,
      ...tokens,
    })
  }
  for (const [index, messages] of imageMessagesBySegment(trajectory).entries()) {
    const segment = elementAt(segments, index)
    const { ids } = segment
    const trained = Array.from(ids, (_, token) => isTrained(segment, token))
    const ofTrained = (column: NumberColumn) => Array.from(column).filter((_, token) => trained[token])
    const scores = ofTrained(logprobsOf(segment))
    const isScored = scores.every((score) => score !== null)
    unscored ||= !isScored
    const tokens = {
      token_ids: ids,
      mask: trained,
      is_content: [],
      logprobs: isScored ? scores : [],
      ...Object.fromEntries(
        Object.entries(TRAINER_COLUMNS).flatMap(([name, role]) => {
          const column = roleColumn(segment, trajectory, role)
          const values = column && ofTrained(column)
          return values?.every((value) => value !== null) ? [[name, values]] : []
        }),
      ),
    }
    // The template renders the messages of a prompt together, so their tokens belong to the last one.
    const own: readonly ImageMessage[] = messages.length > 0 ? messages : [{ role: 'user', content: '' }]
    for (const [nth, message] of own.entries())
      addNode(message, segment.kind === 'response', nth === own.length - 1 ? tokens : NO_TOKENS)
    if (segment.kind === 'response')
      calls.push({
        node: nodes.length - 1,
        ...(model.name !== undefined && { model: model.name }),
        finish_reason: finishOf(segment, own),
        ...(segment.usage && {
          usage: { prompt_tokens: segment.usage.promptTokens, completion_tokens: segment.usage.completionTokens },
        }),
      })
  }
  const stop = outcome.kind === 'ended' ? STOP_CONDITIONS[outcome.reason] : undefined
  const value = {
    version: 1,
    id,
    verifiers: { version: '0.4.0' },
    task: { type: 'rollscope', data: { ...(title !== undefined && { name: title }) } },
    agent: { config: { ...(model.name !== undefined && { model: model.name }) }, name: 'agent', trainable: true },
    ...(model.tools.length > 0 && { tools: toolsOf(model.tools) }),
    nodes,
    calls,
    rewards: typeof reward === 'number' ? { reward: { score: reward, weight: 1 } } : {},
    metrics: {},
    info: {},
    is_completed: stop !== undefined,
    // prime-rl leaves out all traces that are not ok. One that reached a limit is, as in verifiers.
    ok: outcome.kind === 'ended',
    ...(outcome.kind === 'ended' && { stop_condition: stop ?? outcome.reason }),
    errors: outcome.kind === 'failed' ? [{ type: outcome.code, message: outcome.message }] : [],
  }
  return {
    value,
    losses: [
      'white space around each text',
      ...(unscored
        ? ['logprobs of messages in which a trained token has none: verifiers reads 0, as if the model was certain']
        : []),
      ...(segments.some((segment) =>
        logprobsOf(segment).some((score, token) => score !== null && !isTrained(segment, token)),
      )
        ? ['logprobs of tokens that are not trained']
        : []),
      ...listDroppedContent(trajectory, [
        'messages',
        'spans',
        'reward',
        'outcome',
        'texts',
        ...imagesOfMessages(trajectory),
      ]),
      ...listDroppedForeignFields(trajectory, NAME),
    ],
  }
}

const NO_TOKENS = { token_ids: [], mask: [], is_content: [], logprobs: [] }

const toolsOf = (tools: Trajectory['model']['tools']) =>
  tools.map(({ name, description = '', inputSchema }) => ({
    type: 'function',
    name,
    description,
    parameters: inputSchema,
  }))

/** The calls of verifiers have name and arguments beside their id. */
const nodeMessage = ({ tool_calls, role, ...message }: ImageMessage) => ({
  role: role === 'developer' ? 'system' : role,
  ...message,
  ...(role === 'tool' && { tool_call_id: message.tool_call_id ?? '' }),
  ...(tool_calls && {
    tool_calls: tool_calls.map(({ id, type, function: called }) => ({ id, type, ...called })),
  }),
})

function finishOf({ finish }: ResponseSegment, messages: readonly ImageMessage[]) {
  if (finish?.kind === 'length') return 'length'
  return messages.some(({ tool_calls }) => tool_calls) ? 'tool_calls' : finish?.kind === 'stop' ? 'stop' : null
}

function rows(record: object): readonly TrainingRow[] {
  const { nodes } = record as { readonly nodes: readonly (typeof NO_TOKENS)[] }
  let start = 0
  const placed = nodes.map(({ token_ids }, index) => {
    const tokens = { start, end: start + token_ids.length }
    start = tokens.end
    return { path: ['nodes', index], tokens }
  })
  const parts = (field: 'token_ids' | 'mask'): FieldPart[] =>
    placed.map(({ path, tokens }) => ({ kind: 'array', path: [...path, field], tokens }))
  return [
    {
      fields: [
        { name: 'nodes[].token_ids', meaning: 'ids', parts: parts('token_ids') },
        { name: 'nodes[].mask', meaning: 'mask', parts: parts('mask') },
      ],
      lengths: [],
    },
  ]
}
