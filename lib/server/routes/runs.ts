/** The routes of rollouts, groups of them, and further turns. */
import * as z from 'zod'
import { serverComparisonSchema } from '#lib/api/engine/server-comparison.ts'
import { branchesStartedSchema } from '#lib/api/forest/branch.ts'
import { groupForestSchema } from '#lib/api/forest/group-forest.ts'
import { treeSchema } from '#lib/api/forest/tree.ts'
import { valueDryRunSchema, valueEstimateSchema, valueEstimatesSchema } from '#lib/api/forest/value.ts'
import { groupSchema, groupStartedSchema } from '#lib/api/group.ts'
import { groupLineSchema } from '#lib/api/group-line.ts'
import { runStartedSchema } from '#lib/api/run-request.ts'
import { streamClosedSchema } from '#lib/api/stream-closed.ts'
import { structuredAnswerSchema } from '#lib/api/structured.ts'
import { rolloutEventSchema } from '#lib/trajectory/events/event-schema.ts'
import { branchRequestSchema, startBranches } from '../branches/branches.ts'
import { treeOf } from '../branches/tree.ts'
import { FOREST_QUERY, forestOfGroup, forestOfSelection, forestRequestSchema } from '../forest/forests.ts'
import { endpoint, jsonBody, NO_BODY, runJsonBody } from '../http/endpoint.ts'
import { json } from '../http/json-response.ts'
import { eventStream } from '../http/ndjson.ts'
import { queryWord, wholeNumber } from '../http/query.ts'
import { runResponse } from '../http/run-response.ts'
import { UNTIL } from '../runs/event-log.ts'
import { compareServers } from '../runs/group-servers.ts'
import { changeReward, groupNamed, groupRequestSchema, rewardChangeSchema, startGroup } from '../runs/groups.ts'
import { continueRequestSchema, continueRollout, rolloutRequestSchema, startRollout } from '../runs/rollouts.ts'
import { structuredOutput, structuredRequestSchema } from '../runs/structured.ts'
import {
  cancelEstimate,
  cancelSamples,
  estimateNamed,
  estimatesOf,
  resumeEstimate,
  startValue,
  valueRequestSchema,
} from '../values/values.ts'

const EMPTY = z.object({})
const UNTIL_TEXT =
  '`end` (default): all events until the run has ended. `now`: only the events so far; a run that is polled like this at least every three minutes is not stopped.'
const CLOSED =
  'A client that reads nothing for 30 s gets one last line, `stream-closed`, and must request the events again. While there are no events, the next line grows by a space every 15 s, so that proxies keep the connection.'
const events = {
  description: `One RolloutEvent per line, until the rollout has ended. ${CLOSED}`,
  lines: z.union([rolloutEventSchema, streamClosedSchema]),
}

const FOREST_ANSWERS = {
  200: { description: 'The trees.', schema: groupForestSchema },
  204: { description: 'Nothing has changed since the revision `known`.' },
}

/** Rows of rollouts and groups. */
export const runRoutes = [
  endpoint({
    method: 'POST',
    path: '/api/rollouts',
    summary: 'Runs an agent. Without `detached`, the run stops when the connection closes.',
    body: runJsonBody(rolloutRequestSchema),
    answers: {
      200: events,
      201: { description: 'Detached: the run has started. Follow its events.', schema: runStartedSchema },
    },
    handle: async ({ body, services, signal }) =>
      runResponse(await startRollout(body, services, signal), body.detached === true, services, signal),
  }),
  endpoint({
    method: 'GET',
    path: '/api/rollouts/{id}/events',
    summary: 'Streams the events of a rollout.',
    query: { from: 'Number of the first event. Default 0.', until: UNTIL_TEXT },
    answers: { 200: events },
    handle: ({ request, params, services, signal }) => {
      const { from, until } = eventsAsked(request)
      return eventStream(services.runs.follow(params.id, from, signal, until), { from })
    },
  }),
  endpoint({
    method: 'POST',
    path: '/api/rollouts/{id}/cancel',
    summary: 'Stops a rollout. The tokens generated so far are kept. Needs no body.',
    body: NO_BODY,
    answers: { 200: { description: 'The rollout has ended.', schema: EMPTY } },
    handle: async ({ params, services }) => {
      await services.runs.cancel(params.id)
      return {}
    },
  }),
  endpoint({
    method: 'POST',
    path: '/api/groups',
    summary:
      'Runs several samples of one prompt at once, on a shared prefix, on one server or on several ones side by side. They are stopped when no client has requested them for 60 s.',
    body: runJsonBody(groupRequestSchema),
    answers: { 201: { description: 'The samples have started. Follow their events.', schema: groupStartedSchema } },
    handle: ({ body, services, signal }) => startGroup(body, services, signal),
  }),
  endpoint({
    method: 'GET',
    path: '/api/groups/{id}',
    summary:
      'Returns the samples of a group and its reward rule. Each request keeps running samples alive for 60 s more.',
    answers: { 200: { description: 'The group.', schema: groupSchema } },
    handle: ({ params, services }) => groupNamed(params.id, services),
  }),
  endpoint({
    method: 'GET',
    path: '/api/groups/{id}/events',
    summary: 'Streams the events of all samples of a group.',
    query: { from: 'Number of the first line. Default 0.', until: UNTIL_TEXT },
    answers: {
      200: {
        description: `One event of one sample per line, until all samples have ended. ${CLOSED}`,
        lines: z.union([groupLineSchema, streamClosedSchema]),
      },
    },
    handle: ({ request, params, services, signal }) => {
      const { from, until } = eventsAsked(request)
      return eventStream(services.groups.follow(params.id, from, signal, until), { from })
    },
  }),
  endpoint({
    method: 'GET',
    path: '/api/groups/{id}/servers',
    summary: 'Compares the samples of a group that ran on several servers: ids and logprobs.',
    query: { reference: 'Name of the server with which the others are compared. Default: the first one of the group.' },
    answers: { 200: { description: 'The comparison of the samples that have ended.', schema: serverComparisonSchema } },
    handle: ({ request, params, services }) => {
      const reference = new URL(request.url).searchParams.get('reference') ?? undefined
      return compareServers(params.id, reference, services)
    },
  }),
  endpoint({
    method: 'GET',
    path: '/api/groups/{id}/forest',
    summary:
      'Returns a group as trees: shared tokens are one node, with the samples, the mean reward and the advantage of each branch, and the decisive token.',
    query: FOREST_QUERY,
    answers: FOREST_ANSWERS,
    handle: ({ request, params, services }) => forestOfGroup(params.id, request, services),
  }),
  endpoint({
    method: 'POST',
    path: '/api/forest',
    summary: 'Returns any stored trajectories as trees, as GET /api/groups/{id}/forest does for a group.',
    body: jsonBody(forestRequestSchema),
    answers: FOREST_ANSWERS,
    handle: ({ body, services }) => forestOfSelection(body, services),
  }),
  endpoint({
    method: 'POST',
    path: '/api/groups/{id}/cancel',
    summary:
      'Stops all samples of a group, and the whole value estimate if they belong to one. The tokens generated so far are kept. To stop a single sample, cancel its rollout. Needs no body.',
    body: NO_BODY,
    answers: { 200: { description: 'The samples have ended.', schema: EMPTY } },
    handle: async ({ params, services }) => {
      await cancelSamples(params.id, services)
      return {}
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/api/groups/{id}/reward',
    summary: 'Rewards the samples of a group by a different rule.',
    body: jsonBody(rewardChangeSchema),
    answers: { 200: { description: 'The group with its new rewards.', schema: groupSchema } },
    handle: ({ params, body, services }) => changeReward(params.id, body.reward, services),
  }),
  endpoint({
    method: 'POST',
    path: '/api/trajectories/{key}/continue',
    summary: 'Runs a further turn on the same tokens.',
    body: runJsonBody(continueRequestSchema),
    answers: {
      200: events,
      201: { description: 'Detached: the run has started. Follow its events.', schema: runStartedSchema },
    },
    handle: async ({ params, body, services, signal }) =>
      runResponse(await continueRollout(params.key, body, services, signal), body.detached === true, services, signal),
  }),
  endpoint({
    method: 'POST',
    path: '/api/trajectories/{key}/branch',
    summary:
      'Branches from a trajectory: keeps the tokens before a position, inserts tokens or edits a message, and continues the agent once or several times. The trajectory does not change.',
    body: runJsonBody(branchRequestSchema),
    answers: { 201: { description: 'The branches have started. They are stored.', schema: branchesStartedSchema } },
    handle: ({ params, body, services, signal }) => startBranches(params.key, body, services, signal),
  }),
  endpoint({
    method: 'GET',
    path: '/api/trajectories/{key}/tree',
    summary: 'Returns a trajectory with all that was forked from it, as a tree in which shared tokens are one node.',
    answers: { 200: { description: 'The tree.', schema: treeSchema } },
    handle: ({ params, services }) => treeOf(params.key, services),
  }),
  endpoint({
    method: 'POST',
    path: '/api/trajectories/{key}/value',
    summary:
      'Estimates the value of tokens: samples a trajectory again from each position several times, and compares the mean rewards. Without `reward`, the rule of the group or of the latest estimate scores the samples. The trajectory does not change.',
    body: runJsonBody(valueRequestSchema),
    answers: {
      201: {
        description:
          'The estimate has started. It runs until it is done or cancelled, also without a client and after a restart.',
        schema: valueEstimateSchema,
      },
      200: { description: 'With `dryRun`: what it would cost. Nothing was started.', schema: valueDryRunSchema },
    },
    handle: async ({ params, body, services, signal }) => {
      const answer = await startValue(params.key, body, services, signal)
      return 'id' in answer ? json(answer, 201) : answer
    },
  }),
  endpoint({
    method: 'GET',
    path: '/api/trajectories/{key}/value',
    summary: 'Lists the value estimates of a trajectory.',
    answers: { 200: { description: 'The estimates, without their samples.', schema: valueEstimatesSchema } },
    handle: ({ params, services }) => estimatesOf(params.key, services),
  }),
  endpoint({
    method: 'GET',
    path: '/api/values/{id}',
    summary: 'Returns a value estimate: the mean reward at each position so far, with intervals.',
    answers: { 200: { description: 'The estimate.', schema: valueEstimateSchema } },
    handle: ({ params, services }) => estimateNamed(params.id, services),
  }),
  endpoint({
    method: 'POST',
    path: '/api/values/{id}/cancel',
    summary: 'Stops a value estimate. Samples that have ended are kept. Needs no body.',
    writes: true,
    body: NO_BODY,
    answers: { 200: { description: 'The estimate has stopped.', schema: valueEstimateSchema } },
    handle: ({ params, services }) => cancelEstimate(params.id, services),
  }),
  endpoint({
    method: 'POST',
    path: '/api/values/{id}/resume',
    summary:
      'Samples what is missing of a value estimate: samples that were stopped or that failed are drawn again. Needs no body.',
    writes: true,
    body: NO_BODY,
    answers: { 200: { description: 'The estimate runs.', schema: valueEstimateSchema } },
    handle: ({ params, services }) => resumeEstimate(params.id, services),
  }),
  endpoint({
    method: 'POST',
    path: '/api/trajectories/{key}/structured',
    summary: 'Requests JSON that matches a schema, after the tokens of a trajectory. The trajectory does not change.',
    body: jsonBody(structuredRequestSchema),
    answers: { 200: { description: 'The answer, checked against the schema.', schema: structuredAnswerSchema } },
    handle: ({ params, body, services, signal }) => structuredOutput(params.key, body, services, signal),
  }),
]

/** Returns which events the query requests. Throws HttpProblem. */
const eventsAsked = (request: Request) => ({
  from: wholeNumber(request, 'from', 0),
  until: queryWord(request, 'until', UNTIL, 'end'),
})
