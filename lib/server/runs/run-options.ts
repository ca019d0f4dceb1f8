/** Prepares one rollout: the settings and dependencies of its agent, and how its record is stored. */
import { randomUUID } from 'node:crypto'
import type { ServerDescription } from '#lib/api/server-status.ts'
import type { ToolParser } from '#lib/parsers/parser.ts'
import { type RolloutStart, rollout } from '#lib/rollout/loop/rollout.ts'
import type { PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import type { SamplingRequest } from '#lib/sampling/values.ts'
import { withKnownTokens } from '#lib/sglang/reply/known-tokens.ts'
import { sentSampling } from '#lib/sglang/reply/sampling.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { newRequestId } from '../http/request-id.ts'
import type { Services } from '../services.ts'
import type { GroupScheduler, RunCalls } from './group-scheduler.ts'
import { rewardRun } from './rewards.ts'
import type { ContinueRequest } from './rollouts.ts'
import type { StartOptions } from './runs.ts'
import { runnableTools } from './tools.ts'

/** The settings of one run besides its trajectory. */
export interface RunConfiguration {
  /** The messages, the prompt or the resumption that the user adds. */
  readonly start: Pick<RolloutStart, 'messages' | 'prompt' | 'resumes'>
  readonly request: Omit<ContinueRequest, 'prompt' | 'resume' | 'seenSegments' | 'sampling'> & {
    readonly sampling?: SamplingRequest
  }
  readonly serverName: string
  /** The server's description of itself. */
  readonly serverDescription: ServerDescription
  readonly parser: ToolParser
  readonly promptEncoder: PromptEncoder
  /** Most new tokens of a call that resumes a response. Omitted: max_new_tokens. */
  readonly resumedMaxNewTokens?: number | undefined
  /** The shared state of a group's samples; omitted for a single run. */
  readonly scheduler?: GroupScheduler
}

/**
 * Returns the run's options for the key of the stored trajectory. Throws HttpProblem if its server or a tool no longer exists: before a
 * trajectory is stored as running that no run would end.
 */
export function runOptions(
  trajectory: Trajectory,
  using: RunConfiguration,
  all: Services,
): (key: string) => StartOptions {
  const { request, serverName, serverDescription, parser, promptEncoder, start, scheduler, resumedMaxNewTokens } = using
  const rolloutId = randomUUID()
  const client = all.servers.client(serverName)
  const { generate, chat, firstPrompt }: RunCalls = scheduler?.callsOf(client) ?? client
  const runnable = runnableTools(trajectory.model.tools, all)
  return (key) => ({
    rolloutId,
    key,
    detached: request.detached ?? false,
    save(record, from) {
      all.store.update(key, record, from)
      rewardRun(key, record, all.store)
    },
    events: (signal) =>
      rollout(
        { rolloutId, trajectory, ...start },
        {
          sampling: sentSampling(request.sampling ?? {}),
          limits: request.limits ?? {},
          promptLogprobs: request.promptLogprobs ?? false,
          topLogprobs: request.topLogprobs ?? 5,
          stream: request.stream ?? true,
          ...(request.routedExperts === true && { routedExperts: true }),
          ...(request.adapter !== undefined && { adapter: request.adapter }),
          ...(resumedMaxNewTokens !== undefined && { resumedMaxNewTokens }),
        },
        {
          ...(isChat(trajectory) ? { chat } : { generate: withKnownTokens(generate, promptEncoder) }),
          ...(firstPrompt && { firstPrompt }),
          serverName,
          server: serverDescription,
          promptEncoder,
          parser,
          tools: runnable,
          now: () => new Date(),
          elapsedMs: () => performance.now(),
          newRequestId,
        },
        signal,
      ),
  })
}

/** Returns whether a trajectory was run over a chat endpoint. */
export const isChat = ({ provenance }: Trajectory): boolean =>
  provenance.kind === 'rollout' && provenance.endpoint === 'chat'
