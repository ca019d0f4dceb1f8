/** Describes a run so that it can be repeated: the request that begins it, the later questions, and the results of its tools. */

import type { RequestedTool, RunRequest } from '#lib/api/run-request.ts'
import { SERVER_TOKENIZER } from '#lib/api/server-tokenizer.ts'
import { toSamplingRequest } from '#lib/sampling/sampling-request.ts'
import type { MockTool } from '#lib/tools/mock-tool.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { messageText } from '#lib/trajectory/messages/conversation.ts'
import type { RewardRule } from '#lib/trajectory/reward/rule.ts'
import { segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** A run that can be repeated as a script or a curl command. */
export interface RepeatableRun {
  readonly request: RunRequest
  /** Number of samples. Several samples, or one with a reward rule, are a group. */
  readonly samples: number
  /** Names of the servers that run side by side. Omitted: the server of the request runs alone. */
  readonly servers?: readonly string[]
  /** Rule that rewards the samples. Omitted: none. */
  readonly reward?: RewardRule
  /** Tools whose schemas are known. */
  readonly specs: readonly ToolSpec[]
  /** Questions after the first one, in order. */
  readonly turns: readonly string[]
  /** Results of each tool by its name, in the order of its calls. */
  readonly results: Readonly<Record<string, readonly ToolAnswer[]>>
}

interface ToolAnswer {
  readonly status: 'success' | 'error'
  readonly text: string
}

/** Returns a run that has not begun yet. `specs` are the known schemas of the application's and of MCP servers' tools. */
export const repeatableRunOfRequest = (
  request: RunRequest,
  { samples = 1, specs = [], ...rest }: Partial<Pick<RepeatableRun, 'samples' | 'servers' | 'reward' | 'specs'>> = {},
): RepeatableRun => ({ request, samples, ...rest, specs, turns: [], results: {} })

/** Returns the recorded run. Returns undefined if the trajectory does not begin with a prompt. */
export function repeatableRunOfTrajectory(trajectory: TrajectoryView): RepeatableRun | undefined {
  const segments = segmentsOf(trajectory)
  const [first, ...rest] = segments
  if (first?.kind !== 'prompt') return undefined
  const { model, provenance } = trajectory
  const firstResponse = segments.find((segment) => segment.kind === 'response' && segment.request)
  const sent = firstResponse?.kind === 'response' ? firstResponse.request : undefined
  const isChat = sent?.endpoint === 'chat'
  const { options } = model.template ?? { options: {} }
  const limits = provenance.kind === 'rollout' ? provenance.limits : undefined
  const results: Record<string, ToolAnswer[]> = {}
  for (const segment of segments) {
    if (segment.kind !== 'response') continue
    // The script's own limiter refuses calls beyond the limit, so they never reach its tools.
    for (const { name, result } of segment.toolCalls.slice(0, limits?.maxParallelToolCalls)) {
      if (name === undefined || !result) continue
      results[name] = [
        ...(results[name] ?? []),
        { status: result.status === 'success' ? 'success' : 'error', text: result.text },
      ]
    }
  }
  return {
    request: {
      ...(first.messages.length > 0 ? { messages: first.messages } : { ids: Array.from(first.ids) }),
      tools: model.tools.map(toRequestedTool),
      ...(model.parser !== undefined && { parser: model.parser }),
      ...(Object.keys(options).length > 0 && { templateOptions: options }),
      ...(model.tokenizer && {
        tokenizer: model.tokenizer.source === 'server' ? SERVER_TOKENIZER : model.tokenizer.name,
      }),
      ...(isChat
        ? { endpoint: 'chat' }
        : model.template && model.template.text !== '' && { chatTemplate: model.template.text }),
      // A chat endpoint received the parameters under other names.
      ...(sent && !isChat && { sampling: toSamplingRequest(sent.samplingParams) }),
      ...(limits && Object.keys(limits).length > 0 && { limits }),
      ...(sent?.logprobStartLen !== undefined && { promptLogprobs: true }),
      ...(sent?.routedExpertsStart !== undefined && { routedExperts: true }),
      ...(sent?.adapter !== undefined && { adapter: sent.adapter }),
      ...(sent?.server !== undefined && { server: sent.server }),
    },
    samples: 1,
    specs: model.tools,
    turns: rest.flatMap((segment) =>
      segment.kind === 'prompt' ? segment.messages.filter(({ role }) => role === 'user').map(messageText) : [],
    ),
    results,
  }
}

/** Returns a tool as a request names it, without fields that a request does not allow. */
function toRequestedTool({ name, description, inputSchema, mock, mcp }: ToolSpec): RequestedTool {
  if (mock) return { name, ...(description !== undefined && { description }), inputSchema, mock } as MockTool
  return mcp ? { mcp: mcp.server, name } : name
}
