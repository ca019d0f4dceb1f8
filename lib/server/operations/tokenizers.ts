/** Tokenizers, and what a prompt becomes with them. */
import * as z from 'zod'
import { promptPreviewSchema } from '#lib/core/prompt-preview.ts'
import { downloadSchema } from '#lib/core/tokenizer-download.ts'
import { tokenizerFilesSchema } from '#lib/tokenizer-files/tokenizer-files.ts'
import { previewRequestSchema } from '../prompt-preview.ts'
import { loadingSchema, tokenizerRequestSchema } from '../tokenizers.ts'
import type { Operation } from './operation.ts'

export const tokenizerOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/tokenizers',
    summary: 'What is on its way from the Hub: tokenizers, and the built-in server’s model.',
    answers: { 200: { description: 'How far each is.', schema: z.object({ downloads: z.array(downloadSchema) }) } },
  },
  {
    method: 'post',
    path: '/api/tokenizers',
    summary: 'Loads a tokenizer, from the Hub where this machine has it not. Closing the connection gives it up.',
    body: { type: 'application/json', schema: tokenizerRequestSchema },
    answers: {
      200: {
        description: 'One line for each step of a download, and a last one: ready or failed.',
        type: 'application/x-ndjson',
        schema: loadingSchema,
      },
    },
  },
  {
    method: 'get',
    path: '/api/tokenizers/files',
    summary: 'The files of a tokenizer that can be loaded, for programs that encode themselves. Has an ETag.',
    query: { name: 'Hub name, or a folder under ROLLSCOPE_TOKENIZERS.' },
    answers: {
      200: { description: 'Their texts.', schema: tokenizerFilesSchema },
      304: { description: 'As they were (If-None-Match).' },
    },
  },
  {
    method: 'get',
    path: '/api/tokenizers/generation-config',
    summary: 'The generation_config.json beside a tokenizer: how its publishers advise to sample.',
    query: { name: 'Hub name, or a folder under ROLLSCOPE_TOKENIZERS.' },
    answers: {
      200: {
        description: 'Its text.',
        schema: tokenizerFilesSchema.pick({ generationConfigJson: true }),
      },
    },
  },
  {
    method: 'post',
    path: '/api/tokenize',
    summary:
      'What a run that begins with this text or these ids would send: its tokens, and what there is to know of them.',
    body: { type: 'application/json', schema: previewRequestSchema },
    answers: { 200: { description: 'The tokens.', schema: promptPreviewSchema } },
  },
]
