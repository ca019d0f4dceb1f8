/** The routes of rollouts, groups of them, and further turns. */
import * as z from 'zod'
import { groupSchema, groupStartedSchema } from '#lib/api/group.ts'
import { groupLineSchema } from '#lib/api/group-line.ts'
import { runStartedSchema } from '#lib/api/run-request.ts'
import { streamClosedSchema } from '#lib/api/stream-closed.ts'
import { structuredAnswerSchema } from '#lib/api/structured.ts'
import { rolloutEventSchema } from '#lib/trajectory/events/event-schema.ts'
import { endpoint, jsonBody, largeJsonBody, NO_BODY } from '../http/endpoint.ts'
import { eventStream } from '../http/ndjson.ts'
import { oneOf, wholeNumber } from '../http/query.ts'
import { runResponse } from '../http/run-response.ts'
import { UNTIL } from '../runs/event-log.ts'
import { changeReward, groupNamed, groupRequestSchema, rewardChangeSchema, startGroup } from '../runs/groups.ts'
import { continueRequestSchema, continueRollout, rolloutRequestSchema, startRollout } from '../runs/rollouts.ts'
import { structuredOutput, structuredRequestSchema } from '../runs/structured.ts'

const EMPTY = z.object({})
const UNTIL_TEXT =
  '`end`, unless given; `now`: only those so far. A run that is looked at so every three minutes is not stopped.'
const CLOSED = 'A reader that takes nothing for 30 s gets one last line, `stream-closed`, and follows the events again.'
const events = {
  description: `One RolloutEvent a line, until the rollout has ended. ${CLOSED}`,
  lines: z.union([rolloutEventSchema, streamClosedSchema]),
}

/** Rows of rollouts and groups. */
export const runRoutes = [
  endpoint({
    method: 'POST',
    path: '/api/rollouts',
    summary: 'Runs an agent. Without "detached" it stops when the connection closes.',
    body: largeJsonBody(rolloutRequestSchema),
    answers: { 200: events, 201: { description: 'Detached: it runs; follow its events.', schema: runStartedSchema } },
    handle: async ({ body, services, signal }) =>
      runResponse(await startRollout(body, services, signal), body.detached === true, services, signal),
  }),
  endpoint({
    method: 'GET',
    path: '/api/rollouts/{id}/events',
    summary: 'The events of a rollout.',
    query: { from: 'Number of the first event; 0 unless given.', until: UNTIL_TEXT },
    answers: { 200: events },
    handle: ({ request, params, services, signal }) => {
      const { from, until } = eventsAsked(request)
      return eventStream(services.runs.follow(params.id, from, signal, until), { from })
    },
  }),
  endpoint({
    method: 'POST',
    path: '/api/rollouts/{id}/cancel',
    summary: 'Stops a rollout; what was generated stays. Needs no body.',
    body: NO_BODY,
    answers: { 200: { description: 'It has ended.', schema: EMPTY } },
    handle: async ({ params, services }) => {
      await services.runs.cancel(params.id)
      return {}
    },
  }),
  endpoint({
    method: 'POST',
    path: '/api/groups',
    summary:
      'Runs samples of one prompt at once, on a shared prefix. They are stopped when nobody has looked at them for 60 s.',
    body: largeJsonBody(groupRequestSchema),
    answers: { 201: { description: 'They run; follow their events.', schema: groupStartedSchema } },
    handle: ({ body, services, signal }) => startGroup(body, services, signal),
  }),
  endpoint({
    method: 'GET',
    path: '/api/groups/{id}',
    summary: 'The samples of a group, and how they are rewarded. A look keeps those that run running for 60 s more.',
    answers: { 200: { description: 'The group.', schema: groupSchema } },
    handle: ({ params, services }) => groupNamed(params.id, services),
  }),
  endpoint({
    method: 'GET',
    path: '/api/groups/{id}/events',
    summary: 'The events of all samples of a group in one stream.',
    query: { from: 'Number of the first line; 0 unless given.', until: UNTIL_TEXT },
    answers: {
      200: {
        description: `One event of one sample a line, until all have ended. ${CLOSED}`,
        lines: z.union([groupLineSchema, streamClosedSchema]),
      },
    },
    handle: ({ request, params, services, signal }) => {
      const { from, until } = eventsAsked(request)
      return eventStream(services.groups.follow(params.id, from, signal, until), { from })
    },
  }),
  endpoint({
    method: 'POST',
    path: '/api/groups/{id}/cancel',
    summary: 'Stops all samples of a group; what was generated stays. One is stopped as a rollout. Needs no body.',
    body: NO_BODY,
    answers: { 200: { description: 'They have ended.', schema: EMPTY } },
    handle: async ({ params, services }) => {
      await services.groups.cancel(params.id)
      return {}
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/api/groups/{id}/reward',
    summary: 'Rewards the samples of a group by another rule.',
    body: jsonBody(rewardChangeSchema),
    answers: { 200: { description: 'The group with its new rewards.', schema: groupSchema } },
    handle: ({ params, body, services }) => changeReward(params.id, body.reward, services),
  }),
  endpoint({
    method: 'POST',
    path: '/api/trajectories/{key}/continue',
    summary: 'A further turn on the same tokens.',
    body: jsonBody(continueRequestSchema),
    answers: { 200: events, 201: { description: 'Detached: it runs; follow its events.', schema: runStartedSchema } },
    handle: async ({ params, body, services, signal }) =>
      runResponse(await continueRollout(params.key, body, services, signal), body.detached === true, services, signal),
  }),
  endpoint({
    method: 'POST',
    path: '/api/trajectories/{key}/structured',
    summary: 'JSON that fits a schema, asked for behind the tokens of a trajectory, which stays as it is.',
    body: jsonBody(structuredRequestSchema),
    answers: { 200: { description: 'The answer, held against the schema.', schema: structuredAnswerSchema } },
    handle: ({ params, body, services, signal }) => structuredOutput(params.key, body, services, signal),
  }),
]

/** Returns which events the query requests. Throws HttpProblem. */
const eventsAsked = (request: Request) => ({
  from: wholeNumber(request, 'from', 0),
  until: oneOf(request, 'until', UNTIL, 'end'),
})
