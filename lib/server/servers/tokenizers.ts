/** Tokenizers over HTTP: loads one before a run and reports its progress line by line, and sends its files to the browser. */
import { createHash } from 'node:crypto'
import * as z from 'zod/mini'
import { downloadSchema } from '#lib/api/tokenizer-download.ts'
import type { TokenizerFiles } from '#lib/api/tokenizer-files.ts'
import { TemplateError } from '#lib/templates/chat-template.ts'
import { type LoadedTokenizer, TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'

/** Schema of a request to load a tokenizer. */
export const tokenizerRequestSchema = z.strictObject({
  name: withDescription(
    z.string().check(z.minLength(1), z.maxLength(4096)),
    'A name or folder under ROLLSCOPE_TOKENIZERS, or a Hub name.',
  ),
})

/** Schema of a line of progress. */
export const loadingSchema = z.discriminatedUnion('state', [
  z.extend(downloadSchema, { state: z.literal('downloading') }),
  z.object({
    state: z.literal('ready'),
    name: z.string(),
    fingerprint: withDescription(z.string(), 'SHA-256 of tokenizer.json.'),
    vocabularySize: z.int(),
    hasTemplate: withDescription(z.boolean(), 'Whether the tokenizer has a chat template.'),
  }),
  z.object({ state: z.literal('failed'), code: z.string(), detail: z.string(), hint: z.optional(z.string()) }),
])
/** One line of progress; `ready` and `failed` are last. */
export type Loading = Readonly<z.infer<typeof loadingSchema>>

const LOOK_MS = 200

/** Yields the progress of a download whenever it changes, then its result. A reader that leaves ends the download. */
export async function* downloadTokenizer(
  name: string,
  loader: Pick<Services['tokenizers'], 'load' | 'downloads'>,
): AsyncGenerator<Loading> {
  const left = new AbortController()
  const ending = loader
    .load(name, left.signal)
    .then((loaded) => ready(name, loaded))
    .catch(loadingFailure)
  // A failure after the reader has left is ignored.
  ending.catch(() => {})
  try {
    for (let lastReported = ''; ; ) {
      const end = await Promise.race([ending, later(LOOK_MS)])
      if (end) {
        yield end
        return
      }
      const download = loader.downloads().find((one) => one.name === name)
      const seen = JSON.stringify(download)
      if (download && seen !== lastReported) yield { state: 'downloading', ...download }
      lastReported = seen
    }
  } finally {
    left.abort()
  }
}

const later = (ms: number): Promise<undefined> => new Promise((resolve) => setTimeout(() => resolve(undefined), ms))

const ready = (name: string, { tokenizer, template }: LoadedTokenizer): Loading => ({
  state: 'ready',
  name,
  fingerprint: tokenizer.fingerprint,
  vocabularySize: tokenizer.vocabularySize,
  hasTemplate: template(false) !== undefined,
})

function loadingFailure(error: unknown): Loading {
  if (error instanceof TemplateError)
    return { state: 'failed', code: 'TEMPLATE_ERROR', detail: `its chat template is broken: ${error.message}` }
  if (!(error instanceof TokenizerError)) throw error
  const { code, message, hint } = error
  return { state: 'failed', code, detail: message, ...(hint !== undefined && { hint }) }
}

/**
 * Answers with the tokenizer files that `name` in the query selects, as JSON. They have several megabytes, so a browser that has them sends
 * their tag. Throws HttpProblem or TokenizerError.
 */
export async function tokenizerFilesResponse(
  request: Request,
  loader: Pick<Services['tokenizers'], 'files'>,
): Promise<Response> {
  const { name } = nameIn(request)
  const body = JSON.stringify(await loader.files(name, request.signal))
  const headers = {
    etag: `W/"${createHash('sha256').update(body).digest('hex')}"`,
    'cache-control': 'private, no-cache',
    vary: 'authorization',
  }
  if (request.headers.get('if-none-match') === headers.etag) return new Response(null, { status: 304, headers })
  return new Response(body, { headers: { ...headers, 'content-type': 'application/json' } })
}

/**
 * Returns the sampling advice of the model's publishers for the tokenizer that `name` in the query selects. Throws HttpProblem or
 * TokenizerError.
 */
export async function generationConfig(
  request: Request,
  loader: Pick<Services['tokenizers'], 'files'>,
): Promise<Pick<TokenizerFiles, 'generationConfigJson'>> {
  const { generationConfigJson } = await loader.files(nameIn(request).name, request.signal)
  return { ...(generationConfigJson !== undefined && { generationConfigJson }) }
}

function nameIn(request: Request): z.infer<typeof tokenizerRequestSchema> {
  const parsed = tokenizerRequestSchema.safeParse({ name: new URL(request.url).searchParams.get('name') ?? undefined })
  if (!parsed.success)
    throw new HttpProblem({
      status: 400,
      code: 'BAD_QUERY',
      detail: '"name" must name a tokenizer',
      hint: 'As in /api/tokenizers/files?name=Qwen/Qwen3-0.6B.',
    })
  return parsed.data
}
