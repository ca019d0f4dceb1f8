/** Templates, parsers and comparisons: what is computed from what is given, and stored nowhere. */
import { templateCheckSchema } from '#lib/api/template-check.ts'
import { compareAnswerSchema, compareRequestSchema } from '../compare/compare.ts'
import { retokenizeAnswerSchema, retokenizeRequestSchema } from '../compare/retokenize.ts'
import { parseAnswerSchema, parseRequestSchema } from '../templates/parse.ts'
import { renderAnswerSchema, renderRequestSchema } from '../templates/render.ts'
import { checkRequestSchema } from '../templates/template-check.ts'
import {
  doctorAnswerSchema,
  doctorRequestSchema,
  fixAnswerSchema,
  fixRequestSchema,
  searchAnswerSchema,
  searchRequestSchema,
} from '../templates/template-doctor.ts'
import type { Operation } from './operation.ts'

export const labOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/api/parse',
    summary: 'Tool calls in a text, as each parser finds them, and what it leaves and drops.',
    body: { type: 'application/json', schema: parseRequestSchema },
    answers: { 200: { description: 'What each parser found.', schema: parseAnswerSchema } },
  },
  {
    method: 'post',
    path: '/api/render',
    summary: 'A conversation through a chat template: text, ids, and the line and message that each token comes from.',
    body: { type: 'application/json', schema: renderRequestSchema },
    answers: { 200: { description: 'The render, token by token.', schema: renderAnswerSchema } },
  },
  {
    method: 'post',
    path: '/api/compare',
    summary: 'Two sides held against each other: every drift with its kind, cause and remedy, and what it costs.',
    body: { type: 'application/json', schema: compareRequestSchema },
    answers: { 200: { description: 'The drift report.', schema: compareAnswerSchema } },
  },
  {
    method: 'post',
    path: '/api/retokenize',
    summary: 'The ids that a pipeline would have which keeps text or messages in place of the ids of a run.',
    body: { type: 'application/json', schema: retokenizeRequestSchema },
    answers: { 200: { description: 'Those ids, and where they first differ.', schema: retokenizeAnswerSchema } },
  },
  {
    method: 'post',
    path: '/api/templates/doctor',
    summary: 'Whether a chat template keeps what the model wrote, turn after turn.',
    body: { type: 'application/json', schema: doctorRequestSchema },
    answers: { 200: { description: 'A verdict for every boundary.', schema: doctorAnswerSchema } },
  },
  {
    method: 'post',
    path: '/api/templates/fix',
    summary: 'Changes to a chat template that cure unstable boundaries, each tried before it is offered.',
    body: { type: 'application/json', schema: fixRequestSchema },
    answers: { 200: { description: 'The template with its fixes, and what they cost.', schema: fixAnswerSchema } },
  },
  {
    method: 'post',
    path: '/api/templates/search',
    summary: 'The smallest generated conversation whose next turn does not begin with what was read and written.',
    body: { type: 'application/json', schema: searchRequestSchema },
    answers: { 200: { description: 'A counterexample, or how many were tried.', schema: searchAnswerSchema } },
  },
  {
    method: 'post',
    path: '/api/templates/check',
    summary: 'Holds a render against another renderer: the server’s own template, or the user’s Python.',
    body: { type: 'application/json', schema: checkRequestSchema },
    answers: { 200: { description: 'What it says, and which one was asked.', schema: templateCheckSchema } },
  },
]
