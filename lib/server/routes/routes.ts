/**
 * The HTTP interface as one table: method, path, body, answers and handler. Its description, the checks of its requests and the tests of
 * its answers derive from these rows; lib/api has the schemas that the page shares.
 */
import * as z from 'zod'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { describeApi } from '../http/openapi.ts'
import { createRouter } from '../http/router.ts'
import { shareRouter } from '../shared.ts'
import { applicationRoutes } from './application.ts'
import { runRoutes } from './runs.ts'
import { serverRoutes } from './servers.ts'
import { sessionRoutes } from './sessions.ts'
import { templateRoutes } from './templates.ts'
import { tokenizerRoutes } from './tokenizers.ts'
import { trajectoryRoutes } from './trajectories.ts'

/** All rows, in the order of the description. */
export const routes: readonly Endpoint[] = [
  ...applicationRoutes,
  endpoint({
    method: 'GET',
    path: '/api/openapi.json',
    summary: 'This description.',
    answers: { 200: { description: 'OpenAPI 3.1.', schema: z.looseObject({ openapi: z.string() }) } },
    handle: ({ services }) => describeApi(routes, services.version),
  }),
  ...serverRoutes,
  ...runRoutes,
  ...trajectoryRoutes,
  ...sessionRoutes,
  ...tokenizerRoutes,
  ...templateRoutes,
]

/** Answers a request for any path under /api, or of a client of a session. */
export const answerRequest = shareRouter(createRouter(routes))
