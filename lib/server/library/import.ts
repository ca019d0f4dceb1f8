/** Imports files into the library, and assigns a tokenizer to trajectories that came without their texts or without ids. */

import * as z from 'zod'
import type { ImportResult } from '#lib/api/imported.ts'
import { DownloadError, downloadFile } from '#lib/download/download.ts'
import { formats } from '#lib/formats/registry.ts'
import { DEFAULT_PARSER } from '#lib/parsers/registry.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { takesEncoding, takesTokenizer } from '#lib/trajectory/tokens/texts.ts'
import { LIMITS } from '#lib/util/limits.ts'
import { bodyChunks } from '../http/body.ts'
import { HttpProblem } from '../http/problem.ts'
import { receiveFile } from '../http/received-file.ts'
import type { Services } from '../services.ts'
import { parserOrProblem } from '../templates/parse.ts'
import { completionSource, withMessageIds, withTokenizerTexts } from './import-texts.ts'
import { importAnswer } from './importing.ts'
import { formatNamed, storedTrajectory } from './trajectories.ts'

const LONGEST_FILE_NAME = 1000
const SPLIT_HINT = 'Store its records in several files: for JSON lines, `split -l 10000` writes parts of 10,000.'

/** Stores all trajectories of a file, or none. Throws HttpProblem. */
export async function storeFile(request: Request, all: Services): Promise<ImportResult> {
  const query = new URL(request.url).searchParams
  const choice = {
    format: query.get('format') ?? undefined,
    tokenizer: query.get('tokenizer') ?? undefined,
    parser: query.get('parser') ?? undefined,
  }
  // Names are checked before the file arrives; the parser's name also without a tokenizer.
  checkNames(choice)
  const chunks = bodyChunks(request, LIMITS.fileBytes, SPLIT_HINT)
  return storeChunks(chunks, { ...choice, name: query.get('name') ?? undefined }, all, request.signal)
}

/** Schema of the body that names a file of another host. */
export const importUrlSchema = z.strictObject({
  url: z
    .string()
    .min(1)
    .max(4096)
    .describe('http:// or https:// address of the file, on a host that ROLLSCOPE_OPEN_HOSTS lists.'),
  format: z.string().exactOptional().describe('As for POST /api/import.'),
  tokenizer: z.string().min(1).max(4096).exactOptional().describe('As for POST /api/import.'),
  parser: z.string().exactOptional().describe('As for POST /api/import.'),
})

/** Downloads a file from an allowed host, and stores all its trajectories, or none. Throws HttpProblem. */
export async function storeUrl(
  { url, ...choice }: z.infer<typeof importUrlSchema>,
  all: Services,
  signal: AbortSignal,
): Promise<ImportResult> {
  checkNames(choice)
  try {
    const { name, chunks } = await downloadFile(url, all.openHosts, signal)
    return await storeChunks(chunks, { ...choice, name }, all, signal)
  } catch (error) {
    if (!(error instanceof DownloadError)) throw error
    const { reason, message, hint } = error
    throw new HttpProblem({ ...DOWNLOAD_PROBLEMS[reason], detail: message, hint }, { cause: error })
  }
}

const DOWNLOAD_PROBLEMS = {
  refused: { status: 422, code: 'URL_REFUSED' },
  failed: { status: 502, code: 'URL_FAILED' },
  large: { status: 413, code: 'TOO_LARGE' },
} as const

interface ImportChoice {
  readonly format?: string | undefined
  readonly tokenizer?: string | undefined
  readonly parser?: string | undefined
}

function checkNames({ format, parser }: ImportChoice): void {
  if (format !== undefined) formatNamed(format, formats, 'format')
  if (parser !== undefined) parserOrProblem(parser)
}

/** Stores the file whose bytes arrive. */
async function storeChunks(
  chunks: AsyncIterable<Uint8Array>,
  { name, format, tokenizer, parser }: ImportChoice & { readonly name: string | undefined },
  all: Services,
  signal: AbortSignal,
): Promise<ImportResult> {
  const { descriptor, size, close } = await receiveFile(chunks, all.config.dataFolder)
  try {
    const question = { descriptor, size, name: name?.slice(0, LONGEST_FILE_NAME), format, tokenizer, parser }
    return await importAnswer(question, all.importing, signal)
  } finally {
    await close()
  }
}

/** The meaning of a parser that is named with a tokenizer. */
export const PARSER_MEANING = `Parser of the tool calls in the text. Default ${DEFAULT_PARSER}; for files of messages, the one that the chat template suggests.`

/** Schema of the body that assigns a tokenizer to an imported trajectory. */
export const tokenizerChoiceSchema = z.strictObject({
  tokenizer: z.string().min(1).max(4096).describe('Hub name, or a folder under ROLLSCOPE_TOKENIZERS.'),
  parser: z.string().exactOptional().describe(PARSER_MEANING),
})

/**
 * Completes a trajectory that was imported without texts or without ids, or with the wrong tokenizer: ids get their texts, and messages get
 * ids. Throws HttpProblem.
 */
export async function completeWithTokenizer(
  key: string,
  choice: z.infer<typeof tokenizerChoiceSchema>,
  all: Services,
  signal: AbortSignal,
): Promise<Trajectory> {
  const source = await completionSource(choice, all.tokenizers, signal)
  const found = storedTrajectory(key, all)
  if (!takesTokenizer(found))
    throw new HttpProblem({
      status: 409,
      code: 'HAS_TOKENIZER',
      detail:
        'this trajectory already has a tokenizer: another one would give its ids other texts, or other ids than those of its columns',
    })
  const complete = takesEncoding(found) ? withMessageIds(found, source) : withTokenizerTexts(found, source)
  all.store.update(key, complete, 0)
  // Messages that are encoded again have other tokens than those on which the notes were written.
  if (found.notes && !complete.notes) all.store.label(key, { notes: null })
  return complete
}
