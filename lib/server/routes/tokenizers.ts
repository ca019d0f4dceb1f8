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
    summary: 'Lists the tokenizers of this machine and the downloads in progress.',
    answers: { 200: { description: 'Names of tokenizers, and downloads.', schema: tokenizersSchema } },
    handle: async ({ services }) => ({
      downloads: [...services.tokenizers.downloads(), ...services.localModel.downloads()],
      names: await services.tokenizers.names(),
    }),
  }),
  endpoint({
    method: 'POST',
    path: '/api/tokenizers',
    summary:
      'Loads a tokenizer, from the Hub if it is not on this machine. Closing the connection cancels the download.',
    body: jsonBody(tokenizerRequestSchema),
    answers: {
      200: {
        description: 'One line for each step of a download, and a last line: ready or failed.',
        lines: loadingSchema,
      },
    },
    handle: ({ body, services }) => ndjson(downloadTokenizer(body.name, services.tokenizers)),
  }),
  endpoint({
    method: 'GET',
    path: '/api/tokenizers/files',
    summary: 'Returns the files of a tokenizer, for programs that encode text themselves. The answer has an ETag.',
    query: { name: 'A name or folder under ROLLSCOPE_TOKENIZERS, or a Hub name.' },
    answers: {
      200: { description: 'The texts of the files.', schema: tokenizerFilesSchema },
      304: { description: 'The files have not changed (If-None-Match).' },
    },
    handle: ({ request, services }) => tokenizerFilesResponse(request, services.tokenizers),
  }),
  endpoint({
    method: 'GET',
    path: '/api/tokenizers/generation-config',
    summary:
      'Returns the generation_config.json of a tokenizer: the sampling parameters that its publisher recommends.',
    query: { name: 'A name or folder under ROLLSCOPE_TOKENIZERS, or a Hub name.' },
    answers: {
      200: {
        description: 'The text of the file.',
        schema: generationConfigSchema,
      },
    },
    handle: ({ request, services }) => generationConfig(request, services.tokenizers),
  }),
  endpoint({
    method: 'POST',
    path: '/api/tokenize',
    summary: 'Returns the tokens that a run with this text or these ids would send, with notes on them.',
    body: largeJsonBody(previewRequestSchema),
    answers: { 200: { description: 'The tokens.', schema: promptPreviewSchema } },
    handle: ({ body, services, signal }) => previewPrompt(body, services, signal),
  }),
]
