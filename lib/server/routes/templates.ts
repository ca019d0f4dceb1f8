/** The routes of templates, parsers and comparisons, which compute on their input and store nothing. */
import { templateCheckSchema } from '#lib/api/template-check.ts'
import { answerCompare, compareAnswerSchema, compareRequestSchema } from '../compare/compare.ts'
import { answerRetokenize, retokenizeAnswerSchema, retokenizeRequestSchema } from '../compare/retokenize.ts'
import { endpoint, jsonBody, largeJsonBody } from '../http/endpoint.ts'
import { jsonTextResponse } from '../http/json-response.ts'
import { answerDoctor, labBody } from '../templates/lab-routes.ts'
import { labAnswer } from '../templates/lab-thread.ts'
import { parseAnswerSchema, parseRequestSchema } from '../templates/parse.ts'
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
    summary: 'Finds the tool calls in a text with each parser, with the text that the parser leaves and drops.',
    body: jsonBody(parseRequestSchema),
    answers: { 200: { description: 'The result of each parser.', schema: parseAnswerSchema } },
    handle: async ({ body, services, signal }) =>
      jsonTextResponse(
        await labAnswer(services.diagnosing, { kind: 'parse', tokenizer: undefined, request: body }, signal),
      ),
  }),
  endpoint({
    method: 'POST',
    path: '/api/render',
    summary: 'Renders a conversation with a chat template: text, ids, and the template line and message of each token.',
    body: labBody(renderRequestSchema),
    answers: { 200: { description: 'The render, token by token.', schema: renderAnswerSchema } },
    handle: async ({ body, services, signal }) =>
      jsonTextResponse(await labAnswer(services.rendering, { kind: 'preview', ...body }, signal)),
  }),
  endpoint({
    method: 'POST',
    path: '/api/compare',
    summary: 'Compares two sides: every drift span with its kind, cause and remedy, and the costs of the drift.',
    body: largeJsonBody(compareRequestSchema),
    answers: { 200: { description: 'The drift report.', schema: compareAnswerSchema } },
    handle: ({ body, services, signal }) => answerCompare(body, services, signal),
  }),
  endpoint({
    method: 'POST',
    path: '/api/retokenize',
    summary: 'Computes the ids of a pipeline that keeps text or messages instead of the ids of a run.',
    body: largeJsonBody(retokenizeRequestSchema),
    answers: { 200: { description: 'The ids, and where they first differ.', schema: retokenizeAnswerSchema } },
    handle: ({ body, services, signal }) => answerRetokenize(body, services, signal),
  }),
  endpoint({
    method: 'POST',
    path: '/api/templates/doctor',
    summary: 'Checks at every boundary whether a chat template is prefix-preserving.',
    body: labBody(doctorRequestSchema),
    answers: { 200: { description: 'A verdict for every boundary.', schema: doctorAnswerSchema } },
    handle: async ({ body, services, signal }) => jsonTextResponse(await answerDoctor(body, services, signal)),
  }),
  endpoint({
    method: 'POST',
    path: '/api/templates/fix',
    summary:
      'Finds changes of a chat template that fix unstable boundaries. Each change is tested before it is returned.',
    body: labBody(fixRequestSchema),
    answers: {
      200: { description: 'The template with its fixes, and what else they change.', schema: fixAnswerSchema },
    },
    handle: async ({ body, services, signal }) =>
      jsonTextResponse(await labAnswer(services.diagnosing, { kind: 'fix', ...body }, signal)),
  }),
  endpoint({
    method: 'POST',
    path: '/api/templates/search',
    summary:
      'Searches generated conversations for the smallest one whose next turn does not begin with the tokens read and written before.',
    body: labBody(searchRequestSchema),
    answers: {
      200: {
        description: 'A counterexample, or the number of conversations that were tried.',
        schema: searchAnswerSchema,
      },
    },
    handle: async ({ body, services, signal }) =>
      jsonTextResponse(await labAnswer(services.diagnosing, { kind: 'search', ...body }, signal)),
  }),
  endpoint({
    method: 'POST',
    path: '/api/templates/check',
    summary: 'Compares a render with another renderer: the server’s own template, or Python on this machine.',
    body: labBody(checkRequestSchema),
    answers: { 200: { description: 'The result, and the renderer that was used.', schema: templateCheckSchema } },
    handle: ({ body, services, signal }) => checkTemplate(body, services, signal),
  }),
]
