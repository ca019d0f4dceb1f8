/** Rollouts, groups of them, and further turns. */
import * as z from 'zod'
import { groupSchema, groupStartedSchema } from '#lib/api/group.ts'
import { groupLineSchema } from '#lib/api/group-line.ts'
import { streamClosedSchema } from '#lib/api/stream-closed.ts'
import { rolloutEventSchema } from '#lib/trajectory/events/event-schema.ts'
import { groupRequestSchema, rewardChangeSchema } from '../runs/groups.ts'
import { continueRequestSchema, rolloutRequestSchema } from '../runs/rollouts.ts'
import { structuredAnswerSchema, structuredRequestSchema } from '../runs/structured.ts'
import type { Answer, Operation } from './operation.ts'

const rolloutStarted = z.object({ rolloutId: z.string(), trajectoryId: z.string() })
const UNTIL =
  '`end`, unless given; `now`: only those so far. A run that is looked at so every three minutes is not stopped.'
const CLOSED = 'A reader that takes nothing for 30 s gets one last line, `stream-closed`, and follows the events again.'
const events: Answer = {
  description: `One RolloutEvent a line, until the rollout has ended. ${CLOSED}`,
  type: 'application/x-ndjson',
  schema: z.union([rolloutEventSchema, streamClosedSchema]),
}

export const runOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/api/rollouts',
    summary: 'Runs an agent. Without "detached" it stops when the connection closes.',
    body: { type: 'application/json', schema: rolloutRequestSchema },
    answers: { 200: events, 201: { description: 'Detached: it runs; follow its events.', schema: rolloutStarted } },
  },
  {
    method: 'get',
    path: '/api/rollouts/{id}/events',
    summary: 'The events of a rollout.',
    query: { from: 'Number of the first event; 0 unless given.', until: UNTIL },
    answers: { 200: events },
  },
  {
    method: 'post',
    path: '/api/rollouts/{id}/cancel',
    summary: 'Stops a rollout; what was generated stays. Needs no body.',
    changes: 'without body',
    answers: { 200: { description: 'It has ended.' } },
  },
  {
    method: 'post',
    path: '/api/groups',
    summary:
      'Runs samples of one prompt at once, on a shared prefix. They are stopped when nobody has looked at them for 60 s.',
    body: { type: 'application/json', schema: groupRequestSchema },
    answers: { 201: { description: 'They run; follow their events.', schema: groupStartedSchema } },
  },
  {
    method: 'get',
    path: '/api/groups/{id}',
    summary: 'The samples of a group, and how they are rewarded. A look keeps those that run running for 60 s more.',
    answers: { 200: { description: 'The group.', schema: groupSchema } },
  },
  {
    method: 'get',
    path: '/api/groups/{id}/events',
    summary: 'The events of all samples of a group in one stream.',
    query: { from: 'Number of the first line; 0 unless given.', until: UNTIL },
    answers: {
      200: {
        description: `One event of one sample a line, until all have ended. ${CLOSED}`,
        type: 'application/x-ndjson',
        schema: z.union([groupLineSchema, streamClosedSchema]),
      },
    },
  },
  {
    method: 'post',
    path: '/api/groups/{id}/cancel',
    summary: 'Stops all samples of a group; what was generated stays. One is stopped as a rollout. Needs no body.',
    changes: 'without body',
    answers: { 200: { description: 'They have ended.' } },
  },
  {
    method: 'put',
    path: '/api/groups/{id}/reward',
    summary: 'Rewards the samples of a group by another rule.',
    body: { type: 'application/json', schema: rewardChangeSchema },
    answers: { 200: { description: 'The group with its new rewards.', schema: groupSchema } },
  },
  {
    method: 'post',
    path: '/api/trajectories/{key}/continue',
    summary: 'A further turn on the same tokens.',
    body: { type: 'application/json', schema: continueRequestSchema },
    answers: { 200: events, 201: { description: 'Detached: it runs; follow its events.', schema: rolloutStarted } },
  },
  {
    method: 'post',
    path: '/api/trajectories/{key}/structured',
    summary: 'JSON that fits a schema, asked for behind the tokens of a trajectory, which stays as it is.',
    body: { type: 'application/json', schema: structuredRequestSchema },
    answers: { 200: { description: 'The answer, held against the schema.', schema: structuredAnswerSchema } },
  },
]
