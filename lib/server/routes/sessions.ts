/** The routes of sessions: those of clients, whose only settings are an address and a key, and those of the page. */
import * as z from 'zod'
import { allSavingsSchema, sessionSavingsSchema } from '#lib/api/sessions/savings.ts'
import {
  AUTO_SESSION,
  callRequestSchema,
  createSessionSchema,
  recordingSchema,
  sessionCreatedSchema,
  sessionListSchema,
  sessionRecordsSchema,
  sessionRewardSchema,
  sessionSchema,
} from '#lib/api/sessions/session.ts'
import { streamClosedSchema } from '#lib/api/stream-closed.ts'
import { writableFormats } from '#lib/formats/registry.ts'
import type { ProtocolName } from '#lib/session/call.ts'
import { protocols } from '#lib/session/protocols/protocol.ts'
import { rolloutEventSchema } from '#lib/trajectory/events/event-schema.ts'
import { trajectorySchema } from '#lib/trajectory/format/trajectory.ts'
import { FORCED_TEXT } from '../exports/export-trajectory.ts'
import { type Body, endpoint, jsonBody } from '../http/endpoint.ts'
import { eventStream } from '../http/ndjson.ts'
import { HttpProblem } from '../http/problem.ts'
import { queryWord } from '../http/query.ts'
import { UNTIL } from '../runs/event-log.ts'
import { answerClient } from '../sessions/client-call.ts'
import { recordGenerateCall } from '../sessions/generate-call.ts'
import { passThrough, sessionModels } from '../sessions/pass-through.ts'
import { requestOfCall, sessionRecords } from '../sessions/records.ts'
import { exportSamples, pickersIn, SAMPLES_QUERY } from '../sessions/samples.ts'
import { callsAfter } from '../sessions/session-row.ts'

/** Format of a body that the handler reads itself, in the protocol of the client. */
const protocolBody: Body<undefined> = { type: 'application/json', read: () => undefined }

const protocolRow = (name: ProtocolName, summary: string) =>
  endpoint({
    method: 'POST',
    path: `/sessions/{id}${protocols[name].path}`,
    summary,
    access: 'client',
    body: protocolBody,
    answers: {
      200: { description: 'The answer in the protocol, whole or as server-sent events.', schema: z.looseObject({}) },
    },
    handle: ({ request, params: { id = '' }, services }) =>
      services.sessions.isPaused ? passThrough(id, request, services) : answerClient(name, id, request, services),
  })

const otherRow = (method: 'GET' | 'POST') =>
  endpoint({
    method,
    path: '/sessions/{id}/{path*}',
    summary: 'Sends any other call to the server of the session, unchanged and unrecorded.',
    access: 'client',
    ...(method === 'POST' && { body: protocolBody }),
    answers: { 200: { description: 'The answer of the server, with its status.', schema: z.looseObject({}) } },
    handle: ({ request, params, services }) => passThrough(params.id ?? '', request, services),
  })

/** Rows of sessions. */
export const sessionRoutes = [
  endpoint({
    method: 'GET',
    path: '/api/sessions',
    summary: 'Lists the newest sessions.',
    answers: { 200: { description: 'The sessions, the newest first.', schema: sessionListSchema } },
    handle: ({ services: { sessions } }) => ({ isPaused: sessions.isPaused, sessions: [...sessions.list()] }),
  }),
  endpoint({
    method: 'PUT',
    path: '/api/sessions',
    summary: 'Pauses or resumes the recording. While it is paused, calls go on to the servers unchanged.',
    body: jsonBody(recordingSchema),
    answers: { 204: { description: 'Done.' } },
    handle({ body, services }) {
      services.sessions.isPaused = body.isPaused
      return undefined
    },
  }),
  endpoint({
    method: 'GET',
    path: '/api/sessions/{id}',
    summary: 'Returns a session with its calls: how each attached to the forest, and its nodes.',
    query: { known: 'The revision of an earlier answer: only later calls are returned. Default: all calls.' },
    answers: { 200: { description: 'The session.', schema: sessionSchema } },
    handle({ request, params, services }) {
      const session = services.sessions.find(params.id)
      const known = new URL(request.url).searchParams.get('known')
      const running = session.live.rows({
        last: session.rows.at(-1)?.sequence ?? 0,
        nodes: session.forest.nodes.length,
      })
      return { session: services.sessions.row(session), running: [...running], ...callsAfter(session, known) }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/api/sessions/{id}/calls/{call}',
    summary: 'Returns the request of a call, also of one that was refused.',
    answers: { 200: { description: 'The request.', schema: callRequestSchema } },
    handle: async ({ params, services }) =>
      requestOfCall(await services.sessions.findStored(params.id), params.call, services),
  }),
  endpoint({
    method: 'GET',
    path: '/api/sessions/{id}/replies/{reply}/events',
    summary:
      'Streams the events of a reply while it is generated. Each answer begins with the present state of the reply.',
    query: { until: '`end` (default): until the reply is stored. `now`: only its present state.' },
    answers: {
      200: {
        description:
          'One RolloutEvent per line. A client that reads nothing for 30 s gets one last line, `stream-closed`, and must request the events again.',
        lines: z.union([rolloutEventSchema, streamClosedSchema]),
      },
    },
    handle({ request, params, services, signal }) {
      const { live } = services.sessions.find(params.id)
      return eventStream(live.follow(params.reply, signal, queryWord(request, 'until', UNTIL, 'end')), { from: 0 })
    },
  }),
  endpoint({
    method: 'GET',
    path: '/api/sessions/{id}/savings',
    summary: 'Compares the leaves of a session with a chat pipeline that renders the whole history for every call.',
    query: { leaves: SAMPLES_QUERY.leaves },
    answers: {
      200: { description: 'What the session saved. Nothing in the mode observe.', schema: sessionSavingsSchema },
    },
    handle: ({ request, params, services, signal }) =>
      services.savings.ofSession(services.sessions.find(params.id), pickersIn(request), signal),
  }),
  endpoint({
    method: 'GET',
    path: '/api/savings',
    summary: 'Returns what the newest sessions saved together, compared with a chat pipeline, as far as it is known.',
    answers: { 200: { description: 'The sums. The next answer contains more.', schema: allSavingsSchema } },
    handle: ({ services }) => services.savings.ofAll(),
  }),
  endpoint({
    method: 'POST',
    path: '/sessions',
    summary: 'Creates a session. Its client gets the address /sessions/{id}/v1, and the launch token as its API key.',
    writes: true,
    access: 'client',
    body: jsonBody(createSessionSchema),
    answers: { 200: { description: 'The id of the session.', schema: sessionCreatedSchema } },
    handle({ body: { session_id: id, ...settings }, services }) {
      // A server that does not exist is refused now, not at the first call.
      if (settings.server !== undefined) services.servers.client(settings.server)
      if (settings.adapter !== undefined && settings.mode === 'observe')
        throw new HttpProblem({
          status: 422,
          code: 'NO_ADAPTER',
          detail: 'calls go on unchanged in the mode observe',
          hint: 'Name the adapter as the model of each call, or use the mode tito.',
          field: 'adapter',
        })
      return { session_id: services.sessions.create(settings, id).id }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/sessions/{id}',
    summary: 'Returns the answered calls of a session in the form of miles. Browsers get the page of the session.',
    access: 'client',
    answers: { 200: { description: 'The records.', schema: sessionRecordsSchema } },
    handle: async ({ params, services }) => sessionRecords(await services.sessions.findStored(params.id), services),
  }),
  endpoint({
    method: 'DELETE',
    path: '/sessions/{id}',
    summary: 'Deletes a session when its calls in flight have ended. Its trajectories stay in the library.',
    access: 'client',
    answers: { 204: { description: 'Deleted.' } },
    async handle({ params, services }) {
      await services.sessions.remove(params.id)
      return undefined
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/sessions/{id}/reward',
    summary: 'Sets the reward of a session, or of one of its leaves.',
    access: 'client',
    body: jsonBody(sessionRewardSchema),
    answers: { 204: { description: 'The reward is stored.' } },
    async handle({ params, body, services }) {
      await services.sessions.findStored(params.id)
      services.sessions.reward(params.id, body.reward, body.leaf)
      return undefined
    },
  }),
  endpoint({
    method: 'GET',
    path: '/sessions/{id}/trajectories',
    summary: 'Exports the leaves of a session as training samples, one per line.',
    access: 'client',
    query: {
      ...SAMPLES_QUERY,
      format: `One of ${writableFormats.map(({ name }) => name).join(', ')}. Default rollscope.`,
      forced: FORCED_TEXT,
    },
    answers: { 200: { description: 'The file.', lines: z.union([trajectorySchema, z.looseObject({})]) } },
    handle: ({ request, params, services }) => exportSamples(services.sessions.find(params.id), request),
  }),
  endpoint({
    method: 'GET',
    path: '/sessions/{id}/v1/models',
    summary: 'Lists the model of the session’s server.',
    access: 'client',
    answers: { 200: { description: 'The models, as OpenAI and Anthropic list them.', schema: z.looseObject({}) } },
    handle: ({ params, services, signal }) =>
      sessionModels(
        params.id === AUTO_SESSION ? { settings: {} } : services.sessions.find(params.id),
        services,
        signal,
      ),
  }),
  protocolRow('chat', 'Answers a call of an OpenAI client (chat completions). The id auto chooses the session.'),
  protocolRow('messages', 'Answers a call of an Anthropic client (messages). The id auto chooses the session.'),
  protocolRow('responses', 'Answers a call of an OpenAI client (responses). The id auto chooses the session.'),
  endpoint({
    method: 'POST',
    path: '/sessions/{id}/generate',
    summary:
      'Sends a call to SGLang’s /generate unchanged, and records its ids and logprobs. Streams, batches and texts are not recorded.',
    access: 'client',
    body: protocolBody,
    answers: { 200: { description: 'The answer of the server.', schema: z.looseObject({}) } },
    handle: ({ request, params, services }) =>
      services.sessions.isPaused
        ? passThrough(params.id, request, services)
        : recordGenerateCall(services.sessions.find(params.id), request, services),
  }),
  otherRow('GET'),
  otherRow('POST'),
]
