/** The routes of tokenizers, and of the preview of a prompt. */
import { promptPreviewSchema } from '#lib/api/prompt-preview.ts'
import { tokenizersSchema } from '#lib/api/tokenizer-download.ts'
import { generationConfigSchema, tokenizerFilesSchema } from '#lib/api/tokenizer-files.ts'
import { endpoint, jsonBody, largeJsonBody } from '../http/endpoint.ts'
import { ndjson } from '../http/ndjson.ts'
import { previewPrompt, previewRequestSchema } from '../runs/prompt-preview.ts'
import {
  downloadTokenizer,
  generationConfig,
  loadingSchema,
  tokenizerFilesResponse,
  tokenizerRequestSchema,
} from '../servers/tokenizers.ts'

/** Rows of tokenizers. */
export const tokenizerRoutes = [
  endpoint({
    method: 'GET',
    path: '/api/tokenizers',
    summary: 'Tokenizers of this machine, and what is being downloaded from the Hub.',
    answers: { 200: { description: 'Names and downloads.', schema: tokenizersSchema } },
    handle: async ({ services }) => ({
      downloads: [...services.tokenizers.downloads(), ...services.localModel.downloads()],
      names: await services.tokenizers.names(),
    }),
  }),
  endpoint({
    method: 'POST',
    path: '/api/tokenizers',
    summary: 'Loads a tokenizer, from the Hub where this machine has it not. Closing the connection gives it up.',
    body: jsonBody(tokenizerRequestSchema),
    answers: {
      200: {
        description: 'One line for each step of a download, and a last one: ready or failed.',
        lines: loadingSchema,
      },
    },
    handle: ({ body, services }) => ndjson(downloadTokenizer(body.name, services.tokenizers)),
  }),
  endpoint({
    method: 'GET',
    path: '/api/tokenizers/files',
    summary: 'The files of a tokenizer that can be loaded, for programs that encode themselves. Has an ETag.',
    query: { name: 'A name or folder under ROLLSCOPE_TOKENIZERS, or a Hub name.' },
    answers: {
      200: { description: 'Their texts.', schema: tokenizerFilesSchema },
      304: { description: 'As they were (If-None-Match).' },
    },
    handle: ({ request, services }) => tokenizerFilesResponse(request, services.tokenizers),
  }),
  endpoint({
    method: 'GET',
    path: '/api/tokenizers/generation-config',
    summary: 'The generation_config.json beside a tokenizer: how its publishers advise to sample.',
    query: { name: 'A name or folder under ROLLSCOPE_TOKENIZERS, or a Hub name.' },
    answers: {
      200: {
        description: 'Its text.',
        schema: generationConfigSchema,
      },
    },
    handle: ({ request, services }) => generationConfig(request, services.tokenizers),
  }),
  endpoint({
    method: 'POST',
    path: '/api/tokenize',
    summary:
      'What a run that begins with this text or these ids would send: its tokens, and what there is to know of them.',
    body: largeJsonBody(previewRequestSchema),
    answers: { 200: { description: 'The tokens.', schema: promptPreviewSchema } },
    handle: ({ body, services, signal }) => previewPrompt(body, services, signal),
  }),
]
