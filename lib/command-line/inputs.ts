/** Reads the inputs of commands (texts, chat templates, tokenizers), and writes their files. */
import { glob, readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as z from 'zod'
import { type LoadedTokenizer, TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import { createTokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import { decodeUtf8 } from '#lib/util/text/utf8.ts'
import type { CommandEnvironment } from './environment.ts'
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
const IS_ROLLOUTS = /\.((json|jsonl|ndjson|tar)(\.gz|\.zst)?|parquet|arrow|eval|sse|sqlite|traj|tgz|zip)$/
const IS_PYTORCH = /\.(pt|pth)$/

/** Returns the file itself, all files of rollouts in a folder, or the files that match a pattern, sorted by name. */
export async function filesNamed(folder: string, pattern: string): Promise<readonly string[]> {
  const found = await stat(path.resolve(folder, pattern)).catch(() => undefined)
  if (found?.isDirectory()) {
    const { files, unlisted } = await filesIn(folder, pattern, IS_ROLLOUTS)
    // Opening an unlisted folder says why it cannot be read.
    return [...files, ...unlisted].sort()
  }
  return found ? [pattern] : (await Array.fromAsync(glob(pattern, { cwd: folder }))).sort()
}

/** Returns the PyTorch files in a folder, which no command opens, sorted by name. Empty for a file or a pattern. */
export async function pyTorchFilesIn(folder: string, name: string): Promise<readonly string[]> {
  const found = await stat(path.resolve(folder, name)).catch(() => undefined)
  return found?.isDirectory() ? (await filesIn(folder, name, IS_PYTORCH)).files : []
}

/**
 * Returns the files in a folder, and in the folders in it, whose names match. Each is there once: wandb links the latest run, and a link
 * may lead to a folder around it. Also returns the folders that cannot be listed.
 */
async function filesIn(folder: string, name: string, isWanted: RegExp) {
  const known = new Set<string>()
  const files: string[] = []
  const unlisted: string[] = []
  const waiting = [name]
  // A link comes after everything that is not behind one, so that each file has its own name.
  const links: string[] = []
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop() ?? links.shift()) {
    const real = await realpath(path.resolve(folder, at)).catch(() => undefined)
    if (real === undefined || known.has(real)) continue
    known.add(real)
    const found = await stat(real)
    if (found.isFile() && isWanted.test(at)) files.push(at)
    if (!found.isDirectory()) continue
    const entries = await readdir(real, { withFileTypes: true }).catch(() => undefined)
    if (!entries) unlisted.push(at)
    for (const entry of entries ?? []) (entry.isSymbolicLink() ? links : waiting).push(path.join(at, entry.name))
  }
  return { files: files.sort(), unlisted }
}
