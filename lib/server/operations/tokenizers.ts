/** Tokenizers, and what a prompt becomes with them. */
import { promptPreviewSchema } from '#lib/api/prompt-preview.ts'
import { tokenizerFilesSchema } from '#lib/tokenizer/files/tokenizer-files.ts'
import { previewRequestSchema } from '../runs/prompt-preview.ts'
import { loadingSchema, tokenizerRequestSchema, tokenizersSchema } from '../servers/tokenizers.ts'
import type { Operation } from './operation.ts'

export const tokenizerOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/tokenizers',
    summary: 'Tokenizers of this machine, and what is being downloaded from the Hub.',
    answers: { 200: { description: 'Names and downloads.', schema: tokenizersSchema } },
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
    query: { name: 'A name or folder under ROLLSCOPE_TOKENIZERS, or a Hub name.' },
    answers: {
      200: { description: 'Their texts.', schema: tokenizerFilesSchema },
      304: { description: 'As they were (If-None-Match).' },
    },
  },
  {
    method: 'get',
    path: '/api/tokenizers/generation-config',
    summary: 'The generation_config.json beside a tokenizer: how its publishers advise to sample.',
    query: { name: 'A name or folder under ROLLSCOPE_TOKENIZERS, or a Hub name.' },
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
