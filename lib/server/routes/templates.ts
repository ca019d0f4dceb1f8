/** The routes of templates, parsers and comparisons, which compute on their input and store nothing. */
import { templateCheckSchema } from '#lib/api/template-check.ts'
import { answerCompare, compareAnswerSchema, compareRequestSchema } from '../compare/compare.ts'
import { retokenize, retokenizeAnswerSchema, retokenizeRequestSchema } from '../compare/retokenize.ts'
import { endpoint, jsonBody, largeJsonBody } from '../http/endpoint.ts'
import { jsonTextResponse } from '../http/json-response.ts'
import { answerDoctor, labBody } from '../templates/lab-routes.ts'
import { labAnswer } from '../templates/lab-thread.ts'
import { parseAnswerSchema, parseRequestSchema, parseRequestText } from '../templates/parse.ts'
import { renderAnswerSchema, renderRequestSchema } from '../templates/render.ts'
import { checkRequestSchema, checkTemplate } from '../templates/template-check.ts'
import {
  doctorAnswerSchema,
  doctorRequestSchema,
  fixAnswerSchema,
  fixRequestSchema,
  searchAnswerSchema,
  searchRequestSchema,
} from '../templates/template-doctor.ts'

/** Rows of the template lab, the parsers and the comparisons. */
export const templateRoutes = [
  endpoint({
    method: 'POST',
    path: '/api/parse',
    summary: 'Tool calls in a text, as each parser finds them, and what it leaves and drops.',
    body: jsonBody(parseRequestSchema),
    answers: { 200: { description: 'What each parser found.', schema: parseAnswerSchema } },
    handle: ({ body }) => parseRequestText(body),
  }),
  endpoint({
    method: 'POST',
    path: '/api/render',
    summary: 'A conversation through a chat template: text, ids, and the line and message that each token comes from.',
    body: labBody(renderRequestSchema),
    answers: { 200: { description: 'The render, token by token.', schema: renderAnswerSchema } },
    handle: async ({ body, services, signal }) =>
      jsonTextResponse(await labAnswer(services.rendering, { kind: 'preview', ...body }, signal)),
  }),
  endpoint({
    method: 'POST',
    path: '/api/compare',
    summary: 'Two sides held against each other: every drift with its kind, cause and remedy, and what it costs.',
    body: largeJsonBody(compareRequestSchema),
    answers: { 200: { description: 'The drift report.', schema: compareAnswerSchema } },
    handle: ({ body, services, signal }) => answerCompare(body, services, signal),
  }),
  endpoint({
    method: 'POST',
    path: '/api/retokenize',
    summary: 'The ids that a pipeline would have which keeps text or messages in place of the ids of a run.',
    body: largeJsonBody(retokenizeRequestSchema),
    answers: { 200: { description: 'Those ids, and where they first differ.', schema: retokenizeAnswerSchema } },
    handle: ({ body, services, signal }) => retokenize(body, services, signal),
  }),
  endpoint({
    method: 'POST',
    path: '/api/templates/doctor',
    summary: 'Whether a chat template keeps what the model wrote, turn after turn.',
    body: labBody(doctorRequestSchema),
    answers: { 200: { description: 'A verdict for every boundary.', schema: doctorAnswerSchema } },
    handle: async ({ body, services, signal }) => jsonTextResponse(await answerDoctor(body, services, signal)),
  }),
  endpoint({
    method: 'POST',
    path: '/api/templates/fix',
    summary: 'Changes to a chat template that cure unstable boundaries, each tried before it is offered.',
    body: labBody(fixRequestSchema),
    answers: { 200: { description: 'The template with its fixes, and what they cost.', schema: fixAnswerSchema } },
    handle: async ({ body, services, signal }) =>
      jsonTextResponse(await labAnswer(services.diagnosing, { kind: 'fix', ...body }, signal)),
  }),
  endpoint({
    method: 'POST',
    path: '/api/templates/search',
    summary: 'The smallest generated conversation whose next turn does not begin with what was read and written.',
    body: labBody(searchRequestSchema),
    answers: { 200: { description: 'A counterexample, or how many were tried.', schema: searchAnswerSchema } },
    handle: async ({ body, services, signal }) =>
      jsonTextResponse(await labAnswer(services.diagnosing, { kind: 'search', ...body }, signal)),
  }),
  endpoint({
    method: 'POST',
    path: '/api/templates/check',
    summary: 'Holds a render against another renderer: the server’s own template, or the user’s Python.',
    body: labBody(checkRequestSchema),
    answers: { 200: { description: 'What it says, and which one was asked.', schema: templateCheckSchema } },
    handle: ({ body, services, signal }) => checkTemplate(body, services, signal),
  }),
]
