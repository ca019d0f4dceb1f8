/** Starts branches: new trajectories that begin with the tokens of a stored one. */

import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { type BranchesStarted, editSchema, forceSchema, MOST_BRANCHES } from '#lib/api/forest/branch.ts'
import {
  type Branch,
  type BranchObstacle,
  type BranchResult,
  branchAtMessage,
  branchAtToken,
  type ForcedIds,
} from '#lib/rollout/branch/branch.ts'
import { encodeForcedText } from '#lib/rollout/branch/forced-text.ts'
import { limitsSchema } from '#lib/rollout/loop/limits.ts'
import { unreadResults } from '#lib/rollout/loop/rollout.ts'
import { computeSettled, firstPrompt, nextPrompt, type PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import { toSamplingRequest } from '#lib/sampling/sampling-request.ts'
import { TemplateError } from '#lib/templates/chat-template.ts'
import { inputHash } from '#lib/trajectory/format/input-hash.ts'
import type { Outcome, ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { imagePartsIn } from '#lib/trajectory/images/image-boxes.ts'
import { lastServer, responseCalls } from '#lib/trajectory/messages/response-calls.ts'
import { ids, segmentIndexAt, segmentStarts, tokenAt, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { HttpProblem } from '../http/problem.ts'
import { endedTrajectory, storedRow } from '../library/trajectories.ts'
import { groupScheduler, preparedSample, startPrepared } from '../runs/groups.ts'
import { recordedPromptEncoder } from '../runs/prompt-encoder.ts'
import { rewardRun } from '../runs/rewards.ts'
import { continuingServer, otherModel, parserFor, settingsShape, startNew, UNWATCHED } from '../runs/rollouts.ts'
import { isChat, type RunConfiguration } from '../runs/run-options.ts'
import { checkTools } from '../runs/tools.ts'
import { checkCapabilities, checkLogprobKind } from '../servers/capability-checks.ts'
import type { Services } from '../services.ts'
import { inheritedRule } from './ancestors.ts'

const { detached: _detached, promptLogprobs: _promptLogprobs, stream: _stream, ...runSettings } = settingsShape

/** Settings of the runs of branches in the body of a request. */
export const branchSettings = { ...runSettings, server: continuingServer }

/** Schema of the body of a request for branches. */
export const branchRequestSchema = z
  .strictObject({
    at: z
      .int()
      .min(0)
      .describe(
        'The position: an index from the first token. A sampled token is replaced, and those before it are kept. The number of tokens ' +
          'continues an interrupted trajectory. With `edit`: any token of the prompt with the message.',
      ),
    force: z.exactOptional(forceSchema),
    edit: z.exactOptional(editSchema),
    n: z
      .int()
      .min(0)
      .max(MOST_BRANCHES)
      .exactOptional()
      .describe(
        'Number of branches. With a sampling_seed, branch i gets the seed + i. 0: nothing is sampled, and the branch ends at the position, ' +
          `or after the inserted tokens. ${UNWATCHED} Default 1.`,
      ),
    ...branchSettings,
    sampling: settingsShape.sampling.describe(
      'Sampling parameters. Omitted: those with which the response at the position was sampled; its max_new_tokens then counts the kept ' +
        'and the inserted tokens too.',
    ),
  })
  .refine(({ force, edit }) => force === undefined || edit === undefined, {
    message: 'only one of "force" and "edit"',
  })
  .refine(({ n, edit }) => n !== 0 || edit === undefined, {
    message: 'no "edit" with "n" 0: an edited message becomes tokens when it is sent',
  })
/** The body of a request for branches, after its check. */
export type BranchRequest = z.infer<typeof branchRequestSchema>

/** A branch that is ready to be stored and run. */
export interface PreparedBranch {
  /** The trajectory of the branch, with the id of the other one. */
  readonly trajectory: Trajectory
  readonly using: RunConfiguration
  readonly answer: Pick<BranchesStarted, 'kind' | 'shared'>
  /** The end of a branch that samples nothing; undefined if a run continues it. */
  readonly end: End | undefined
}

/** Stores branches and starts their runs. Throws HttpProblem, EngineError or TemplateError. */
export async function startBranches(
  key: string,
  request: BranchRequest,
  all: Services,
  signal: AbortSignal,
): Promise<BranchesStarted> {
  const { n = 1 } = request
  const { trajectory, using, answer, end } = await prepareBranch(key, request, all, signal)
  if (end) {
    const ended = copies(withEnd(trajectory, end), Math.max(1, n))
    const keys = await all.store.groupCommit(() => {
      const added = all.store.addAll(ended)
      for (const [index, branch] of ended.entries()) rewardRun(elementAt(added, index), branch, all.store)
      return added
    })
    return { keys, rollouts: [], ...answer }
  }
  if (n === 1) {
    const run = await startNew({ ...trajectory, id: randomUUID() }, using, all)
    return { keys: [run.key], rollouts: [run.rolloutId], ...answer }
  }
  const groupId = randomUUID()
  const scheduler = await groupScheduler(using.serverName, all, signal)
  const prepared = Array.from({ length: n }, (_, index) =>
    preparedSample({ ...trajectory, group: { id: groupId, index } }, { ...using, scheduler }, index, all),
  )
  const rule = inheritedRule(storedRow(key, all), all.store)
  const started = await startPrepared(groupId, prepared, { reward: rule }, all)
  return {
    keys: started.map((run) => run.key),
    rollouts: started.map(({ rolloutId }) => rolloutId),
    groupId,
    ...answer,
  }
}

/** Checks a request for branches and derives the branch. Throws HttpProblem, EngineError or TemplateError. */
export async function prepareBranch(
  key: string,
  request: BranchRequest,
  all: Services,
  signal: AbortSignal,
): Promise<PreparedBranch> {
  const parent = endedTrajectory(key, all, 'Wait until it has ended, or stop it. Then branch.')
  if (isChat(parent))
    throw new HttpProblem({
      status: 422,
      code: 'OVER_CHAT',
      detail: 'this trajectory was run over a chat endpoint, which takes messages and cannot continue from ids',
      hint: 'Start a run with the endpoint generate.',
    })
  const { n = 1 } = request
  const recorded = recordedCall(parent, request)
  await checkTools(parent.model.tools, all)
  const known = lastServer(parent)
  const serverName = request.server ?? known ?? all.servers.defaultName
  const server = await all.servers.client(serverName).describe(signal)
  const settings = settingsOf(parent, request, recorded)
  checkCapabilities(server, {
    ...settings,
    images: parent.imageData !== undefined || parent.segments.flatMap(imagePartsIn).length > 0,
  })
  checkLogprobKind(parent, server)
  const promptEncoder = await recordedPromptEncoder(
    parent.model,
    { name: serverName, tokenizerName: server.tokenizerName },
    all,
    signal,
  )
  const parser = parserFor(parent.model.parser, server, promptEncoder)
  const { tokenizer } = promptEncoder
  const derive = (): BranchResult => {
    if (request.edit) return branchAtMessage(parent, request.at, request.edit)
    const forced = forcedIds(parent, request, promptEncoder)
    if (forced && 'why' in forced) return { ok: false, why: forced.why }
    const isChanged =
      request.sampling !== undefined ||
      request.limits !== undefined ||
      request.adapter !== undefined ||
      (known !== undefined && serverName !== known)
    return branchAtToken(
      parent,
      request.at,
      { ...(forced && { forced }), sampling: { ...settings.sampling }, isChanged, isCut: n === 0 },
      { tokenizer, parser },
    )
  }
  const result = await computeSettled(promptEncoder, derive, signal)
  if (!result.ok) throw new HttpProblem({ status: 422, ...result.why })
  const { branch } = result
  const shared = request.edit ? await sharedWithPrompt(parent, branch, promptEncoder, signal) : branch.shared
  const left = request.edit || request.sampling ? undefined : tokensLeft(branch, recorded)
  const trajectory: Trajectory = {
    ...branch.trajectory,
    createdAt: new Date().toISOString(),
    model: {
      ...parent.model,
      ...branch.trajectory.model,
      ...(server.contextLength !== undefined && { contextLength: server.contextLength }),
      parser: parser.name,
    },
    ...(n > 0 && otherModel(branch.trajectory, server)),
    outcome: { kind: 'running' },
    provenance: {
      kind: 'rollout',
      application: `rollscope/${all.version}`,
      ...(settings.limits && { limits: settings.limits as Record<string, number> }),
    },
    forkedFrom: {
      trajectory: parent.id,
      token: shared,
      kind: branch.kind,
      prefixHash: inputHash(ids(parent).slice(0, shared)),
    },
  }
  return {
    trajectory,
    answer: { kind: branch.kind, shared },
    end: endWithoutCall(branch, n, left),
    using: {
      start: request.edit ? { messages: branch.messages } : { messages: [], resumes: true },
      request: { ...settings, detached: true },
      serverName,
      serverDescription: server,
      parser,
      promptEncoder,
      resumedMaxNewTokens: left,
    },
  }
}

const copies = (trajectory: Trajectory, count: number): Trajectory[] =>
  Array.from({ length: count }, () => ({ ...trajectory, id: randomUUID() }))

interface RecordedCall {
  /** Sampling parameters as sent. Omitted: unknown. */
  readonly sent?: Readonly<Record<string, unknown>>
  /** The largest max_new_tokens of all calls: a full context lowers that of single ones. */
  readonly maxNewTokens?: number
  /** Index in its response of the first token that the call sampled. */
  readonly start: number
  readonly request?: ResponseSegment['request']
}

/** Returns the call that sampled the token at the position, or the reply to the edited prompt. */
function recordedCall(parent: Trajectory, { at }: BranchRequest): RecordedCall {
  const starts = segmentStarts(parent)
  const last = parent.segments.length - 1
  const found = at < tokenCount(parent) ? segmentIndexAt(starts, at) : last
  const index = parent.segments.findIndex(({ kind }, position) => position >= found && kind === 'response')
  const segment = parent.segments[index] ?? parent.segments.findLast(({ kind }) => kind === 'response')
  if (segment?.kind !== 'response') return { start: 0 }
  const inside = at - (starts[index] ?? 0)
  const calls = responseCalls(segment)
  const call = calls.find(({ end }) => inside < end) ?? elementAt(calls, calls.length - 1)
  const sizes = parent.segments.flatMap((each) =>
    each.kind === 'response'
      ? responseCalls(each).flatMap(({ request }) => maxNewTokensIn(request?.samplingParams) ?? [])
      : [],
  )
  const { request, start } = call
  return {
    start,
    ...(request && { request, sent: request.samplingParams }),
    ...(sizes.length > 0 && { maxNewTokens: Math.max(...sizes) }),
  }
}

/** Returns the max_new_tokens of sampling parameters; undefined if they have none. */
export const maxNewTokensIn = (sent: Readonly<Record<string, unknown>> = {}): number | undefined =>
  typeof sent.max_new_tokens === 'number' ? sent.max_new_tokens : undefined

/** Returns the settings of the run: those of the request, and otherwise those of the trajectory. */
function settingsOf(
  { provenance }: Trajectory,
  request: BranchRequest,
  { sent, maxNewTokens, request: recorded }: RecordedCall,
) {
  const own = provenance.kind === 'rollout' ? limitsSchema.safeParse(provenance.limits).data : undefined
  const { limits = own } = request
  const adapter = request.adapter ?? recorded?.adapter
  return {
    sampling:
      request.sampling ??
      (sent ? toSamplingRequest({ ...sent, ...(maxNewTokens !== undefined && { max_new_tokens: maxNewTokens }) }) : {}),
    ...(limits && { limits }),
    topLogprobs: request.topLogprobs ?? recorded?.topLogprobsNum ?? 5,
    ...((request.routedExperts ?? recorded?.routedExpertsStart !== undefined) && { routedExperts: true }),
    ...(adapter !== undefined && { adapter }),
  }
}

/** Returns the ids to insert, or why there are none; undefined if nothing is inserted. */
function forcedIds(
  parent: Trajectory,
  { at, force }: BranchRequest,
  { tokenizer }: PromptEncoder,
): ForcedIds | { readonly why: BranchObstacle } | undefined {
  if (!force) return undefined
  if ('ids' in force) return { ids: force.ids, as: 'ids' }
  if ('text' in force) {
    const encoded = encodeForcedText(force.text, tokenizer)
    return encoded.ok ? encoded.forced : encoded
  }
  const { alternative } = force
  const known = tokenAt(parent, at)?.alternatives.map(({ id }) => id) ?? []
  if (known.includes(alternative)) return { ids: [alternative], as: 'alternative' }
  return {
    why: {
      code: 'NO_ALTERNATIVE',
      detail: `the id ${alternative} is not among the recorded alternatives of token ${at}: ${known.length > 0 ? known.join(', ') : 'it has none'}`,
      hint: 'Choose one of these, or force ids.',
      field: 'force',
    },
  }
}

/** Returns how many of the parent's tokens the branch keeps when the template has been applied to the edited message. */
async function sharedWithPrompt(
  parent: Trajectory,
  { trajectory, messages }: Branch,
  promptEncoder: PromptEncoder,
  signal: AbortSignal,
): Promise<number> {
  const { segments, model } = trajectory
  const results = segments.length === 0 ? [] : unreadResults(trajectory)
  const derive = () =>
    segments.length === 0
      ? firstPrompt(messages, { tools: model.tools, options: model.template?.options ?? {} }, promptEncoder)
      : nextPrompt(trajectory, [...results, ...messages], promptEncoder)
  try {
    const prompt = await computeSettled(promptEncoder, derive, signal)
    return commonIds([...ids(trajectory), ...prompt.ids], ids(parent))
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    throw new HttpProblem({
      status: 422,
      code: 'TEMPLATE_ERROR',
      detail: `the chat template cannot render the edited message: ${error.message}`,
      hint: 'Change the text of the message.',
      field: 'edit',
    })
  }
}

/** Returns how many tokens the response at the position may still get; undefined if that is not known or not limited by it. */
function tokensLeft({ trajectory, kind }: Branch, { sent, start }: RecordedCall): number | undefined {
  const last = trajectory.segments.at(-1)
  const most = maxNewTokensIn(sent)
  // A response that had reached its limit is continued for the same number of tokens again.
  if (last?.kind !== 'response' || most === undefined || kind === 'continued') return undefined
  return Math.max(0, most - (last.ids.length - start))
}

type End = { readonly finish: ResponseSegment['finish']; readonly outcome: Outcome }

/** Returns the end of a branch that samples nothing; undefined if the model is called, or calls of tools remain. */
function endWithoutCall({ trajectory }: Branch, n: number, left: number | undefined): End | undefined {
  const last = trajectory.segments.at(-1)
  const finish = last?.kind === 'response' ? last.finish : undefined
  if (n === 0) return { finish, outcome: { kind: 'ended', reason: finish?.kind === 'stop' ? 'end_turn' : 'cancelled' } }
  if (left !== 0 || finish?.kind === 'stop') return undefined
  return { finish: { kind: 'length' }, outcome: { kind: 'ended', reason: 'length' } }
}

/** Returns a branch that has ended. */
export function withEnd(trajectory: Trajectory, { finish, outcome }: End): Trajectory {
  const last = trajectory.segments.at(-1)
  if (last?.kind !== 'response' || !finish) return { ...trajectory, outcome }
  return { ...trajectory, segments: [...trajectory.segments.slice(0, -1), { ...last, finish }], outcome }
}
