/** Reads the inputs of commands (texts, chat templates, tokenizers), and writes their files. */
import { glob, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as z from 'zod'
import { type LoadedTokenizer, TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import { createTokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import { decodeUtf8 } from '#lib/util/text/utf8.ts'
import type { CommandEnvironment } from './command.ts'
import { CommandError, EXIT } from './exit.ts'

interface NamedTokenizer {
  /** Name on the Hub, or the absolute path of a folder. */
  readonly name: string
  readonly loaded: LoadedTokenizer
}

/** Loads a tokenizer from a folder or from the Hub; a folder named on the command line may always be read. Throws CommandError. */
export async function tokenizerNamed(
  given: string,
  { folder, places }: Pick<CommandEnvironment, 'folder' | 'places'>,
): Promise<NamedTokenizer> {
  const place = await stat(path.resolve(folder, given)).catch(() => undefined)
  // A name on the Hub never begins this way. Folder permissions do not matter here.
  if (place === undefined && /^([/~]|\.\.?\/)/.test(given))
    throw new CommandError(EXIT.unchecked, `there is no folder ${given}`)
  const name = place?.isDirectory() ? path.resolve(folder, given) : given
  const loader = createTokenizerLoader({ ...places, folders: place ? [...places.folders, name] : places.folders })
  const loaded = await loader.load(name).catch((error: unknown) => {
    if (!(error instanceof TokenizerError)) throw error
    throw new CommandError(EXIT.unchecked, [error.message, error.hint].filter(Boolean).join('\n'), { cause: error })
  })
  return { name, loaded }
}

const holder = z.looseObject({
  chat_template: z.union([z.string(), z.array(z.looseObject({ name: z.string(), template: z.string() }))]),
})

/** Reads the chat template in a file: its text, or the one in its JSON. Throws CommandError if it has none. */
export async function readTemplate(folder: string, file: string): Promise<string> {
  const template = templateIn(await readTextFile(folder, file))
  if (template === undefined)
    throw new CommandError(
      EXIT.unchecked,
      `${file} has no chat template: it is neither Jinja nor JSON with a chat_template`,
    )
  return template
}

function templateIn(text: string): string | undefined {
  const jinja = /\{[{%]/.test(text) ? text : undefined
  if (!text.trimStart().startsWith('{"') && !/^\s*\{\s*\n\s*"/.test(text)) return jinja
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return jinja
  }
  const parsed = holder.safeParse(value)
  if (!parsed.success) return undefined
  const { chat_template: template } = parsed.data
  return typeof template === 'string'
    ? template
    : (template.find(({ name }) => name === 'default') ?? template[0])?.template
}

/** Reads a file of UTF-8, with its byte order mark. Throws CommandError if that is not possible. */
export async function readTextFile(folder: string, file: string): Promise<string> {
  const bytes = await readFile(path.resolve(folder, file)).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : error
    throw new CommandError(EXIT.unchecked, `${file} cannot be read: ${why}`, { cause: error })
  })
  const decoded = decodeUtf8(bytes)
  if (decoded.ok) return bytes.toString('utf8')
  const found = `bytes that are not UTF-8 (byte ${decoded.at + 1})`
  throw new CommandError(EXIT.unchecked, `${file} has ${found}: save it as UTF-8`)
}

/** Writes or appends to a file that the command line names. Throws CommandError. */
export async function writeText(folder: string, file: string, text: string, flag: 'w' | 'a' = 'w'): Promise<void> {
  await writeFile(path.resolve(folder, file), text, { flag }).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : error
    throw new CommandError(EXIT.unchecked, `${file} cannot be written: ${why}`, { cause: error })
  })
}

/** Files of a folder are chosen by their names, unlike a file that is named. */
const IS_ROLLOUTS = /\.((json|jsonl|ndjson)(\.gz|\.zst)?|parquet|arrow|eval|sse|sqlite)$/

/** Returns the file itself, all files of rollouts in a folder, or the files that match a pattern, sorted by name. */
export async function filesNamed(folder: string, pattern: string): Promise<readonly string[]> {
  const found = await stat(path.resolve(folder, pattern)).catch(() => undefined)
  if (found?.isDirectory()) {
    const names = await readdir(path.resolve(folder, pattern), { recursive: true })
    return names
      .filter((name) => IS_ROLLOUTS.test(name))
      .sort()
      .map((name) => path.join(pattern, name))
  }
  return found ? [pattern] : (await Array.fromAsync(glob(pattern, { cwd: folder }))).sort()
}

/** Returns the PyTorch files in a folder, which no command opens, sorted by name. Empty for a file or a pattern. */
export async function pyTorchFilesIn(folder: string, name: string): Promise<readonly string[]> {
  const found = await stat(path.resolve(folder, name)).catch(() => undefined)
  if (!found?.isDirectory()) return []
  const names = await readdir(path.resolve(folder, name), { recursive: true })
  return names
    .filter((one) => /\.(pt|pth)$/.test(one))
    .sort()
    .map((one) => path.join(name, one))
}
